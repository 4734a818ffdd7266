import HTTPTypes
import SignetCurl
import SignetTransport
import TestSupport
import Testing

/// Servers that endlessly send bytes that contain nothing of a response.
@Suite struct FloodTests {
    private static let whole = 400 << 20
    /// The bytes that sockets may buffer are added to those that the engine accepts.
    private static let bound = 80 << 20

    /// Sends a block until there were 400 MB of it, and says how many bytes went out.
    private static func flood(_ block: String, after start: String) -> String {
        """
        \(start)
        block, sent = \(block), 0
        try:
            while sent < \(whole):
                c.sendall(block)
                sent += len(block)
        finally: print('SENT %d.' % sent, flush=True)
        """
    }

    private func isRefused(
        _ behaviour: String, tls: Bool, http2: Bool = false,
        codes: Set<TransportError.Code> = [.malformedResponse]
    ) async throws {
        let leaf = tls ? try TestAuthority.trusted.get().leaf : nil
        let server = try await ScriptedServer(
            behaviour, tls: leaf, setup: http2 ? http2Server : "")
        let engine = try engine(http2: http2)
        let error = await engine.failure(
            EngineRequest(
                get(server.port, scheme: tls ? "https" : "http"), timeout: .seconds(300)))
        #expect(
            error.map { codes.contains($0.code) } == true,
            "\(error?.code.name ?? "") \(error?.message ?? "no error")")
        await engine.shutdown()
        #expect(try await eventually { server.server.stdout.contains("SENT ") })
        let sent = server.server.stdout.split(separator: "SENT ").last?.split(separator: ".").first
        #expect(try #require(sent.flatMap { Int($0) }) < Self.bound)
    }

    private static let chunked =
        "head(c)\nc.sendall(b'HTTP/1.1 200 OK\\r\\nTransfer-Encoding: chunked\\r\\n\\r\\n')\n"

    @Test(arguments: [false, true])
    func refusesAnEndlessChunkExtension(tls: Bool) async throws {
        try await isRefused(
            Self.flood("b'x' * 65536", after: Self.chunked + "c.sendall(b'1;')"), tls: tls)
    }

    @Test(arguments: [false, true])
    func refusesChunksThatAreAlmostAllExtension(tls: Bool) async throws {
        try await isRefused(
            Self.flood("(b'1;' + b'x' * 1000 + b'\\r\\na\\r\\n') * 64", after: Self.chunked),
            tls: tls)
    }

    /// Sends a response's header over HTTP/2, and then the block.
    private static func framed(_ block: String) -> String {
        flood(
            block, after: "stream = h2_request(c)\nc.sendall(h2_frame(1, 4, stream, b'\\x88'))")
    }

    @Test(arguments: [
        ("empty DATA", "h2_frame(0, 0, stream) * 7000"),
        ("padded empty DATA", "h2_frame(0, 8, stream, b'\\xff' + b'\\0' * 255) * 200"),
        ("WINDOW_UPDATE", "h2_frame(8, 0, stream, b'\\0\\0\\0\\1') * 5000"),
        ("PRIORITY", "h2_frame(2, 0, stream + 2, b'\\0\\0\\0\\0\\1') * 5000"),
        ("an unknown frame", "h2_frame(99, 0, 0, b'x' * 16000) * 4"),
    ])
    func refusesFramesWithoutContent(name: String, block: String) async throws {
        try await isRefused(Self.framed(block), tls: true, http2: true)
    }

    /// The responses that no caller reads end the connection, if the received bytes don't end it
    /// before.
    @Test(arguments: [
        ("PING", "h2_frame(6, 0, 0, b'12345678') * 4000"),
        ("SETTINGS", "h2_frame(4, 0, 0) * 7000"),
    ])
    func refusesFloodsOfFramesWithAResponse(name: String, block: String) async throws {
        try await isRefused(
            Self.framed(block), tls: true, http2: true, codes: [.malformedResponse, .cutOff])
    }

    @Test func refusesAHeaderOfEndlessContinuations() async throws {
        try await isRefused(
            Self.flood(
                "(h2_frame(9, 0, stream, literal(b'a', b'b' * 100)) * 500)",
                after: "stream = h2_request(c)\nc.sendall(h2_frame(1, 0, stream, b'\\x88'))"),
            tls: true, http2: true, codes: [.malformedResponse, .cutOff, .responseTooLarge])
    }

    /// As a stream of small events has them: six bytes for each that is delivered, in a record of
    /// its own.
    @Test(arguments: [
        ("1_2", "DEFAULT"), ("1_2", "ECDHE-ECDSA-AES128-SHA"), ("1_3", "DEFAULT"),
    ])
    func takesManyChunksOfOneByte(version: String, cipher: String) async throws {
        let server = try await ScriptedServer(
            Self.chunked + """
                for i in range(200000): c.sendall(b'1\\r\\n%c\\r\\n' % (i % 251))
                c.sendall(b'0\\r\\n\\r\\n')
                """, tls: try TestAuthority.trusted.get().leaf,
            setup: """
                context.maximum_version = ssl.TLSVersion.TLSv\(version)
                context.set_ciphers('\(cipher)')
                """)
        let engine = try engine()
        let (_, body) = try await engine.fetch(
            EngineRequest(get(server.port), timeout: .seconds(300)))
        #expect(body == (0..<200000).map { UInt8($0 % 251) })
        await engine.shutdown()
    }

    @Test func takesManyFramesOfOneByte() async throws {
        let server = try await ScriptedServer(
            """
            stream = h2_request(c)
            c.sendall(h2_frame(1, 4, stream, b'\\x88'))
            for i in range(300): c.sendall(h2_frame(0, 0, stream, b'x') * 1000)
            c.sendall(h2_frame(0, 1, stream))
            while c.recv(65536): pass
            """, tls: try TestAuthority.trusted.get().leaf, setup: http2Server)
        let engine = try engine()
        let (_, body) = try await engine.fetch(
            EngineRequest(get(server.port), timeout: .seconds(300)))
        #expect(body.count == 300_000)
        await engine.shutdown()
    }
}
