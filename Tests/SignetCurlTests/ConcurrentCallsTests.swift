import Foundation
import HTTPTypes
import SignetCurl
import SignetPinning
import SignetTransport
import Synchronization
import TestSupport
import Testing

/// Thousands of calls at once, and callers that cancel at any moment.
///
/// With `SIGNET_SOAK` set there are 10,000 calls, and memory is limited. The time from a
/// cancellation to the call's end is measured with optimised code, by the benchmarks `cancel-h1`
/// and `cancel-h2`. `make soak` runs both.
@Suite(.serialized) struct ConcurrentCallsTests {
    private static let isWhole = ProcessInfo.processInfo.environment["SIGNET_SOAK"] != nil
    private static let count = isWhole ? 10_000 : 600

    private static let places = """
        location = /plain { access_log off; return 200 'hello'; }
        location = /slow { access_log off; limit_rate 1000; return 200 '\(String(repeating: "x", count: 3000))'; }
        keepalive_requests 1000000;
        """

    private let authority: TestAuthority

    init() throws { authority = try TestAuthority.trusted.get() }

    @Test(arguments: [false, true])
    func carriesACrowdInLittleMemory(overHTTP2: Bool) async throws {
        let host = try await OrdersHost.start(directives: Self.places)
        let engine = try engine(http2: overHTTP2)
        let policy = try pinned(authority.intermediate.pin)
        let port = host.port
        try forgetPeakMemory()
        let before = try memory("VmRSS")
        let good = await withTaskGroup(of: Bool.self) { group in
            for _ in 0..<Self.count {
                group.addTask {
                    var request = EngineRequest(get(port, "/plain"), policy: policy)
                    request.timeout = .seconds(300)
                    return (try? await engine.fetch(request))?.body == Array("hello".utf8)
                }
            }
            return await group.reduce(into: 0) { $0 += $1 ? 1 : 0 }
        }
        #expect(good == Self.count)
        await engine.shutdown()
        // ThreadSanitizer's own memory would count too.
        guard Self.isWhole, ProcessInfo.processInfo.environment["TSAN_OPTIONS"] == nil else {
            return
        }
        let growth = try memory("VmHWM") - before
        print(
            "\(Self.count) calls at once over HTTP/\(overHTTP2 ? 2 : 1): \(growth >> 20) MiB more")
        #expect(growth < 200 << 20)
    }

    @Test(arguments: [(UInt64(1), false), (2, true), (3, true)])
    func endsEachCancelledCallOnce(seed: UInt64, overHTTP2: Bool)
        async throws
    {
        let host = try await OrdersHost.start(directives: Self.places)
        let engine = try engine(http2: overHTTP2)
        let ends = await crowd(engine, port: host.port, seed: seed, timeout: .seconds(300))
        #expect(ends.count == Self.count)
        for end in ends {
            #expect(end.error == nil || end.error?.code == .cancelled, "\(end)")
        }
        // Not a limit of this machine, but of calls that are forgotten.
        let latest = ends.map(\.latency).max() ?? .zero
        #expect(latest < .seconds(60))
        if Self.isWhole {
            let cancelled = ends.count { $0.error != nil }
            print("\(cancelled) of \(ends.count) cancelled; the latest ended after \(latest)")
        }
        // The engine is as good as new.
        let (_, body) = try await engine.fetch(EngineRequest(get(host.port, "/plain")))
        #expect(body == Array("hello".utf8))
        await engine.shutdown()
    }

    @Test func endsACrowdWhenTheEngineStops() async throws {
        let host = try await OrdersHost.start(directives: Self.places)
        let engine = try engine()
        let port = host.port
        async let ends = crowd(engine, port: port, seed: 4, timeout: .seconds(300))
        for _ in 0..<40 { _ = await engine.failure(EngineRequest(get(port, "/plain"))) }
        await engine.shutdown()
        let all = await ends
        #expect(all.count == Self.count)
        let codes: Set<TransportError.Code?> = [nil, .cancelled, .notRunning]
        #expect(all.allSatisfy { codes.contains($0.error?.code) })
        #expect(await engine.failure(EngineRequest(get(port)))?.code == .notRunning)
    }

