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

    /// Sends a beginning and then a block until there were 400 MB of it, both in Python (see
    /// `Servers/flood.py`).
    private func isRefused(
        _ start: String, then block: String, tls: Bool = true, http2: Bool = false,
        codes: Set<TransportError.Code> = [.malformedResponse]
    ) async throws {
        let leaf = tls ? try TestAuthority.trusted.get().leaf : nil
        let server = try await ScriptedServer(
            "flood", "\(Self.whole)", start, block, http2 ? "http2" : "", tls: leaf)
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
        #"b'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n'"#

    @Test(arguments: [false, true])
    func refusesAnEndlessChunkExtension(tls: Bool) async throws {
        try await isRefused(Self.chunked + " b'1;'", then: "b'x' * 65536", tls: tls)
    }

    @Test(arguments: [false, true])
    func refusesChunksThatAreAlmostAllExtension(tls: Bool) async throws {
        try await isRefused(
            Self.chunked, then: #"(b'1;' + b'x' * 1000 + b'\r\na\r\n') * 64"#, tls: tls)
    }

    private static let status = #"frame(1, 4, stream, b'\x88')"#

    @Test(arguments: [
        ("empty DATA", "frame(0, 0, stream) * 7000"),
        ("padded empty DATA", #"frame(0, 8, stream, b'\xff' + b'\0' * 255) * 200"#),
        ("WINDOW_UPDATE", #"frame(8, 0, stream, b'\0\0\0\1') * 5000"#),
        ("PRIORITY", #"frame(2, 0, stream + 2, b'\0\0\0\0\1') * 5000"#),
        ("an unknown frame", "frame(99, 0, 0, b'x' * 16000) * 4"),
    ])
    func refusesFramesWithoutContent(name: String, block: String) async throws {
        try await isRefused(Self.status, then: block, http2: true)
    }

    /// The responses that no caller reads end the connection, if the received bytes don't end it
    /// before.
    @Test(arguments: [
        ("PING", "frame(6, 0, 0, b'12345678') * 4000"),
        ("SETTINGS", "frame(4, 0, 0) * 7000"),
    ])
    func refusesFloodsOfFramesWithAResponse(name: String, block: String) async throws {
        try await isRefused(
            Self.status, then: block, http2: true, codes: [.malformedResponse, .cutOff])
    }

    @Test func refusesAHeaderOfEndlessContinuations() async throws {
        try await isRefused(
            #"frame(1, 0, stream, b'\x88')"#,
            then: "frame(9, 0, stream, literal(b'a', b'b' * 100)) * 500", http2: true,
            codes: [.malformedResponse, .cutOff, .responseTooLarge])
    }

    /// As a stream of small events has them: six bytes for each that is delivered, in a record of
    /// its own.
    @Test(arguments: [
        ("TLSv1_2", "DEFAULT"), ("TLSv1_2", "ECDHE-ECDSA-AES128-SHA"), ("TLSv1_3", "DEFAULT"),
    ])
    func takesManyChunksOfOneByte(version: String, cipher: String) async throws {
        let server = try await ScriptedServer(
            "chunks", "200000", cipher, tls: TestAuthority.trusted.get().leaf, version: version)
        let engine = try engine()
        let (_, body) = try await engine.fetch(
            EngineRequest(get(server.port), timeout: .seconds(300)))
        #expect(body == (0..<200000).map { UInt8($0 % 251) })
        await engine.shutdown()
    }

    @Test func takesManyFramesOfOneByte() async throws {
        let server = try await ScriptedServer(
            "frames", tls: TestAuthority.trusted.get().leaf)
        let engine = try engine()
        let (_, body) = try await engine.fetch(
            EngineRequest(get(server.port), timeout: .seconds(300)))
        #expect(body.count == 300_000)
        await engine.shutdown()
    }
}
