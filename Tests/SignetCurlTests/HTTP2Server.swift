import TestSupport

/// Starts an HTTP/2 server over TLS whose frames are written by a few lines of Python, the body of
/// `run(c)`, so that a test decides what the server reads, sends and omits.
///
/// The script can use `begin(c, window)`, which does the handshake of HTTP/2 (`window` is the
/// initial window of each stream), `frames(c)`, `frame(kind, flags, stream, payload)` and
/// `response(stream, body, ends, length)`.
func http2Server(_ script: String) async throws -> ScriptedServer {
    try await ScriptedServer(
        script, tls: TestAuthority.trusted.get().leaf,
        setup: """
            import select
            context.set_alpn_protocols(['h2'])
            def frame(kind, flags, stream, payload=b''):
                top = struct.pack('>I', len(payload))[1:] + bytes([kind, flags])
                return top + struct.pack('>I', stream) + payload
            def exactly(c, count):
                data = b''
                while len(data) < count:
                    more = c.recv(count - len(data))
                    if not more: raise EOFError
                    data += more
                return data
            def frames(c):
                while True:
                    top = exactly(c, 9)
                    payload = exactly(c, int.from_bytes(top[:3], 'big'))
                    yield top[3], top[4], int.from_bytes(top[5:], 'big') & 0x7fffffff, payload
            def begin(c, window=65535):
                exactly(c, 24)
                c.sendall(frame(4, 0, 0, struct.pack('>HI', 4, window)))
            def head_of(stream, length=None, ends=False):
                field = b''
                if length is not None:
                    text = str(length).encode()
                    field = b'\\x0f\\x0d' + bytes([len(text)]) + text
                return frame(1, 5 if ends else 4, stream, b'\\x88' + field)
            def response(stream, body, ends=True, length=None):
                return head_of(stream, length) + frame(0, 1 if ends else 0, stream, body)
            """)
}
