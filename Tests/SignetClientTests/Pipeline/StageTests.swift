import HTTPTypes
import Logging
import SignetPinning
import SignetRPC
import SignetTransport
import TestSupport
import Testing

@testable import SignetClient

/// Each stage of the pipeline alone, without a started system.
@Suite struct StageTests {
    // MARK: Admission

    @Test func admissionGivesNumbersAndSnapshot() async throws {
        let stages = try Stages()
        var numbers: [UInt64] = []
        for _ in 0..<2 {
            numbers += [
                try await stages.admission.admit(stages.target) { call throws(ClientError) in
                    #expect(call.snapshot === stages.snapshots.current)
                    return call.identity.id.number
                }
            ]
        }
        #expect(numbers == [1, 2])
        await expect(.unknownService) {
            try await stages.admission.admit(CallTarget(service: "b", method: "m")) {
                _ throws(ClientError) in
            }
        }
        #expect(stages.calls.identities.isEmpty)
    }

    @Test func admissionRefusesAfterTheStop() async throws {
        let stages = try Stages()
        _ = stages.calls.stop()
        await expect(.notRunning) { try await stages.admit { _ throws(ClientError) in } }
    }

    @Test func anUpdateLeavesACallsSnapshot() async throws {
        let engine = RecordingEngine()
        let policy = try Self.pinned()
        let stages = try Stages(engine: engine, policy: policy)
        let other = try PinPolicy.allowingAll()
        try await stages.admit { call throws(ClientError) in
            try stages.snapshots.change { current throws(ClientError) in
                SystemSnapshot(current, policy: other)
            }
            _ = try await stages.send(in: call)
        }
        _ = try await stages.send()
        #expect(engine.requests.map(\.policy) == [policy, other])
    }

    @Test func nothingChangesAfterTheEnd() throws {
        let stages = try Stages()
        stages.snapshots.close()
        let error = #expect(throws: ClientError.self) {
            try stages.snapshots.change { current throws(ClientError) in current }
        }
        #expect(error?.code == .notRunning)
    }

    // MARK: Duplicates

    @Test func joinedCallsShareTheirWork() async throws {
        var options = RequestOptions()
        options.duplicates = .join
        let stages = try Stages(common: options)
        let duplicates = DuplicateCalls()
        let works = InterceptorTests.Notes()
        let bodies = try await withThrowingTaskGroup(of: Int.self) { group in
            for _ in 0..<2 {
                group.addTask {
                    try await stages.admit { call throws(ClientError) in
                        try await duplicates.run(.procedure(RPCCall("m")), in: call) {
                            _ throws(ClientError) in
                            _ = try? await eventually { duplicates.joinedCount == 2 }
                            works.add("work")
                            return UnboxedResponse(result: nil, status: 200)
                        }.status
                    }
                }
            }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        #expect(bodies == [200, 200] && works.all == ["work"])
    }

    // MARK: Attempts and hops

    @Test func attemptsEndAtTheirLimit() async throws {
        let engine = RecordingEngine(failingFirst: 9)
        var options = RequestOptions()
        options.attempts = 3
        let stages = try Stages(engine: engine, common: options)
        await expect(.connect) { _ = try await stages.send() }
        #expect(engine.count == 3)
        #expect(stages.pauses.all.count == 2)
    }

    @Test func aHopToAnotherOriginLosesTheAuthorization() async throws {
        let engine = RecordingEngine(responses: [
            .init(status: 307, fields: [.location: "https://other.example.com/x"]), .init(),
        ])
        let stages = try Stages(engine: engine, redirects: RedirectPolicy())
        let response = try await stages.send(fields: [.authorization: "Bearer x", .accept: "*/*"])
        #expect(response.status == 200)
        #expect(engine.requests.first?.request.headerFields[.authorization] == "Bearer x")
        let last = try #require(engine.requests.last)
        #expect(last.request.authority == "other.example.com")
        #expect(last.request.headerFields[.authorization] == nil)
        #expect(last.request.headerFields[.accept] == "*/*")
    }

    @Test func aHopNeedsAnEngineThatPins() async throws {
        let engine = RecordingEngine(pins: false)
        let stages = try Stages(engine: engine, policy: Self.pinned())
        await expect(.engineCannotPin) { _ = try await stages.send() }
        #expect(engine.count == 0)
    }

    private func expect(
        _ code: ClientError.Code, _ work: () async throws -> Void
    ) async {
        let error = await #expect(throws: ClientError.self) { try await work() }
        #expect(error?.code == code)
    }

    private static func pinned() throws -> PinPolicy {
        let pin = try Pin(parsing: "sha256/AQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQE=")
        return try PinPolicy(rules: [PinRule(host: "api.example.com", pins: [pin])])
    }

    // MARK: Reports

    /// A report that was queued goes with a reporter that is released, and the one that is being
    /// sent is cancelled.
    @Test func aReleasedReporterSendsNothingMore() async throws {
        let host = try HostName.canonical("unlisted.example.com")
        let decision = try PinPolicy(rules: []).decision(
            for: host, isSecure: true, now: 0, port: 443)
        let refusal = try #require(decision.refusal)
        let sink = HeldSink()
        var reporter: PinReporter? = PinReporter(
            PinReportOptions(), sinks: [sink], logger: Logger(label: "reports"), clock: { 0 })
        for port in [443, 8443] { reporter?.submit(refusal, port: port, isEnforced: true) }
        for await _ in sink.begun.stream.prefix(1) {}
        reporter = nil
        for await _ in sink.ended.stream.prefix(1) {}
        #expect(sink.steps.all == ["443"])
    }

    // MARK: Order

    /// Interceptors run around all that follows, and checks after the response was unboxed.
    @Test func theStagesComeInTheirOrder() async throws {
        let steps = InterceptorTests.Notes()
        var options = RequestOptions()
        let noting = InterceptorTests.Noting(name: "", notes: steps)
        options.interceptors = [noting]
        options.attemptInterceptors = [noting]
        options.responseChecks = [NotingCheck(notes: steps)]
        let stages = try Stages(common: options)
        let value = try await stages.pipeline.run(
            stages.target,
            request: { _ throws(ClientError) in
                steps.add("request")
                return .procedure(RPCCall("m"))
            },
            value: { response throws(ClientError) in
                steps.add("value")
                return response.status
            })
        #expect(value == 200)
        #expect(steps.all == [">", "request", "1>", "check", "<200", "value"])
    }
}

