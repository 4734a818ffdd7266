import SignetCurl
import SignetTransport
import TestSupport
import Testing

/// The time for which the engine keeps connections and addresses for reuse.
@Suite struct PoolSettingsTests {
    @Test(arguments: [0, -1, 65_536, .max])
    func refusesANumberOfConnections(_ count: Int) throws {
        var settings = EngineSettings()
        settings.maximumConnectionsPerHost = count
        #expect {
            _ = try CurlEngine(settings)
        } throws: {
            let error = $0 as? TransportError
            return error?.code == .invalidRequest && "\($0)".contains("found \(count)")
        }
    }

    @Test(arguments: [(Duration.zero, true), (.seconds(118), false)])
    func anIdleConnectionIsClosedIfNoneIsKept(_ time: Duration, _ isClosed: Bool) async throws {
        let server = try await ScriptedServer("connections")
        var settings = EngineSettings()
        settings.maximumIdleTime = time
        settings.dnsCacheTime = time
        let engine = try CurlEngine(settings)
        for _ in 0..<3 {
            let request = EngineRequest(get(server.port, scheme: "http"), timeout: .seconds(300))
            #expect(try await engine.fetch(request).body == Array("ok".utf8))
        }
        func lines(_ prefix: String) -> [Substring] {
            server.server.stdout.split(separator: "\n").filter { $0.hasPrefix(prefix) }
        }
        if isClosed {
            // The last connection too, while the engine runs; the test's own look at the port may
            // be one.
            #expect(try await eventually { lines("CLOSED").count >= 3 })
        } else {
            #expect(lines("REQUEST").count == 3 && Set(lines("REQUEST")).count == 1)
        }
        await engine.shutdown()
    }
}
