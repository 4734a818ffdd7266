/// A proxy on loopback, in Python: HTTP (CONNECT and absolute URLs), the same in TLS, SOCKS 4a and
/// 5.
///
/// It prints what it was asked (`ASKED CONNECT localhost:443`), the credentials it was given
/// (`LOGIN …`) and, as hexadecimal, all that clients said to itself (`GOT …`); whatever the host,
/// it connects to 127.0.0.1. A client that uses it as a host, and requests a path, gets `ok`.
package final class ProxyServer: Sendable {
    package let port: Int
    private let server: ServerProcess

    /// Starts a proxy.
    ///
    /// - Parameters:
    ///   - login: The required `USER:PASSWORD`; nil accepts every client.
    ///   - gathers: Whether the origin's bytes are collected until it pauses, and then sent as one
    ///     TLS record.
    ///   - response: Lines of Python that respond to CONNECT on `c`, instead of a connection to the
    ///     host.
    package init(
        login: String? = nil, tls: TestAuthority.Certificate? = nil, gathers: Bool = false,
        response: String? = nil
    ) async throws {
        let behaviour = (response ?? "pass").split(separator: "\n").map { "    \($0)" }
        let script = """
            import base64, select, struct
            login = arguments[0]
            def say(*words): print(*words, flush=True)
            def respond(c):
            \(behaviour.joined(separator: "\n"))
            def exactly(c, count):
                data = b''
                while len(data) < count:
                    more = c.recv(count - len(data))
                    if not more: raise EOFError()
                    data += more
                return data
            def pump(a, b, gathers=False):
                try:
                    while True:
                        data = a.recv(16384)
                        while gathers and data and len(data) < 16384 and select.select([a], [], [], 0.2)[0]:
                            more = a.recv(16384 - len(data))
                            if not more: break
                            data += more
                        if not data: break
                        b.sendall(data)
                except Exception: pass
                finally:
                    for s in (a, b):
                        try: s.shutdown(socket.SHUT_RDWR)
                        except Exception: pass
            def join(c, port, first=b''):
                s = socket.create_connection(('127.0.0.1', port))
                if first: s.sendall(first)
                t = threading.Thread(target=pump, args=(s, c, \(gathers ? "True" : "False")), daemon=True)
                t.start()
                pump(c, s)
                t.join()
                s.close()
            def socks5(c):
                methods = exactly(c, exactly(c, 1)[0])
                wanted = 2 if login else 0
                if wanted not in methods: c.sendall(b'\\x05\\xff'); return
                c.sendall(bytes([5, wanted]))
                if wanted:
                    exactly(c, 1)
                    user = exactly(c, exactly(c, 1)[0]).decode()
                    word = exactly(c, exactly(c, 1)[0]).decode()
                    say('LOGIN', user + ':' + word)
                    if user + ':' + word != login: c.sendall(b'\\x01\\x01'); return
                    c.sendall(b'\\x01\\x00')
                _, _, _, kind = exactly(c, 4)
                if kind == 3: host = exactly(c, exactly(c, 1)[0]).decode()
                else: host = socket.inet_ntop(socket.AF_INET if kind == 1 else socket.AF_INET6,
                    exactly(c, 4 if kind == 1 else 16))
                port = struct.unpack('>H', exactly(c, 2))[0]
                say('ASKED SOCKS5', host + ':' + str(port))
                if response_given: respond(c); return
                c.sendall(b'\\x05\\x00\\x00\\x01\\x7f\\x00\\x00\\x01\\x00\\x00')
                join(c, port)
            def socks4(c):
                _, port = struct.unpack('>BH', exactly(c, 3))
                exactly(c, 4)
                texts = []
                for _ in range(2):
                    text = b''
                    while (byte := exactly(c, 1)) != b'\\0': text += byte
                    texts.append(text.decode())
                say('ASKED SOCKS4', texts[1] + ':' + str(port))
                if response_given: respond(c); return
                c.sendall(b'\\x00\\x5a\\x00\\x00\\x00\\x00\\x00\\x00')
                join(c, port)
            def run(c):
                first = exactly(c, 1)
                if first == b'\\x05': socks5(c); return
                if first == b'\\x04': socks4(c); return
                data = head(c, first)
                say('GOT', data.hex())
                start, rest = data.split(b'\\r\\n\\r\\n', 1)
                line = start.split(b'\\r\\n')[0].decode()
                say('ASKED', line.rsplit(' ', 1)[0])
                given = [l[20:] for l in start.split(b'\\r\\n')[1:]
                    if l.lower().startswith(b'proxy-authorization')]
                given = base64.b64decode(given[0].split(b' ')[-1]).decode() if given else ''
                if given: say('LOGIN', given)
                if login and given != login:
                    c.sendall(b'HTTP/1.1 407 Login\\r\\nProxy-Authenticate: Basic realm="p"\\r\\n'
                        b'Content-Length: 0\\r\\n\\r\\n')
                    return
                if response_given: respond(c); return
                method, target = line.split(' ')[:2]
                if target.startswith('/'):
                    c.sendall(b'HTTP/1.1 200 OK\\r\\nContent-Length: 2\\r\\n\\r\\nok')
                    return
                if method == 'CONNECT':
                    c.sendall(b'HTTP/1.1 200 Connected\\r\\nX-Proxy: 1\\r\\n\\r\\n')
                    join(c, int(target.rsplit(':', 1)[1]), rest)
                else:
                    port = int(target.split('/')[2].rsplit(':', 1)[1])
                    join(c, port, data)
            response_given = \(response == nil ? "False" : "True")
            """
        (server, port) = try await SocketServer.start(script, [login ?? ""], tls: tls)
    }

    private func lines(_ word: String) -> [String] {
        server.stdout.split(separator: "\n").filter { $0.hasPrefix("\(word) ") }
            .map { String($0.dropFirst(word.count + 1)) }
    }

    /// The requests to it, in order, as `CONNECT localhost:443` or `SOCKS5 localhost:443`.
    package var asked: [String] { lines("ASKED") }
    /// The credentials it was given.
    package var logins: [String] { lines("LOGIN") }
    /// All that clients said to the proxy itself, as text in lower case.
    package var heard: String {
        lines("GOT").map { String(decoding: bytes(ofHex: $0), as: UTF8.self) }.joined().lowercased()
    }
}
