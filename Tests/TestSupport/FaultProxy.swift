import Foundation

/// A fault on the way between a client and a server.
package struct NetworkFault: Sendable, Hashable, Encodable {
    private let kind: String
    private let amount: Int

    private init(_ kind: String, amount: Int = 0) {
        self.kind = kind
        self.amount = amount
    }

    /// None.
    package static let none = NetworkFault("none")

    // MARK: Of the connection

    /// Waits before it connects to the server, and before each piece that the server sends.
    package static func latency(milliseconds: Int) -> NetworkFault {
        NetworkFault("latency", amount: milliseconds)
    }
    /// Hands on no more than so many bytes of the server in a second.
    package static func bandwidth(bytesPerSecond: Int) -> NetworkFault {
        NetworkFault("bandwidth", amount: bytesPerSecond)
    }
    /// Ends the connection after so many bytes of the server; with 0, when the first ones come.
    package static func cut(afterBytes count: Int) -> NetworkFault {
        NetworkFault("cut", amount: count)
    }
    /// Ends the connection after so many bytes of the client.
    package static func cutRequest(afterBytes count: Int) -> NetworkFault {
        NetworkFault("cut-request", amount: count)
    }
    /// Resets the connection after so many bytes of the server (`SO_LINGER` 0).
    package static func reset(afterBytes count: Int) -> NetworkFault {
        NetworkFault("reset", amount: count)
    }
    /// Says nothing more after so many bytes of the server, such as in the middle of a handshake.
    package static func stall(afterBytes count: Int) -> NetworkFault {
        NetworkFault("stall", amount: count)
    }
    /// Waits before it ends the connection that the server has ended.
    package static func slowClose(milliseconds: Int) -> NetworkFault {
        NetworkFault("slow-close", amount: milliseconds)
    }

    // MARK: Of a response, which the server makes

    /// Responds with a status, without a body.
    package static func status(_ status: Int) -> NetworkFault {
        NetworkFault("status", amount: status)
    }
    /// Names a length that is so many bytes more than the body, or fewer, and ends the connection.
    package static func wrongLength(by count: Int) -> NetworkFault {
        NetworkFault("length", amount: count)
    }
    /// Ends in the middle of the body.
    package static let death = NetworkFault("death")
    /// Ends after the request, without a byte.
    package static let silence = NetworkFault("silence")
    /// Sends half a status line.
    package static let halfStatusLine = NetworkFault("half-line")
    /// Sends what isn't HTTP.
    package static let garbage = NetworkFault("garbage")
    /// Ends the HTTP/2 session before it has seen the request (GOAWAY with the last stream 0).
    package static let goAwayUnseen = NetworkFault("goaway-unseen")
    /// Ends the HTTP/2 session in the middle of the response (GOAWAY, and the connection's end).
    package static let goAway = NetworkFault("goaway")
}

/// Which fault is the n-th one's.
package enum FaultPlan: Sendable {
    /// These, one after another, and then none.
    case list([NetworkFault])
    /// One of these by a seed and the number, so that a run can be repeated.
    case seed(UInt64, [NetworkFault])

    /// The seed, or nothing, and the faults as JSON, for a script.
    fileprivate var arguments: [String] {
        get throws {
            let (seed, faults) =
                switch self {
                case .list(let faults): ("", faults)
                case .seed(let seed, let faults): ("\(seed)", faults)
                }
            return [seed, String(decoding: try JSONEncoder().encode(faults), as: UTF8.self)]
        }
    }

    /// Python that defines `next_fault()`: kind and amount of the next one.
    fileprivate static func script(argument: Int) -> String {
        """
        import json, random
        seed, faults = arguments[\(argument)], json.loads(arguments[\(argument + 1)])
        count, lock = 0, threading.Lock()
        def say(line):
            sys.stdout.write(line + '\\n')
            sys.stdout.flush()
        def next_fault():
            global count
            with lock:
                count += 1
                n = count
            if seed: fault = random.Random(int(seed) * 1000003 + n).choice(faults)
            else: fault = faults[n - 1] if n <= len(faults) else {'kind': 'none', 'amount': 0}
            say('FAULT ' + fault['kind'])
            return fault['kind'], fault['amount']

        """
    }
}

