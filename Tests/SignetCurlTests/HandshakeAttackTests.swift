import SignetCurl
import SignetPinning
import SignetTransport
import TestSupport
import Testing

/// Servers that fail before, during or right after the handshake. They get no byte of a refused
/// request, and the engine performs the next call.
@Suite struct HandshakeAttackTests {
    private let authority: TestAuthority

    init() throws { authority = try TestAuthority.trusted.get() }

    /// A call without pins, one with the right pin and one with a wrong one: each ends with one of
    /// the codes.
    private func expectFailures(
        _ name: String, _ server: ScriptedServer, _ engine: CurlEngine, within time: Duration,
        _ codes: [TransportError.Code]
    ) async throws {
        for (path, policy) in [
            ("/unpinned", nil), ("/pinned", try pinned(authority.leaf.pin)),
            ("/refused", try pinned(wrongPin)),
        ] {
            let error = await engine.failure(
                EngineRequest(get(server.port, path), policy: policy, timeout: time))
            #expect(
                error.map { codes.contains($0.code) } == true,
                "\(name): \(error?.code.name ?? "no error") \(error?.message ?? "")")
        }
    }

    private static let stalls: [(String, String)] = [
        ("before the handshake", "time.sleep(600)"),
        ("within a record's header", "c.recv(65536)\nc.sendall(b'\\x16\\x03')\ntime.sleep(600)"),
        (
            "in the handshake",
            "flight = response(c)\nc.sendall(flight[:len(flight) // 2])\ntime.sleep(600)"
        ),
        (
            "dripping the handshake",
            "for byte in response(c): (c.sendall(bytes([byte])), time.sleep(0.1))"
        ),
        ("behind its own flight", "c.sendall(response(c))\nhear(c)"),
    ]

    @Test(arguments: stalls.indices)
    func endsAStallByTheCallsTime(_ index: Int) async throws {
        let (name, behaviour) = Self.stalls[index]
        let server = try await ScriptedServer(behaviour, setup: Self.setup(authority))
        let engine = try engine(http2: false)
        // Its own flight alone shows the chain: a wrong pin is refused at once.
        try await expectFailures(
            name, server, engine, within: .seconds(1),
            name == "behind its own flight" ? [.timeout, .pinMismatch] : [.timeout])
        var patient = EngineRequest(get(server.port, "/refused"))
        patient.timeout = .seconds(300)
        patient.connectTimeout = .milliseconds(500)
        if name != "behind its own flight" {
            #expect(await engine.failure(patient)?.code == .timeout)
        }
        try await expectHealthy(engine)
        await engine.shutdown()
        // The others complete the handshake and then send their request.
        let got = server.got
        #expect(!got.contains("/refused"))
        #expect(got.contains("GET /pinned") == (name == "behind its own flight"))
    }

    private static let breaks: [(String, String)] = [
        ("a cut before the handshake", "pass"),
        ("a cut behind the ClientHello", "c.recv(65536)"),
        (
            "a reset",
            "c.recv(65536)\nc.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack('ii', 1, 0))"
        ),
        ("a cut in the handshake", "flight = response(c)\nc.sendall(flight[:len(flight) // 2])"),
        ("garbage", "c.recv(65536)\nc.sendall(bytes(range(256)) * 64)"),
        (
            "cleartext HTTP",
            "c.recv(65536)\nc.sendall(b'HTTP/1.1 200 OK\\r\\nContent-Length: 0\\r\\n\\r\\n')"
        ),
        (
            "a changed byte",
            "flight = bytearray(response(c))\nflight[len(flight) // 2] ^= 1\nc.sendall(flight)\nc.recv(65536)"
        ),
        (
            "a flight twice",
            "flight = response(c)\nc.sendall(flight + flight)\nc.recv(65536)\nc.recv(65536)"
        ),
        (
            "a handshake message of 16 MiB",
            "c.recv(65536)\nc.sendall(b'\\x16\\x03\\x03\\x40\\x00\\x02\\xff\\xff\\xff' + b'x' * 16380)\nc.recv(65536)"
        ),
        (
            "change_cipher_spec without end",
            "c.recv(65536)\nwhile True: c.sendall(b'\\x14\\x03\\x03\\x00\\x01\\x01' * 1000)"
        ),
        (
            "warnings without end",
            "c.recv(65536)\nwhile True: c.sendall(b'\\x15\\x03\\x03\\x00\\x02\\x01\\x5a' * 1000)"
        ),
        (
            "empty records without end",
            "c.recv(65536)\nwhile True: c.sendall(b'\\x16\\x03\\x03\\x00\\x00' * 1000)"
        ),
        ("a fatal alert", "c.recv(65536)\nc.sendall(b'\\x15\\x03\\x03\\x00\\x02\\x02\\x28')"),
    ]

    @Test(arguments: breaks.indices)
    func namesABrokenHandshake(_ index: Int) async throws {
        let (name, behaviour) = Self.breaks[index]
        let server = try await ScriptedServer(behaviour, setup: Self.setup(authority))
        let engine = try engine(http2: false)
        try await expectFailures(
            name, server, engine, within: .seconds(60), [.tls, .cutOff, .connect, .pinMismatch])
        try await expectHealthy(engine)
        await engine.shutdown()
        #expect(!server.gotBytes)
    }

    /// TLS 1.2 lets a server ask for a second handshake with another certificate, after the first
    /// was judged. It is not answered, so the call ends.
    @Test func takesNoSecondHandshake() async throws {
        let folder = try TemporaryDirectory()
        let words = folder.path("words")
        let port = freePort()
        let server = try await ServerProcess.start(
            "/bin/sh",
            [
                "-c",
                """
                mkfifo "$1" && exec openssl s_server -accept 127.0.0.1:$2 -cert "$3" -key "$4" \
                    -cert_chain "$5" -tls1_2 <>"$1"
                """, "sh", words, "\(port)", authority.leaf.pem, authority.leaf.key,
                authority.intermediate.pem,
            ], ready: .listening(port: port))
        let engine = try engine(http2: false)
        let policy = try pinned(authority.leaf.pin)
        async let failure = engine.failure(
            EngineRequest(get(port, "/first"), policy: policy, timeout: .seconds(300)))
        #expect(try await eventually { server.stdout.contains("GET /first") })
        // "r" on a line of its own asks for a second handshake.
        let asked = try await ChildProcess.run("/bin/sh", ["-c", "echo r >\"$1\"", "sh", words])
        #expect(asked.exit == 0)
        let error = await failure
        #expect(error?.code == .cutOff || error?.code == .tls, "\(error?.message ?? "a response")")
        #expect(
            try await eventually { (server.stdout + server.stderr).contains("no renegotiation") })
        try await expectHealthy(engine)
        await engine.shutdown()
        try await server.stop()
    }

    /// After servers that fail comes one that responds.
    private func expectHealthy(_ engine: CurlEngine) async throws {
        let good = try await ScriptedServer(
            "head(c)\nc.sendall(b'HTTP/1.1 200 OK\\r\\nContent-Length: 2\\r\\n\\r\\nok')",
            tls: authority.leaf)
        let (_, body) = try await engine.fetch(
            EngineRequest(
                get(good.port), policy: try pinned(authority.leaf.pin), timeout: .seconds(300)))
        #expect(body == Array("ok".utf8))
    }

    /// `response(c)`: the complete response of a TLS server to a ClientHello; `hear(c)`: prints the
    /// bytes that the client sends after its handshake.
    private static func setup(_ authority: TestAuthority) -> String {
        """
        sides = {}
        def hear(c):
                tls, read = sides[c]
                while True:
                    more = c.recv(65536)
                    if not more: break
                    read.write(more)
                    try:
                        tls.do_handshake()
                        while True: print('GOT ' + tls.read(65536).hex(), flush=True)
                    except ssl.SSLWantReadError: pass
        def response(c):
                side = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
                side.load_cert_chain('\(authority.leaf.chain)', '\(authority.leaf.key)')
                read, written = ssl.MemoryBIO(), ssl.MemoryBIO()
                tls = side.wrap_bio(read, written, server_side=True)
                sides[c] = (tls, read)
                read.write(c.recv(65536))
                try: tls.do_handshake()
                except ssl.SSLWantReadError: pass
                return written.read()
        """
    }
}
