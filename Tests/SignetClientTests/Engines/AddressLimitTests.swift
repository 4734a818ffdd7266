import HTTPTypes
import SignetPinning
import SignetRPC
import SignetSystem
import SignetTransport
import Synchronization
import TestSupport
import Testing

@testable import SignetClient

/// The limits of addresses: engines that can't use them, tries, times and measurements.
@Suite struct AddressLimitTests {
    /// An engine on which every address is measured as good, and every connection to one fails.
    private final class FailingAddresses: HTTPEngine {
        let capabilities: EngineCapabilities
        private let code: TransportError.Code
        private let counts = Mutex<(probes: Int, requests: [EngineRequest])>((0, []))

        init(_ code: TransportError.Code = .connect, connects: Bool = true) {
            self.code = code
            capabilities = EngineCapabilities(
                name: "failing", pinsPublicKeys: true, speaksHTTP2: false,
                connectsToAddresses: connects)
        }

        var probes: Int { counts.withLock { $0.probes } }
        var requests: [EngineRequest] { counts.withLock { $0.requests } }

        func probe(_ probe: EngineProbe) async throws(TransportError) -> ProbeResult {
            counts.withLock { $0.probes += 1 }
            return ProbeResult(chain: [], isTrusted: true)
        }

        func send(_ request: EngineRequest) async throws(TransportError) -> EngineResponse {
            counts.withLock { $0.requests.append(request) }
            if !request.connectTo.isEmpty {
                var error = TransportError(code, "failed")
                error.isUnsent = true
                throw error
            }
            return EngineResponse(
                response: HTTPResponse(status: .ok),
                body: HTTPResponseBody(bytes: Array("1".utf8)),
                httpVersion: .init(major: 1, minor: 1))
        }

        func shutdown() async {}
    }

    private static func system(
        _ engine: FailingAddresses, _ count: Int = 5,
        change: (inout NetworkSystem.Options) -> Void = { _ in }
    ) async throws -> NetworkSystem {
        let list = try ServiceAddress.list((1...count).map { "127.0.0.1:\($0)" })
        return try await Pipeline.system(engine) { options in
            options.networkWatcher = NetworkWatcher { -1 }
            options.addresses.startLimit = .seconds(60)
            change(&options)
        } changeService: {
            $0.addresses = list
            $0.attempts = 1
        }
    }

    private static func call(
        _ system: NetworkSystem, connectTimeout: Duration? = nil
    ) async throws -> AddressUse? {
        var options = RequestOptions()
        let trace = CallTrace()
        (options.trace, options.connectTimeout) = (trace, connectTimeout)
        _ = try await system.call(RESTRequest(.get, "/x"), on: "a", options: options)
        return trace.record?.work.attempts.last?.hops.last?.address
    }

    @Test func anEngineThatCannotConnectGetsTheName() async throws {
        let engine = FailingAddresses(connects: false)
        let system = try await Self.system(engine)
        #expect(try await Self.call(system) == nil)
        #expect(engine.requests.map(\.connectTo) == [[]] && engine.probes == 0)
        await system.shutdown()
    }

    @Test func threeAreTriedAtMost() async throws {
        let engine = FailingAddresses()
        let system = try await Self.system(engine)
        #expect(try await eventually { engine.probes == 10 })
        let use = try await Self.call(system)
        #expect(use?.reason == .name && use?.failed.count == 3 && engine.requests.count == 4)
        await system.shutdown()
    }

    @Test func theyHaveASecondTogether() async throws {
        let engine = FailingAddresses()
        let time = Mutex(MonotonicTime.now)
        let system = try await Self.system(engine) { options in
            options.clock.instant = {
                time.withLock { time in
                    time = time + .milliseconds(600)
                    return time
                }
            }
        }
        let use = try await Self.call(system)
        #expect(use?.reason == .name && use?.failed.count == 1)
        await system.shutdown()
    }

    @Test func aCallsOwnShortTimeSaysNothing() async throws {
        let engine = FailingAddresses(.timeout)
        let system = try await Self.system(engine, 1)
        let use = try await Self.call(system, connectTimeout: .milliseconds(5))
        #expect(use?.failed.count == 1 && system.addresses(of: "a").map(\.state) == [.used])
        _ = try await Self.call(system)
        #expect(system.addresses(of: "a").map(\.state) == [.failed])
        await system.shutdown()
    }

    /// A hundred calls that fail cause one measurement, after the least time between two.
    @Test func failuresCauseOneMeasurement() async throws {
        let engine = FailingAddresses()
        let pauses = Mutex<[Duration]>([])
        let system = try await Self.system(engine) { options in
            options.clock.sleep = { time in
                pauses.withLock { $0.append(time) }
                try await Task.sleep(for: .seconds(3600))
            }
        }
        #expect(try await eventually { engine.probes == 10 })
        let before = pauses.withLock { $0.count { $0 > .seconds(5) && $0 <= .seconds(10) } }
        for _ in 0..<100 { _ = try await Self.call(system) }
        #expect(
            try await eventually {
                pauses.withLock { $0.count { $0 > .seconds(5) && $0 <= .seconds(10) } }
                    == before + 1
            })
        #expect(engine.probes == 10)
        await system.shutdown()
    }

    @Test func otherPinsMeasureAgain() async throws {
        let engine = FailingAddresses()
        let system = try await Self.system(engine, 2)
        #expect(try await eventually { engine.probes == 4 })
        try system.update(policy: .allowingAll())
        let pin = try Pin(parsing: "sha256/AQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQE=")
        try system.update(
            policy: PinPolicy(
                rules: [PinRule(host: "other.example.com", pins: [pin])],
                unlisted: .allow))
        #expect(try await eventually { engine.probes == 8 })
        await system.shutdown()
    }
}