/// A TCP proxy on loopback that does to each connection what its plan says, in Python.
package final class FaultProxy: Sendable {
    package let port: Int
    private let server: ServerProcess

    /// Starts a proxy before a server on loopback.
    package init(before origin: Int, _ plan: FaultPlan) async throws {
        (server, port) = try await SocketServer.start(
            FaultPlan.script(argument: 1) + """
                import struct
                origin = int(arguments[0])
                def quiet(work):
                    try: work()
                    except OSError: pass
                def upload(c, s, left):
                    try:
                        while left != 0:
                            data = c.recv(65536)
                            if not data: break
                            if left is not None:
                                data = data[:left]
                                left -= len(data)
                            s.sendall(data)
                    except OSError: pass
                    quiet(lambda: s.shutdown(socket.SHUT_RDWR))
                def download(c, s, kind, amount):
                    left = amount if kind in ('cut', 'reset', 'stall') else None
                    while True:
                        data = s.recv(16384)
                        if not data: break
                        if left is not None:
                            data = data[:left]
                            left -= len(data)
                        if kind == 'latency': time.sleep(amount / 1000)
                        if kind != 'bandwidth': c.sendall(data)
                        else:
                            step = max(amount // 100, 1)
                            for start in range(0, len(data), step):
                                c.sendall(data[start:start + step])
                                time.sleep(step / amount)
                        if left == 0: break
                    if kind == 'slow-close': time.sleep(amount / 1000)
                def run(c):
                    kind, amount = next_fault()
                    if kind == 'latency': time.sleep(amount / 1000)
                    s = socket.create_connection(('127.0.0.1', origin))
                    left = amount if kind == 'cut-request' else None
                    t = threading.Thread(target=upload, args=(c, s, left), daemon=True)
                    t.start()
                    quiet(lambda: download(c, s, kind, amount))
                    # The client alone ends it.
                    if kind == 'stall': t.join()
                    if kind == 'reset':
                        c.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack('ii', 1, 0))
                        quiet(lambda: c.shutdown(socket.SHUT_RD))
                    else: quiet(lambda: c.shutdown(socket.SHUT_RDWR))
                    quiet(lambda: s.shutdown(socket.SHUT_RDWR))
                    t.join()
                    s.close()
                """, ["\(origin)"] + plan.arguments)
    }

    /// The faults of the connections so far, by name.
    package var faults: [String] { faultNames(in: server.stdout) }
}

