import Foundation

/// A server on loopback that keeps every request byte for byte and answers each the same: Python's
/// sockets, so that nothing between the wire and the test puts a request in order.
package final class CaptureServer: Sendable {
    package let port: Int
    private let server: ServerProcess

    private let scheme: String

    /// Starts a server that answers with a status line's end, such as `200 OK`, and a body of JSON.
    ///
    /// With `tls` it speaks TLS and shows that certificate with its chain.
    package init(
        status: String = "200 OK", answer: String = "{}", tls: TestAuthority.Certificate? = nil
    ) async throws {
        port = freePort()
        scheme = tls == nil ? "http" : "https"
        let script = """
            import re, socket, ssl, sys, threading
            context = None
            if len(sys.argv) > 4:
                context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
                context.load_cert_chain(sys.argv[4], sys.argv[5])
            def run(c):
                if context:
                    try: c = context.wrap_socket(c, server_side=True)
                    except OSError: return
                data = b''
                while True:
                    while b'\\r\\n\\r\\n' not in data:
                        more = c.recv(65536)
                        if not more: return
                        data += more
                    head, rest = data.split(b'\\r\\n\\r\\n', 1)
                    length = re.search(br'\\r\\ncontent-length: *([0-9]+)', head, re.I)
                    length = int(length.group(1)) if length else 0
                    while len(rest) < length: rest += c.recv(65536)
                    data = rest[length:]
                    print((head + b'\\r\\n\\r\\n' + rest[:length]).hex(), flush=True)
                    answer = sys.argv[3].encode()
                    c.sendall(('HTTP/1.1 %s\\r\\nContent-Type: application/json\\r\\n'
                        'Content-Length: %d\\r\\n\\r\\n' % (sys.argv[2], len(answer))).encode() + answer)
            s = socket.socket()
            s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            s.bind(('127.0.0.1', int(sys.argv[1])))
            s.listen(64)
            while True:
                threading.Thread(target=run, args=(s.accept()[0],), daemon=True).start()
            """
        server = try await .start(
            "python3",
            ["-I", "-c", script, "\(port)", status, answer]
                + (tls.map { [$0.chain, $0.key] } ?? []),
            ready: .listening(port: port))
    }

    /// `http://127.0.0.1:PORT`, without a path; with TLS `https://…`.
    package var url: String { "\(scheme)://127.0.0.1:\(port)" }

    /// The requests so far, in their order, as soon as there are `count` of them.
    package func requests(count: Int) async throws -> [[UInt8]] {
        var lines: [Substring] = []
        _ = try await eventually {
            lines = server.stdout.split(separator: "\n")
            return lines.count >= count
        }
        return lines.map { bytes(ofHex: $0) }
    }

    package func stop() async throws { try await server.stop() }
}
