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

    /// A server of `Servers/handshake.py`.
    private func server(_ behaviour: String) async throws -> ScriptedServer {
        try await ScriptedServer(
            "handshake", behaviour, authority.leaf.chain, authority.leaf.key)
    }

    @Test(arguments: [
        "stall_before", "stall_in_a_record", "stall_in_the_flight", "drip",
        "stall_after_the_flight",
    ])
    func endsAStallByTheCallsTime(_ name: String) async throws {
        let server = try await server(name)
        let engine = try engine(http2: false)
        // Its own flight alone shows the chain: a wrong pin is refused at once.
        try await expectFailures(
            name, server, engine, within: .seconds(1),
            name == "stall_after_the_flight" ? [.timeout, .pinMismatch] : [.timeout])
        var patient = EngineRequest(get(server.port, "/refused"))
        patient.timeout = .seconds(300)
        patient.connectTimeout = .milliseconds(500)
        if name != "stall_after_the_flight" {
            #expect(await engine.failure(patient)?.code == .timeout)
        }
        try await expectHealthy(engine)
        await engine.shutdown()
        // The others complete the handshake and then send their request.
        let got = server.got
        #expect(!got.contains("/refused"))
        #expect(got.contains("GET /pinned") == (name == "stall_after_the_flight"))
    }

    @Test(arguments: [
        "cut_before", "cut_after_the_hello", "reset_after_the_hello", "cut_in_the_flight",
        "garbage", "cleartext", "changed_byte", "flight_twice", "message_of_16_mib",
        "endless_change_cipher_spec", "endless_warnings", "endless_empty_records", "fatal_alert",
    ])
    func namesABrokenHandshake(_ name: String) async throws {
        let server = try await server(name)
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
        let good = try await ScriptedServer([.head, .ok()], tls: authority.leaf)
        let (_, body) = try await engine.fetch(
            EngineRequest(
                get(good.port), policy: try pinned(authority.leaf.pin), timeout: .seconds(300)))
        #expect(body == Array("ok".utf8))
    }
}
