/// Servers on loopback of a few lines of Python, over TCP or TLS: nothing between the wire and the
/// test puts in order what either says.
package enum SocketServer {
    private static let prelude = """
        import fcntl, re, socket, ssl, struct, sys, termios, threading, time
        port, arguments, context = int(sys.argv[1]), sys.argv[4:], None
        if sys.argv[2]:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(sys.argv[2], sys.argv[3])
        def head(c, data=b''):
            while b'\\r\\n\\r\\n' not in data:
                more = c.recv(65536)
                if not more: break
                data += more
            return data
        def request(c, data=b''):
            first, end, rest = head(c, data).partition(b'\\r\\n\\r\\n')
            length = re.search(br'\\r\\ncontent-length: *([0-9]+)', first, re.I)
            length = int(length.group(1)) if length else 0
            while len(rest) < length: rest += c.recv(65536)
            return first + end, rest[:length], rest[length:]
        # Closes without close_notify. Without its TLS, `c` can't read from the descriptor's number,
        # which the next connection may have.
        def close_at_once(c):
            socket.socket(fileno=c.detach()).close()
            if context: c._sslobj = None
        def wait_until_delivered(c):
            while struct.unpack('i', fcntl.ioctl(c, termios.TIOCOUTQ, bytes(4)))[0]: time.sleep(0.001)

        """
    private static let loop = """

        def accepted(c):
            try:
                c.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                if context: c = context.wrap_socket(c, server_side=True)
                run(c)
            except Exception as e: print('ERR ' + repr(e), flush=True)
            finally: c.close()
        listener = socket.socket()
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(('127.0.0.1', port))
        listener.listen(1024)
        while True:
            threading.Thread(target=accepted, args=(listener.accept()[0],), daemon=True).start()
        """

    /// Starts a server.
    ///
    /// - Parameters:
    ///   - script: Python that defines `run(c)`, which serves the connection `c` in a thread of its
    ///     own; what it throws is printed as `ERR …`. It has `port`, the list `arguments`,
    ///     `head(c)` (what came up to the empty line, and perhaps more; less where the client
    ///     went), `request(c, data)` (head, body and the bytes after them; `data` are the bytes
    ///     received before) and `wait_until_delivered(c)`, which returns when the client's kernel
    ///     has acknowledged all bytes. What `c` sends leaves at once (TCP_NODELAY).
    ///   - tls: Its TLS certificates; nil is TCP.
    package static func start(
        _ script: String, _ arguments: [String] = [], tls: TestAuthority.Certificate? = nil
    ) async throws -> (server: ServerProcess, port: Int) {
        let port = freePort()
        let server = try await ServerProcess.start(
            "python3",
            // -S: without the packages of the system, Python starts in half the time.
            [
                "-I", "-S", "-c", prelude + script + loop, "\(port)", tls?.chain ?? "",
                tls?.key ?? "",
            ]
                + arguments,
            ready: .listening(port: port))
        return (server, port)
    }
}
