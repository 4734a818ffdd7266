import Foundation

/// A server on loopback that answers each path as it was told, over TCP or TLS, one request on each
/// connection, and keeps every byte that came: Python's sockets.
package final class RouteServer: Sendable {
    package let port: Int
    package let isSecure: Bool
    private let server: ServerProcess

    /// Starts a server; `routes` gives status line's end, fields and body for paths without query, as
    /// `302 Found\r\nLocation: /b\r\n\r\n`. In them `{self}` is the server's port. Any other path is 404.
    package init(_ routes: [String: String], tls: TestAuthority.Certificate? = nil) async throws {
        port = freePort()
        isSecure = tls != nil
        let script = """
            import json, re, socket, ssl, sys, threading
            routes = json.loads(sys.argv[2])
            context = None
            if len(sys.argv) > 3:
                context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
                context.load_cert_chain(sys.argv[3], sys.argv[4])
            def run(c):
                try:
                    print('CONNECTION', flush=True)
                    if context: c = context.wrap_socket(c, server_side=True)
                    data = b''
                    while b'\\r\\n\\r\\n' not in data:
                        more = c.recv(65536)
                        if not more: break
                        data += more
                    head, _, rest = data.partition(b'\\r\\n\\r\\n')
                    length = re.search(br'\\r\\ncontent-length: *([0-9]+)', head, re.I)
                    length = int(length.group(1)) if length else 0
                    while len(rest) < length: rest += c.recv(65536)
                    if data: print('GOT ' + (head + b'\\r\\n\\r\\n' + rest).hex(), flush=True)
                    target = head.split(b' ')[1].decode() if data else ''
                    answer = routes.get(target.split('?')[0], '404 Not Found\\r\\n\\r\\n')
                    answer = answer.replace('{self}', sys.argv[1]).replace('{target}', target)
                    fields, _, body = answer.partition('\\r\\n\\r\\n')
                    c.sendall(('HTTP/1.1 %s\\r\\nContent-Length: %d\\r\\nConnection: close\\r\\n\\r\\n%s'
                        % (fields, len(body.encode()), body)).encode())
                except Exception as e: print('ERR ' + repr(e), flush=True)
                finally: c.close()
            s = socket.socket()
            s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            s.bind(('127.0.0.1', int(sys.argv[1])))
            s.listen(64)
            while True:
                threading.Thread(target=run, args=(s.accept()[0],), daemon=True).start()
            """
        let table = String(decoding: try JSONEncoder().encode(routes), as: UTF8.self)
        server = try await .start(
            "python3",
            ["-I", "-c", script, "\(port)", table] + (tls.map { [$0.chain, $0.key] } ?? []),
            ready: .listening(port: port))
    }

    /// `https://localhost:PORT` or `http://localhost:PORT`, without a path.
    package var url: String { "\(isSecure ? "https" : "http")://localhost:\(port)" }

    /// The requests so far, as text, in their order.
    package var requests: [String] {
        server.stdout.split(separator: "\n").filter { $0.hasPrefix("GOT ") }.map { line in
            String(decoding: bytes(ofHex: line.dropFirst(4)), as: UTF8.self)
        }
    }
}
