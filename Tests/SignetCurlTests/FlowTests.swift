import HTTPTypes
import SignetTransport
import TestSupport
import Testing

@testable import SignetCurl

/// Bodies that no caller reads, uploads that no server reads, and the other calls on their
/// connections.
@Suite struct FlowTests {
    private static let mebibyte = 1 << 20

    /// The first `waiting` calls get `late` once the bodies of the next `bodies` calls are sent or
    /// given up; all calls after those get `ok`.
    private static func bodies(
        _ bodies: Int = 20, size: Int = 20_000_000, waiting: Int = 0
    ) async throws -> ScriptedServer {
        try await ScriptedServer(
            "unread-bodies", "\(waiting)", "\(bodies)", "\(size)",
            tls: TestAuthority.trusted.get().leaf)
    }

    private static func sent(_ server: ScriptedServer) -> Int {
        server.server.stdout.split(separator: "\n").compactMap { line in
            line.hasPrefix("SENT ") ? Int(line.dropFirst(5)) : nil
        }.max() ?? 0
    }

    private static func connections(_ server: ScriptedServer) -> Int {
        server.server.stdout.split(separator: "\n").count { $0 == "CONNECTION" }
    }

    private static func call(_ server: ScriptedServer) -> EngineRequest {
        var request = EngineRequest(get(server.port))
        request.timeout = .seconds(300)
        request.maximumBodySize = 100 * mebibyte
        return request
    }

    private static func unread(
        _ engine: CurlEngine, _ server: ScriptedServer, bodies: Int = 20, timeout: Int = 300
    ) async throws -> [EngineResponse] {
        try await withThrowingTaskGroup(of: EngineResponse.self) { group in
            for _ in 0..<bodies {
                var request = call(server)
                request.timeout = .seconds(timeout)
                group.addTask { try await engine.send(request) }
            }
            return try await group.reduce(into: []) { $0.append($1) }
        }
    }

    /// Waits until the server can send nothing more: a connection says so twice, with the same
    /// number of bytes, and none says more.
    private static func waitForRest(_ server: ScriptedServer) async throws {
        let before = server.server.stdout.count
        let rests = try await eventually {
            let sent = server.server.stdout.dropFirst(before).split(separator: "\n").compactMap {
                $0.hasPrefix("SENT ") ? Int($0.dropFirst(5)) : nil
            }
            return sent.count { $0 == sent.max() } > 1
        }
        #expect(rests)
    }

    private static func waitForCall(_ server: ScriptedServer) async throws {
        #expect(try await eventually { server.server.stdout.contains("CALL") })
    }

    @Test func movesCallsAwayFromUnreadBodies() async throws {
        let server = try await Self.bodies()
        let engine = try engine()
        var unread = try await Self.unread(engine, server)
        try await Self.waitForRest(server)
        for _ in 0..<50 {
            let (_, body) = try await engine.fetch(Self.call(server))
            #expect(body == Array("ok".utf8))
        }
        try await Self.waitForRest(server)
        #expect(Self.sent(server) < 40 * Self.mebibyte, "\(Self.sent(server))")
        #expect(Self.connections(server) == 2)
        // They can be read, and left.
        unread.removeLast(18)
        for response in unread {
            #expect(try await response.body.collect().count == 20_000_000)
        }
        #expect(Self.connections(server) == 2)
        await engine.shutdown()
    }

    /// The unread bodies have all streams that libcurl gives to one connection.
    @Test func aCallPassesAHundredUnreadBodies() async throws {
        let server = try await Self.bodies(100, size: 400_000)
        var settings = EngineSettings()
        settings.caFile = try TestAuthority.trusted.get().caFile
        settings.maximumConnectionsPerHost = 1
        let engine = try CurlEngine(settings)
        let unread = try await Self.unread(engine, server, bodies: 100)
        try await Self.waitForRest(server)
        for _ in 0..<3 {
            #expect(try await engine.fetch(Self.call(server)).body == Array("ok".utf8))
        }
        for response in unread.prefix(3) {
            #expect(try await response.body.collect().count == 400_000)
        }
        await engine.shutdown()
    }

    @Test func endsUnreadBodiesThatBlockACall() async throws {
        let server = try await Self.bodies(waiting: 1)
        let engine = try engine()
        let request = Self.call(server)
        async let waiting = engine.fetch(request)
        try await Self.waitForCall(server)
        let unread = try await Self.unread(engine, server)
        #expect(try await waiting.body == Array("late".utf8))
        #expect(Self.sent(server) < 250 * Self.mebibyte, "\(Self.sent(server))")
        var ended = 0
        for response in unread {
            do throws(TransportError) {
                #expect(try await response.body.collect().count == 20_000_000)
            } catch {
                #expect(error.code == .resources, "\(error)")
                ended += 1
            }
        }
        #expect((1..<20).contains(ended))
        #expect(Self.connections(server) == 1)
        await engine.shutdown()
    }

    /// AddressSanitizer finds the part of a body that libcurl leaks if it ends the transfer itself.
    @Test func endsAnUnreadBodyAtItsDeadline() async throws {
        // More than a stream's window, so that the server can't send all of it.
        let server = try await Self.bodies(1, size: 60_000_000, waiting: 1)
        let engine = try engine()
        let request = Self.call(server)
        async let waiting = engine.fetch(request)
        try await Self.waitForCall(server)
        let unread = try await Self.unread(engine, server, bodies: 1, timeout: 5)
        // The server sends `late` after the body is given up.
        #expect(try await waiting.body == Array("late".utf8))
        #expect(try await eventually { server.server.stdout.contains("RESET") })
        await #expect {
            _ = try await unread[0].body.collect()
        } throws: {
            ($0 as? TransportError)?.code == .timeout
        }
        #expect(Self.connections(server) == 1)
        await engine.shutdown()
    }

    // MARK: Uploads that wait

    private static let uploads: [@Sendable () -> HTTPRequestBody] = [
        { HTTPRequestBody([UInt8](repeating: 7, count: 300_000)) },
        { .stream(Producer { $0 < 30 ? [UInt8](repeating: 7, count: 10_000) : nil }) },
    ]

    @Test(arguments: uploads.indices)
    func restsWhileAServersWindowIsClosed(_ index: Int) async throws {
        let server = try await ScriptedServer(
            "closed-window", "stays", tls: TestAuthority.trusted.get().leaf)
        let engine = try engine()
        var request = EngineRequest(get(server.port), body: Self.uploads[index]())
        request.request.method = .post
        request.timeout = .seconds(2)
        let error = await engine.failure(request)
        #expect(error?.code == .timeout)
        #expect(try await eventually { server.server.stdout.contains("REQUEST") })
        #expect(engine.libcurlCalls < 300, "\(engine.libcurlCalls)")
        await engine.shutdown()
    }

    @Test(arguments: uploads.indices)
    func goesOnWhenAServerOpensItsWindow(_ index: Int) async throws {
        let server = try await ScriptedServer(
            "closed-window", "opens", tls: TestAuthority.trusted.get().leaf)
        let engine = try engine()
        var request = EngineRequest(get(server.port), body: Self.uploads[index]())
        request.request.method = .post
        request.timeout = .seconds(300)
        let (_, body) = try await engine.fetch(request)
        #expect(body == Array("300000".utf8))
        #expect(engine.libcurlCalls < 1_000, "\(engine.libcurlCalls)")
        await engine.shutdown()
    }
}
