import HTTPTypes
import SignetCurl
import SignetPinning
import SignetTransport
import TestSupport

/// Returns a request to a port of this machine, by a host name.
func get(_ port: Int, _ path: String = "/", host: String = "localhost", scheme: String = "https")
    -> HTTPRequest
{
    HTTPRequest(method: .get, scheme: scheme, authority: "\(host):\(port)", path: path)
}

/// Returns a policy with one rule, for localhost.
func pinned(_ pins: String..., mode: PinRule.Mode = .enforce) throws -> PinPolicy {
    try PinPolicy(rules: [
        PinRule(host: "localhost", pins: pins.map { try Pin(parsing: $0) }, mode: mode)
    ])
}

/// A pin that belongs to no key.
let wrongPin = "sha256/AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8="

/// Returns an engine that trusts the tests' CA.
func engine(http2: Bool = true) throws -> CurlEngine {
    var configuration = CurlEngine.Configuration()
    configuration.caFile = try TestAuthority.trusted.get().caFile
    configuration.offersHTTP2 = http2
    return try CurlEngine(configuration)
}

extension CurlEngine {
    /// Sends a request and reads all of its response.
    func fetch(_ request: EngineRequest) async throws(TransportError) -> (
        response: EngineResponse, body: [UInt8]
    ) {
        let response = try await send(request)
        return (response, try await response.body.collect())
    }

    /// The error of a call that must fail.
    func failure(_ request: EngineRequest) async -> TransportError? {
        do {
            _ = try await fetch(request)
            return nil
        } catch {
            return error
        }
    }
}

/// A server in Python, over TCP or TLS, whose behaviour is a few lines: the body of `run(c)`.
///
/// It prints the bytes that it receives in hexadecimal, so that a test sees whether a byte of a
/// request arrived.
final class ScriptedServer: Sendable {
    let port: Int
    let server: ServerProcess

    init(_ behaviour: String, tls: TestAuthority.Certificate? = nil, setup: String = "")
        async throws
    {
        let script = """
            def head(c):
                data = b''
                while b'\\r\\n\\r\\n' not in data:
                    more = c.recv(65536)
                    if not more: break
                    data += more
                    print('GOT ' + more.hex(), flush=True)
                return data
            def run(c):
            \(behaviour.split(separator: "\n").map { "    " + $0 }.joined(separator: "\n"))
            \(setup)
            """
        (server, port) = try await SocketServer.start(script, tls: tls)
    }

    /// Whether a byte of a request has come.
    var gotBytes: Bool { server.stdout.contains("GOT ") }

    /// The requests that arrived.
    var got: String {
        server.stdout.split(separator: "\n").filter { $0.hasPrefix("GOT ") }.map {
            String(decoding: bytes(ofHex: $0.dropFirst(4)), as: UTF8.self)
        }.joined()
    }
}

/// The `setup` with which a `ScriptedServer` speaks HTTP/2 frame by frame.
///
/// `h2_request(c)` reads up to the end of a request's header and returns its stream. `h2_frame`
/// makes a frame, and `literal` makes a field of a header block.
let http2Server = """
    context.set_alpn_protocols(['h2'])
    def h2_frame(kind, flags, stream, payload=b''):
        return struct.pack('>I', len(payload))[1:] + bytes([kind, flags]) + struct.pack('>I', stream) + payload
    def literal(name, value):
        return bytes([0, len(name)]) + name + bytes([len(value)]) + value
    def h2_bytes(c, count):
        data = b''
        while len(data) < count:
            more = c.recv(count - len(data))
            if not more: raise EOFError
            data += more
        return data
    def h2_request(c, first=True):
        if first:
            h2_bytes(c, 24)
            c.sendall(h2_frame(4, 0, 0))
        while True:
            length, kind, flags, stream = struct.unpack('>IBBI', b'\\0' + h2_bytes(c, 9))
            h2_bytes(c, length)
            if kind == 4 and not flags & 1: c.sendall(h2_frame(4, 1, 0))
            if kind == 1: return stream
    """
