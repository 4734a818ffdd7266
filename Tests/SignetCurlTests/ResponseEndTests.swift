import Foundation
import SignetCurl
import SignetTransport
import TestSupport
import Testing

/// Responses over HTTP/2 without a length, whose last bytes come while libcurl's buffer for them is
/// nearly full, and after which the server sends nothing more.
@Suite struct ResponseEndTests {
    private static func call(_ server: ScriptedServer, _ path: String = "/") -> EngineRequest {
        var request = EngineRequest(get(server.port, path))
        request.timeout = .seconds(20)
        return request
    }

    /// One byte of HPACK's static table, `accept-encoding: gzip, deflate`, becomes 32 bytes for
    /// libcurl.
    @Test(arguments: [100, 250])
    func endsAResponseWhoseHeaderGrows(_ fields: Int) async throws {
        let size = 16_000 - fields
        let server = try await ScriptedServer.http2(
            #"frame(1, 4, stream, b'\x88' + b'\x90' * \#(fields)) + "#
                + "frame(0, 1, stream, b'x' * \(size))")
        let engine = try engine()
        for _ in 0..<3 {
            let (_, body) = try await engine.fetch(Self.call(server))
            #expect(body.count == size)
        }
        await engine.shutdown()
    }

    /// Five calls whose responses have all arrived before libcurl reads the first byte, so that the
    /// first call reads the bytes of the others. In one of the rounds its own come last. The last
    /// byte of each body ends a TLS record.
    @Test(arguments: [20_000, 70_000, 130_000])
    func endsResponsesThatAnotherCallReads(_ size: Int) async throws {
        let directory = try TemporaryDirectory()
        let go = directory.path("go")
        let server = try await ScriptedServer(
            "five-at-once", go, "\(size)", tls: TestAuthority.trusted.get().leaf)
        let engine = try engine()
        let executor = try #require(engine.executor)
        for number in 1...5 {
            let calls = (0..<5).map { _ in
                Task { try await engine.fetch(Self.call(server)).body.count }
            }
            #expect(try await eventually { server.server.stdout.contains("CALLS \(number)") })
            // Occupies the thread that reads.
            await Task(executorPreference: executor) {
                _ = FileManager.default.createFile(atPath: "\(go)\(number)", contents: nil)
                for _ in 0..<10_000 where !server.server.stdout.contains("SENT \(number)") {
                    usleep(1000)
                }
            }.value
            for call in calls { #expect(try await call.value == size) }
        }
        await engine.shutdown()
    }

    /// After each wave of calls for bodies of several sizes, the server has nothing to send. Some
    /// bodies are left unread, some wait for their reader.
    @Test(arguments: ["", "http", "https"])
    func endsEachWaveOfCalls(_ proxyKind: String) async throws {
        let authority = try TestAuthority.trusted.get()
        let server = try await ScriptedServer("mixed-bodies", tls: authority.leaf)
        let proxy =
            proxyKind.isEmpty
            ? nil : try await ProxyServer(tls: proxyKind == "https" ? authority.leaf : nil)
        var request = Self.call(server)
        if let proxy {
            request.proxy = try Proxy(parsing: "\(proxyKind)://localhost:\(proxy.port)")
            request.proxy?.caFile = proxyKind == "https" ? authority.caFile : nil
        }
        let engine = try engine()
        for wave in 0..<60 {
            try await withThrowingTaskGroup(of: Void.self) { [request] group in
                for number in 0..<(1 + wave % 13) {
                    group.addTask {
                        let response = try await engine.send(request)
                        if (wave + number) % 9 == 0 { return }
                        for _ in 0..<100 where (wave + number) % 7 == 0 { await Task.yield() }
                        _ = try await response.body.collect()
                    }
                }
                try await group.waitForAll()
            }
        }
        await engine.shutdown()
    }
}
