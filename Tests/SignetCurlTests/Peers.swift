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
    var configuration = EngineSettings()
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

/// A server in Python, over TCP or TLS.
///
/// It prints the bytes that it receives in hexadecimal, so that a test sees whether a byte of a
/// request arrived.
final class ScriptedServer: Sendable {
    let port: Int
    let server: ServerProcess

    /// Starts the server `Servers/NAME.py`.
    init(
        _ name: String, _ arguments: String..., tls: TestAuthority.Certificate? = nil,
        version: String = ""
    ) async throws {
        (server, port) = try await SocketServer.start(name, arguments, tls: tls, version: version)
    }

    /// Starts a server that does with each connection what the steps say.
    init(_ steps: [ServerStep], tls: TestAuthority.Certificate? = nil, version: String = "")
        async throws
    {
        (server, port) = try await SocketServer.start(steps, tls: tls, version: version)
    }

    /// Whether a byte of a request has come.
    var gotBytes: Bool { server.stdout.contains("GOT ") }

    /// The requests that arrived.
    var got: String { text(Array(server.received.joined())) }
}

extension ScriptedServer {
    /// Starts an HTTP/2 server that responds to a request's header, or to a `whole` request, with
    /// the frames of a Python expression, which has the functions of `Servers/http2.py` and the
    /// request's `stream`.
    static func http2(_ expression: String, whole: Bool = false) async throws -> ScriptedServer {
        try await ScriptedServer(
            "http2-expression", expression, whole ? "whole" : "",
            tls: TestAuthority.trusted.get().leaf)
    }
}

/// All 256 bytes, as characters of a `ServerStep`.
let everyByte = String(String.UnicodeScalarView((0...255).map { Unicode.Scalar(UInt8($0)) }))
