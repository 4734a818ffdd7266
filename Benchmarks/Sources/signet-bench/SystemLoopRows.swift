import SignetClient
import SignetCurl
import SignetTransport

/// Processor time of a pinned call through the network system whose work runs on the engine's thread, beside
/// the same calls on Swift's own threads.
struct SystemLoopRows {
    static let names = ["system-loop-h1", "system-loop-h2"]
    private static let total = 4000
    private let host: BenchHost

    static func rows() async throws -> [Row] { SystemLoopRows(host: try await BenchHost()).rows() }

    private func rows() -> [Row] {
        [
            row("system-loop-h1", http2: false, callers: 16),
            row("system-loop-h2", http2: true, callers: 32),
        ]
    }

    private func row(_ name: String, http2: Bool, callers: Int) -> Row {
        Row(
            name: name, unit: .microseconds, goal: .ratio(1), rounds: 7,
            ours: { try await time(http2: http2, callers: callers, isOnThread: true) },
            floor: { try await time(http2: http2, callers: callers, isOnThread: false) })
    }

    /// Microseconds of processor time of a call.
    private func time(http2: Bool, callers: Int, isOnThread: Bool) async throws -> Double {
        var engine = EngineSettings()
        engine.caFile = host.caFile
        engine.offersHTTP2 = http2
        engine.maximumConnectionsPerHost = http2 ? 1 : callers
        var options = NetworkSystem.Options()
        options.engineSettings = engine
        options.runsOnEngineThread = isOnThread
        let service = ServiceConfiguration(
            baseURL: "https://\(host.authority)/bench", payloadProtocol: .rest)
        let system = try await NetworkSystem.start(
            services: ["a": service], policy: host.policy, options: options)
        let time = try await processorTime(callers: callers, total: Self.total) { _ in
            let response = try await system.exchange(
                "a", method: .get, target: "/bench", fields: [:], body: [])
            try require(response.status == 200, "wrong response")
        }
        await system.shutdown()
        return time
    }
}