    /// libcurl is given a part of the calls of one host; the others wait, and their time runs.
    @Test(.features("001-10"), arguments: [false, true])
    func endsCallsThatWaitInLineInTime(overHTTP2: Bool) async throws {
        let server =
            overHTTP2
            ? try await ScriptedServer("unread-bodies", "1000", "1000", "1", tls: authority.leaf)
            : try await ScriptedServer([.head, .stall])
        var configuration = EngineSettings()
        configuration.caFile = authority.caFile
        configuration.maximumConnectionsPerHost = 1
        let engine = try CurlEngine(configuration)
        let port = server.port
        let scheme = overHTTP2 ? "https" : "http"
        let codes = await withTaskGroup(of: TransportError.Code?.self) { group in
            for index in 0..<400 {
                group.addTask {
                    var request = EngineRequest(get(port, scheme: scheme))
                    request.timeout = .milliseconds(1000 + index)
                    return await engine.failure(request)?.code
                }
            }
            return await group.reduce(into: []) { $0.append($1) }
        }
        #expect(codes.count == 400 && codes.allSatisfy { $0 == .timeout })
        // Another host's calls are not in that line.
        let other = try await ScriptedServer([
            .head, .send("HTTP/1.1 204 No Content\r\n\r\n"),
        ])
        var request = EngineRequest(get(other.port, scheme: "http"))
        request.timeout = .seconds(300)
        #expect(try await engine.fetch(request).response.response.status == .noContent)
        await engine.shutdown()
    }

    /// The host's only connection is in use, so all other calls wait.
    @Test(.features("003-15", "004-02"))
    func aCallCancelledInTheQueueOpensNoConnection() async throws {
        let server = try await ScriptedServer("stall-until-last")
        var configuration = EngineSettings()
        configuration.maximumConnectionsPerHost = 1
        let engine = try CurlEngine(configuration)
        let port = server.port
        func start(_ path: String, timeout: Duration) -> Task<TransportError.Code?, Never> {
            let head = get(port, path, host: "127.0.0.1", scheme: "http")
            return Task { await engine.failure(EngineRequest(head, timeout: timeout))?.code }
        }
        func connections() -> Int {
            server.server.stdout.split(separator: "\n").count { $0 == "CONNECTED" }
        }
        let first = start("/first", timeout: .seconds(300))
        #expect(try await eventually { server.got.contains("/first") })
        let before = connections()
        let queued = (0..<40).map { _ in start("/queued", timeout: .seconds(300)) }
        // After these ended, the calls before them were in the queue.
        let late = (0..<40).map { _ in start("/queued", timeout: .seconds(1)) }
        for call in late { #expect(await call.value == .timeout) }
        for call in queued { call.cancel() }
        for call in queued { #expect(await call.value == .cancelled) }
        first.cancel()
        #expect(await first.value == .cancelled)
        // Nothing is left in the queue before this one.
        #expect(await start("/last", timeout: .seconds(300)).value == nil)
        #expect(connections() == before + 1 && !server.got.contains("/queued"))
        await engine.shutdown()
    }

    // MARK: A crowd

    private struct End: Sendable {
        var error: TransportError?
        /// The time from its cancellation to its end; zero if it ended first.
        var latency: Duration
    }

    /// Begins all calls at once; one task cancels most of them, in an order and at moments of the
    /// seed.
    private func crowd(
        _ engine: CurlEngine, port: Int, seed: UInt64, timeout: Duration
    ) async -> [End] {
        var numbers = SplitMix(seed: seed)
        let calls = (0..<Self.count).map { _ in
            let isSlow = UInt8.random(in: 0..<3, using: &numbers) == 0
            return Task {
                var request = EngineRequest(get(port, isSlow ? "/slow" : "/plain"))
                request.timeout = timeout
                let error = await engine.failure(request)
                return (error, ContinuousClock.now)
            }
        }
        var cancelled: [Int: ContinuousClock.Instant] = [:]
        for index in calls.indices.shuffled(using: &numbers).dropLast(Self.count / 100) {
            for _ in 0..<Int.random(in: 0..<4, using: &numbers) { await Task.yield() }
            cancelled[index] = .now
            calls[index].cancel()
        }
        var ends: [End] = []
        for (index, call) in calls.enumerated() {
            let (error, end) = await call.value
            let latency = error == nil ? .zero : cancelled[index].map { max(end - $0, .zero) }
            ends.append(End(error: error, latency: latency ?? .zero))
        }
        return ends
    }
}

/// Returns a line of `/proc/self/status` in bytes.
private func memory(_ name: String) throws -> Int {
    let status = try String(contentsOfFile: "/proc/self/status", encoding: .utf8)
    let line = status.split(separator: "\n").first { $0.hasPrefix(name + ":") }
    let number = line?.split(whereSeparator: { !$0.isNumber }).first.flatMap { Int($0) }
    return try #require(number) << 10
}

/// Sets the peak of resident memory to the present value (proc(5), `clear_refs`).
private func forgetPeakMemory() throws {
    let file = try FileHandle(forWritingTo: URL(filePath: "/proc/self/clear_refs"))
    try file.write(contentsOf: Data("5".utf8))
    try file.close()
}
