#if Storage
import HTTPTypes
import Logging
import SignetBase
import SignetClient
import SignetJSON
import SignetOutbox
import SignetTesting
import SignetTransport
import Synchronization
import TestSupport
import Testing

/// A record with a number.
struct Numbered: Codable, Sendable, Hashable {
    var n: Int
}

/// A server of batches without a network, and a clock that a test moves.
final class Collector: Sendable {
    /// How the server responds.
    enum Mode: Sendable {
        case takes
        case responds(StubResponse)
        /// Never, until it is let go.
        case hangs
    }

    let stub = StubEngine()
    let clock = TestClock()
    let directory: TemporaryDirectory
    private let log = Mutex<[OutboxEvent]>([])
    private let mode = Mutex(Mode.takes)
    private let batches = Mutex<[JSONValue]>([])
    private let gate = Latch<Bool>()

    init() throws {
        directory = try TemporaryDirectory()
        stub.respond { [weak self] request in
            guard let self else { return .json([:]) }
            let mode = self.mode.withLock { $0 }
            let json = try? JSONValue(parsing: request.body)
            if let body = json?["params"] ?? json {
                self.batches.withLock { $0.append(body) }
            }
            switch mode {
            case .takes: break
            case .responds(let response): return response
            case .hangs: _ = await self.gate.wait()
            }
            return request.procedure == nil ? .json([:]) : .result([:])
        }
    }

    var folder: String { directory.path("outbox") }

    func set(_ mode: Mode) { self.mode.withLock { $0 = mode } }
    func fail(with code: TransportError.Code = .connect) { set(.responds(.failure(code))) }
    func letGo() { gate.set(true) }

    /// The requests so far, in their order.
    var requests: [JSONValue] { batches.withLock { $0 } }
    /// The records of the requests so far.
    var records: [[Int]] { requests.map(Self.numbers) }
    var ids: [String] { requests.map { $0["batch"]?.string ?? "" } }
    var events: [OutboxEvent] { log.withLock { $0 } }

    static func numbers(_ batch: JSONValue) -> [Int] {
        (batch["records"]?.array ?? []).compactMap { $0["n"]?.number?.int64.map(Int.init) }
    }

    func system(
        _ payload: ServiceConfiguration.PayloadProtocol = .rest,
        change: (inout NetworkSystem.Options) -> Void = { _ in }
    ) async throws -> NetworkSystem {
        var options = NetworkSystem.Options()
        options.use(clock)
        change(&options)
        // One attempt: a pause inside a call would be one of the clock's too.
        let service = ServiceConfiguration(
            baseURL: "https://shop.test", payloadProtocol: payload, attempts: 1)
        return try await NetworkSystem.start(
            services: ["shop": service], stub: stub, options: options)
    }

    /// An outbox whose times are the test's.
    func outbox(
        _ name: String = "clicks", to destination: OutboxDestination = .post("/clicks", on: "shop"),
        change: (inout OutboxOptions) -> Void = { _ in }
    ) throws -> Outbox {
        var times = NetworkSystem.Options()
        times.use(clock)
        var options = OutboxOptions()
        options.clock = times.clock
        options.clock.random = { 1 }
        options.logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
        options.observe = { event in self.log.withLock { $0.append(event) } }
        change(&options)
        return try Outbox(name, in: folder, to: destination, options: options)
    }

    /// An outbox that sends.
    func started(
        _ payload: ServiceConfiguration.PayloadProtocol = .rest,
        change: (inout OutboxOptions) -> Void = { _ in }
    ) async throws -> Outbox {
        let outbox = try outbox(change: change)
        try await outbox.start(through: system(payload))
        await idle()
        return outbox
    }

    /// Returns when an outbox, and so many others, have done all that is due.
    func idle(_ count: Int = 1) async { await clock.waitForPauses(count) }

    /// Lets time pass, and returns when the outbox has done what became due.
    func pass(_ time: Duration) async throws {
        clock.advance(by: time)
        await idle()
    }

    /// Returns once there are so many requests.
    func wait(for count: Int) async throws {
        #expect(try await eventually { self.requests.count >= count }, "\(self.requests.count)")
        await idle()
    }
}

extension Outbox {
    func add(_ numbers: ClosedRange<Int>) async throws {
        for number in numbers { try await add(Numbered(n: number)) }
    }
}
#endif