/// An HTTP server on loopback whose responses are faulty as its plan says, in Python.
///
/// It keeps connections open, and knows each POST by the member `id` of its body. A response is
/// `{"id":…}`, the number of the request.
package final class FaultServer: Sendable {
    package let port: Int
    private let server: ServerProcess

    /// Starts a server.
    ///
    /// - Parameters:
    ///   - plan: The faults of requests.
    ///   - tls: Its TLS certificates; nil is TCP.
    ///   - http2: Whether it speaks HTTP/2, for which it needs TLS.
    ///   - secret: A text that each response contains, in a field and in the body.
    package init(
        _ plan: FaultPlan = .list([]), tls: TestAuthority.Certificate? = nil, http2: Bool = false,
        secret: String = ""
    ) async throws {
        (server, port) = try await SocketServer.start(
            FaultPlan.script(argument: 1) + Self.common + (http2 ? Self.http2 : Self.http1),
            [secret] + plan.arguments, tls: tls)
    }

    private static let common = """
        import struct
        secret = arguments[0]
        def note(method, body):
            say(method + ' ' + (str(json.loads(body)['id']) if body else '-'))
        def content(): return json.dumps({'id': count, 'secret': secret}).encode()

        """

    private static let http1 = """
        def whole(c, data):
            while b'\\r\\n\\r\\n' not in data:
                more = c.recv(65536)
                if not more: return None
                data += more
            first, _, rest = data.partition(b'\\r\\n\\r\\n')
            length = re.search(br'\\r\\ncontent-length: *([0-9]+)', first, re.I)
            length = int(length.group(1)) if length else 0
            while len(rest) < length:
                more = c.recv(65536)
                if not more: return None
                rest += more
            return first, rest[:length], rest[length:]
        def run(c):
            rest = b''
            while True:
                request = whole(c, rest)
                if not request: return
                first, body, rest = request
                note(first.split(b' ')[0].decode(), body)
                kind, amount = next_fault()
                text = content()
                if kind == 'silence': return
                if kind == 'half-line': c.sendall(b'HTTP/1.1 20'); return
                if kind == 'garbage': c.sendall(b'\\0\\1 this is not HTTP\\r\\n\\r\\n'); return
                if kind == 'status': text = b''
                status = amount if kind == 'status' else 200
                length = len(text) + (amount if kind == 'length' else 0)
                head = ('HTTP/1.1 %d X\\r\\nContent-Type: application/json\\r\\nContent-Length: %d\\r\\n'
                    'Set-Cookie: s=%s\\r\\n\\r\\n') % (status, length, secret)
                if kind == 'death': c.sendall(head.encode() + text[:len(text) // 2]); return
                c.sendall(head.encode() + text)
                if kind == 'length': return
        """

    private static let http2 = """
        context.set_alpn_protocols(['h2'])
        def frame(kind, flags, stream, payload=b''):
            top = struct.pack('>I', len(payload))[1:] + bytes([kind, flags])
            return top + struct.pack('>I', stream) + payload
        def exactly(c, size):
            data = b''
            while len(data) < size:
                more = c.recv(size - len(data))
                if not more: raise EOFError
                data += more
            return data
        def going_away(last): return frame(7, 0, 0, struct.pack('>II', last, 0))
        def field(name, value): return name + bytes([len(value)]) + value
        def respond(c, stream, method, body):
            kind, amount = next_fault()
            if kind == 'goaway-unseen':
                c.sendall(going_away(0))
                raise EOFError
            note(method, body)
            text = b'' if kind == 'status' else content()
            status = amount if kind == 'status' else 200
            length = len(text) + (amount if kind == 'length' else 0)
            # :status, content-length and set-cookie of the static table
            head = frame(1, 4, stream, field(b'\\x08', b'%d' % status)
                + field(b'\\x0f\\x0d', b'%d' % length) + field(b'\\x0f\\x28', b's=' + secret.encode()))
            half = head + frame(0, 0, stream, text[:len(text) // 2])
            last = {'silence': b'', 'half-line': head[:5], 'garbage': b'\\0\\1 this is not HTTP\\r\\n\\r\\n',
                'death': half, 'goaway': half + going_away(stream)}
            if kind in last:
                c.sendall(last[kind])
                raise EOFError
            c.sendall(head + frame(0, 1, stream, text))
        def run(c):
            exactly(c, 24)
            c.sendall(frame(4, 0, 0))
            bodies = {}
            try:
                while True:
                    top = exactly(c, 9)
                    payload = exactly(c, int.from_bytes(top[:3], 'big'))
                    kind, flags, stream = top[3], top[4], int.from_bytes(top[5:], 'big') & 0x7fffffff
                    if kind == 4 and not flags & 1: c.sendall(frame(4, 1, 0))
                    if kind == 6 and not flags & 1: c.sendall(frame(6, 1, 0, payload))
                    # A body is what makes a POST here.
                    if kind == 1:
                        bodies[stream] = b''
                        if flags & 1: respond(c, stream, 'GET', b'')
                    if kind == 0:
                        if payload: c.sendall(frame(8, 0, 0, struct.pack('>I', len(payload))))
                        bodies[stream] += payload
                        if flags & 1: respond(c, stream, 'POST', bodies[stream])
            except EOFError: pass
        """

    /// The requests that arrived completely, as `GET -` or `POST 7`.
    package var requests: [String] {
        server.stdout.split(separator: "\n").map(String.init).filter {
            $0.hasPrefix("GET ") || $0.hasPrefix("POST ") || $0.hasPrefix("PUT ")
        }
    }

    /// The ids of the POST requests that arrived completely, in their order.
    package var posts: [Int] {
        requests.filter { $0.hasPrefix("POST ") }.compactMap { Int($0.dropFirst(5)) }
    }

    /// The faults of the requests so far, by name.
    package var faults: [String] { faultNames(in: server.stdout) }
}

private func faultNames(in output: String) -> [String] {
    output.split(separator: "\n").filter { $0.hasPrefix("FAULT ") }.map { String($0.dropFirst(6)) }
}