/// The stages of a pipeline, made by hand, with one service at a recording engine.
private struct Stages {
    let pipeline: CallPipeline
    let target = CallTarget(service: "a", method: "m")
    let pauses: InterceptorTests.Notes

    var admission: AdmissionStage { pipeline.admission }
    var calls: RunningCalls { admission.calls }
    var snapshots: SnapshotBox { admission.snapshots }

    init(
        engine: RecordingEngine = RecordingEngine(), common: RequestOptions = RequestOptions(),
        redirects: RedirectPolicy = .never, policy: PinPolicy? = nil
    ) throws {
        let pauses = InterceptorTests.Notes()
        var service = ServiceConfiguration(
            baseURL: "https://api.example.com/rpc", payloadProtocol: .jsonRPC2)
        service.redirects = redirects
        var clock = SystemClock()
        clock.sleep = { pauses.add("\($0)") }
        let log = CallLogger(
            logger: Logger(label: "stages", factory: { _ in SwiftLogNoOpLogHandler() }))
        var options = NetworkSystem.Options()
        options.callOptions = common
        let snapshot = try SystemSnapshot(
            services: ["a": service], keys: nil, policy: policy ?? .allowingAll(),
            options: options)
        self.pauses = pauses
        let snapshots = SnapshotBox(snapshot, logger: log.logger)
        pipeline = CallPipeline(
            admission: AdmissionStage(
                calls: RunningCalls(), hub: EventHub(),
                snapshots: snapshots, hostOptions: RequestOptions(),
                engines: [],
                maximumResponseSize: 1 << 20, decodes: false, clock: clock, log: log),
            duplicates: DuplicateCalls(), merger: CallMerger(clock: clock), caches: nil,
            attempts: AttemptStage(
                budget: RetryBudget(), credentials: CredentialStore(),
                hops: HopStage(
                    engines: EngineSet(standard: engine, [:], now: { .now }), reporter: nil,
                    connectTo: [],
                    addresses: NearestAddresses(
                        AddressOptions(), engine: engine, snapshots: snapshots,
                        connectivity: Connectivity(.shared) { false }, clock: clock,
                        logger: log.logger),
                    clock: clock, log: log),
                clock: clock, log: log),
            decoder: ResponseDecoder(limits: nil))
    }

    func admit<Output: Sendable>(
        _ work: @escaping @Sendable (CallContext) async throws(ClientError) -> Output
    ) async throws(ClientError) -> Output {
        try await admission.admit(target, work: work)
    }

    /// Sends a GET through attempts and hops alone.
    func send(fields: HTTPFields = [:]) async throws(ClientError) -> RawResponse {
        try await admit { call throws(ClientError) in try await send(in: call, fields: fields) }
    }

    func send(
        in call: CallContext, fields: HTTPFields = [:]
    ) async throws(ClientError) -> RawResponse {
        let request = call.request(.get, to: call.service.url, fields: fields, body: [])
        return try await pipeline.attempts.run(
            request, into: pipeline.memoryReader(for: call), in: call)
    }
}

/// Takes a report and holds it until its task is cancelled.
private final class HeldSink: PinReportSink {
    let steps = InterceptorTests.Notes()
    let begun = AsyncStream<Void>.makeStream()
    let ended = AsyncStream<Void>.makeStream()

    var name: String { "held" }

    func receive(_ report: PinReport) async throws(PinError) {
        steps.add("\(report.port)")
        begun.continuation.yield()
        try? await Task.sleep(for: .seconds(3600))
        ended.continuation.yield()
    }
}

private struct NotingCheck: ResponseCheck {
    let notes: InterceptorTests.Notes

    func failure(in response: UnboxedResponse) -> String? {
        notes.add("check")
        return nil
    }
}
