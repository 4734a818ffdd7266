import CFloor
import Foundation
import HTTPTypes
import SignetCurl
import SignetPinning
import SignetTransport

/// Requests a second through the engine beside a bare libcurl multi handle, and pinned beside not
/// pinned, to an nginx on loopback.
struct TransportRows {
    let host: BenchHost

    static func rows() async throws -> [Row] { TransportRows(host: try await BenchHost()).rows() }

    private var authority: Authority { host.authority }
    private var caFile: String { host.caFile }
    private var policy: PinPolicy { host.policy }

    private func rows() -> [Row] {
        [
            requests("requests-h1", http2: false, concurrency: 16),
            requests("requests-h2", http2: true, concurrency: 32),
            loop("requests-h1-loop", http2: false, concurrency: 16),
            loop("requests-h2-loop", http2: true, concurrency: 32),
            crowd(),
            pinned("pinned-h1", http2: false, concurrency: 16),
            pinned("pinned-h2", http2: true, concurrency: 32),
            handshake(),
            executor("executor-h1", http2: false, concurrency: 16, goal: 1),
            executor("executor-h2", http2: true, concurrency: 32, goal: 0.9),
        ] + CancelRow(authority: authority, caFile: caFile, policy: policy).rows()
    }

    private static let total = 4000

    private func requests(_ name: String, http2: Bool, concurrency: Int) -> Row {
        let processor = ProcessorTime()
        return Row(
            name: name, unit: .perSecond, goal: .ratio(0.9), rounds: 7, processor: processor,
            ours: {
                try await processor.note(ours: true, Self.total) {
                    try await requests(http2, concurrency, policy: policy).rate
                }
            },
            floor: {
                try await processor.note(ours: false, Self.total) {
                    let start = ContinuousClock.now
                    try floor(http2, concurrency)
                    return Double(Self.total) / (ContinuousClock.now - start).seconds
                }
            })
    }

    /// Processor time of a request on the thread that runs libcurl, beside the bare program's only one: how
    /// the rates compare where that thread has a processor of its own.
    private func loop(_ name: String, http2: Bool, concurrency: Int) -> Row {
        Row(
            name: name, unit: .microseconds, goal: .ratio(1 / 0.9), rounds: 7,
            ours: {
                let took = try await requests(http2, concurrency, policy: policy).loop
                guard let took else {
                    throw WrongResult(what: "the kernel tells no thread's processor time")
                }
                return took / Double(Self.total) * 1e6
            },
            floor: { try seconds(1) { try floor(http2, concurrency) } / Double(Self.total) * 1e6 })
    }

    /// Requests a second of more callers than the server allows streams (nginx: 128), beside fewer.
    private func crowd() -> Row {
        Row(
            name: "requests-h2-256", unit: .perSecond, goal: .ratio(0.9), rounds: 7,
            ours: { try await requests(true, 256, policy: policy).rate },
            floor: { try await requests(true, 64, policy: policy).rate })
    }

    private func pinned(_ name: String, http2: Bool, concurrency: Int) -> Row {
        let processor = ProcessorTime()
        return Row(
            name: name, unit: .perSecond, goal: .ratio(0.95), rounds: 7, processor: processor,
            ours: {
                try await processor.note(ours: true, Self.total) {
                    try await requests(http2, concurrency, policy: policy).rate
                }
            },
            floor: {
                try await processor.note(ours: false, Self.total) {
                    try await requests(http2, concurrency, policy: nil).rate
                }
            })
    }

    /// Processor time of a request of callers on the engine's own thread, beside ordinary tasks.
    private func executor(_ name: String, http2: Bool, concurrency: Int, goal: Double) -> Row {
        func time(isOnThread: Bool) async throws -> Double {
            let start = floor_process_seconds()
            _ = try await requests(http2, concurrency, policy: policy, isOnThread: isOnThread)
            return (floor_process_seconds() - start) / Double(Self.total) * 1e6
        }
        return Row(
            name: name, unit: .microseconds, goal: .ratio(goal), rounds: 7,
            ours: { try await time(isOnThread: true) },
            floor: { try await time(isOnThread: false) })
    }

    private func handshake() -> Row {
        Row(
            name: "pin-handshake", unit: .microseconds, goal: .ratio(1.01), rounds: 15,
            ours: { try await newConnections(policy: policy) },
            floor: { try await newConnections(policy: nil) })
    }

    /// The bare program's requests, connections made among them as with the engine.
    private func floor(_ http2: Bool, _ concurrency: Int) throws {
        let good = floor_requests(
            "https://\(authority)/bench", nil, caFile, http2 ? 1 : 0, concurrency, Self.total)
        try require(good == Self.total, "\(good) of \(Self.total) responses")
    }

    /// Requests a second, connections made inside the time as with the floor; and the seconds of processor time
    /// that they took of the thread that runs libcurl.
    private func requests(
        _ http2: Bool, _ concurrency: Int, policy: PinPolicy?, isOnThread: Bool = false
    ) async throws -> (rate: Double, loop: Double?) {
        var settings = EngineSettings()
        settings.caFile = caFile
        settings.offersHTTP2 = http2
        settings.maximumConnectionsPerHost = http2 ? 1 : concurrency
        let engine = try CurlEngine(settings)
        let start = ContinuousClock.now
        try await withThrowingTaskGroup(of: Void.self) { group in
            for worker in 0..<concurrency {
                group.addTask(executorPreference: isOnThread ? engine.executor : nil) {
                    for _ in stride(from: worker, to: Self.total, by: concurrency) {
                        try await get(engine, policy)
                    }
                }
            }
            try await group.waitForAll()
        }
        let time = (ContinuousClock.now - start).seconds
        let loop = loopSeconds()
        await engine.shutdown()
        return (Double(Self.total) / time, loop)
    }

    /// Seconds of processor time that the engine's thread has taken, of which there is one at a time; nil where
    /// the kernel is not Linux.
    private func loopSeconds() -> Double? {
        let tasks = URL(filePath: "/proc/self/task")
        let threads = try? FileManager.default.contentsOfDirectory(
            at: tasks, includingPropertiesForKeys: nil)
        func text(_ thread: URL, _ file: String) -> String? {
            try? String(contentsOf: thread.appending(path: file), encoding: .utf8)
        }
        let loop = threads?.first { text($0, "comm") == "signet-curl\n" }
        let times = loop.flatMap { text($0, "schedstat") }
        return times.flatMap { Double($0.prefix { $0 != " " }) }.map { $0 / 1e9 }
    }

    /// Processor time of the process for a request on a connection of its own, TLS included.
    private func newConnections(policy: PinPolicy?) async throws -> Double {
        let count = 40
        var settings = EngineSettings()
        settings.caFile = caFile
        let start = floor_process_seconds()
        for _ in 0..<count {
            let engine = try CurlEngine(settings)
            try await get(engine, policy)
            await engine.shutdown()
        }
        return (floor_process_seconds() - start) / Double(count) * 1e6
    }

    private func get(_ engine: CurlEngine, _ policy: PinPolicy?) async throws {
        let head = HTTPRequest(
            method: .get, scheme: "https", authority: authority.description, path: "/bench")
        let response = try await engine.send(EngineRequest(head, policy: policy))
        let body = try await response.body.collect(limit: 1 << 20)
        try require(response.response.status.code == 200 && !body.isEmpty, "wrong response")
    }
}

extension Duration {
    fileprivate var seconds: Double {
        Double(components.seconds) + Double(components.attoseconds) / 1e18
    }
}
