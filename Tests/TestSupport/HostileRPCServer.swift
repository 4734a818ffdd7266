package import Foundation

/// A JSON-RPC server on loopback that breaks every rule it is told to: Python's sockets.
///
/// It reads a vector file; a request to `/N` is answered by case N: `status`, `type` and `body`, in which
/// `{id}` is the call's id and `{id0}`, `{id1}` … those of a batch. `mode` is `short` (ended before the
/// length it names), `drip` (one byte at a time, never all), `flood` (without end), `hang` (no answer),
/// `close` (no byte), `garbage` (no HTTP), `large` (two million times the body) or
/// nil.
package final class HostileRPCServer: Sendable {
    package let port: Int
    private let server: ServerProcess

    /// Starts the server.
    package init(vectors: URL) async throws {
        port = freePort()
        let script = """
            import json, re, socket, sys, threading, time
            cases = json.load(open(sys.argv[2]))['cases']
            def run(c):
                try:
                    data = b''
                    while b'\\r\\n\\r\\n' not in data:
                        more = c.recv(65536)
                        if not more: return
                        data += more
                    head, rest = data.split(b'\\r\\n\\r\\n', 1)
                    length = int(re.search(br'\\r\\ncontent-length: *([0-9]+)', head, re.I).group(1))
                    while len(rest) < length: rest += c.recv(65536)
                    case = cases[int(head.split(b' ')[1][1:])]
                    request = json.loads(rest)
                    body = case['body']
                    if isinstance(request, list):
                        ids = [call['id'] for call in request if 'id' in call]
                        for n, i in enumerate(ids): body = body.replace('{id%d}' % n, json.dumps(i))
                    else: body = body.replace('{id}', json.dumps(request.get('id')))
                    mode = case.get('mode')
                    body = body.encode() * (2000000 if mode == 'large' else 1)
                    answer = 'HTTP/1.1 %d X\\r\\nContent-Type: %s\\r\\nConnection: close\\r\\n' % (
                        case['status'], case['type'])
                    size = 'Content-Length: %d\\r\\n\\r\\n'
                    if mode == 'hang': time.sleep(3600)
                    elif mode == 'close': pass
                    elif mode == 'garbage': c.sendall(body)
                    elif mode == 'short': c.sendall((answer + size % (len(body) + 10)).encode() + body)
                    elif mode == 'drip':
                        c.sendall((answer + size % 1000000).encode() + body)
                        while True:
                            c.sendall(b' ')
                            time.sleep(0.05)
                    elif mode == 'flood':
                        c.sendall((answer + '\\r\\n').encode() + body)
                        while True: c.sendall(b' ' * 65536)
                    elif case['status'] == 204: c.sendall((answer + '\\r\\n').encode())
                    else: c.sendall((answer + size % len(body)).encode() + body)
                except OSError: pass
                finally: c.close()
            s = socket.socket()
            s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            s.bind(('127.0.0.1', int(sys.argv[1])))
            s.listen(64)
            while True:
                threading.Thread(target=run, args=(s.accept()[0],), daemon=True).start()
            """
        server = try await .start(
            "python3", ["-I", "-c", script, "\(port)", vectors.path],
            ready: .listening(port: port))
    }

    /// Where case `number` is answered.
    package func url(case number: Int) -> String { "http://127.0.0.1:\(port)/\(number)" }
}
