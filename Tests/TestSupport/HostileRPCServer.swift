package import Foundation

/// A JSON-RPC server on loopback that breaks the rules that a test chooses: Python's sockets.
///
/// It reads a vector file; a request to `/N` gets case N as its response: `status`, `type` and
/// `body`, in which `{id}` is the call's id and `{id0}`, `{id1}` … those of a batch. `mode` is
/// `short` (ended before the length it names), `drip` (one byte at a time, never all), `flood`
/// (without end), `hang` (no response), `close` (no byte), `garbage` (no HTTP), `large` (two
/// million times the body) or nil.
package final class HostileRPCServer: Sendable {
    package let port: Int
    private let server: ServerProcess

    /// Starts the server.
    package init(vectors: URL) async throws {
        let script = """
            import json
            cases = json.load(open(arguments[0]))['cases']
            def run(c):
                try:
                    first, rest, _ = request(c)
                    if not first: return
                    case = cases[int(first.split(b' ')[1][1:])]
                    call = json.loads(rest)
                    body = case['body']
                    if isinstance(call, list):
                        ids = [one['id'] for one in call if 'id' in one]
                        for n, i in enumerate(ids): body = body.replace('{id%d}' % n, json.dumps(i))
                    else: body = body.replace('{id}', json.dumps(call.get('id')))
                    mode = case.get('mode')
                    body = body.encode() * (2000000 if mode == 'large' else 1)
                    header = 'HTTP/1.1 %d X\\r\\nContent-Type: %s\\r\\nConnection: close\\r\\n' % (
                        case['status'], case['type'])
                    size = 'Content-Length: %d\\r\\n\\r\\n'
                    if mode == 'hang': time.sleep(3600)
                    elif mode == 'close': pass
                    elif mode == 'garbage': c.sendall(body)
                    elif mode == 'short': c.sendall((header + size % (len(body) + 10)).encode() + body)
                    elif mode == 'drip':
                        c.sendall((header + size % 1000000).encode() + body)
                        while True:
                            c.sendall(b' ')
                            time.sleep(0.05)
                    elif mode == 'flood':
                        c.sendall((header + '\\r\\n').encode() + body)
                        while True: c.sendall(b' ' * 65536)
                    elif case['status'] == 204: c.sendall((header + '\\r\\n').encode())
                    else: c.sendall((header + size % len(body)).encode() + body)
                except OSError: pass
            """
        (server, port) = try await SocketServer.start(script, [vectors.path])
    }

    /// The URL of case `number`.
    package func url(case number: Int) -> String { "http://127.0.0.1:\(port)/\(number)" }
}
