import Foundation
import HTTPTypes
import Logging
import SignetJSON
import SignetPinning
import SignetRPC
import SignetTransport
import Synchronization
import TestSupport
import Testing

@testable import SignetClient

/// Many calls in a few minutes: interceptors, credentials, signatures, pins, retries, joined calls,
/// cancelled calls and faults by seed leak no memory, no descriptor and no secret. `make soak` runs
/// it alone, with optimised code.
@Suite(
    .serialized, .enabled(if: ProcessInfo.processInfo.environment["SIGNET_SOAK"] != nil))
struct SystemSoakTests {
    /// The growth of resident memory after the warm-up that isn't counted as a leak.
    private static let bound = 4 << 20

    /// An engine of faults by a seed, which keeps nothing. It demands a signature, checks the pins,
    /// and knows REST and, at `/rpc`, JSON-RPC.
    private final class FaultyEngine: HTTPEngine {
        let capabilities = EngineCapabilities(
            name: "faulty", pinsPublicKeys: true, speaksHTTP2: false)
        private let numbers: Mutex<SplitMix>

        private let host: HostName
        let pin: Pin
        private let otherPin: Pin

        init(seed: UInt64) throws {
            numbers = Mutex(SplitMix(seed: seed))
            host = try HostName.canonical("api.example.com")
            pin = try Pin(bytes: [UInt8](repeating: 1, count: 32))
            otherPin = try Pin(bytes: [UInt8](repeating: 2, count: 32))
        }

        /// Judges the key of the host, which is another one now and then.
        private func check(_ request: EngineRequest, hasKey: Bool) throws(TransportError) {
            let seen = SeenCertificate(subject: "CN=api", pin: hasKey ? pin : otherPin)
            guard let policy = request.policy,
                request.request.headerFields[.init("Signature")!] != nil
            else { throw TransportError(.invalidRequest, "no policy or no signature") }
            if let refusal = policy.verdict(for: host, chain: [seen], now: 0).refusal {
                throw TransportError(refusal)
            }
        }

        /// The first bytes of a response's body, and the last one.
        private static func body(for request: EngineRequest) -> (first: String, last: String) {
            guard request.request.path?.hasSuffix("/rpc") == true,
                let id = (try? JSONValue(parsing: request.bytes))?["id"]
            else { return ("[", "]") }
            return (#"{"jsonrpc":"2.0","id":\#(id.text),"result":1"#, "}")
        }

        func send(_ request: EngineRequest) async throws(TransportError) -> EngineResponse {
            await Task.yield()
            let number = numbers.withLock { Int.random(in: 0..<100, using: &$0) }
            try check(request, hasKey: number != 99)
            var status = HTTPResponse.Status.ok
            let (first, last) = Self.body(for: request)
            let buffer = BodyBuffer(capacity: 1 << 16, drained: {}, abandoned: {})
            _ = buffer.offer(Array(first.utf8) + Array(repeating: 0x20, count: 1000))
            switch number {
            case 0..<3: throw TransportError(.connect, "down")
            case 3..<5: throw TransportError(.cutOff, "cut off")
            case 5..<6: throw TransportError(.timeout, "late")
            case 6..<8: status = .serviceUnavailable
            case 8..<10: status = .tooManyRequests
            case 10..<12: status = .unauthorized
            case 12..<13:
                buffer.finish(TransportError(.cutOff, "cut off"))
            case 13..<14: break  // malformed: no end
            default: _ = buffer.offer(Array(last.utf8))
            }
            buffer.finish()
            return EngineResponse(
                response: HTTPResponse(status: status), body: HTTPResponseBody(buffer),
                httpVersion: .init(major: 1, minor: 1))
        }

        func shutdown() async {}
    }

    private struct User: CredentialSource {
        let scope: String
        func credential(
            replacing old: Credential?, for call: CallIdentity
        ) async throws -> Credential {
            await Task.yield()
            return .bearer(FaultFixture.secret + scope)
        }
    }

    private struct Passing: CallInterceptor, AttemptInterceptor {
        struct Failure: Error {}
        let fails: Bool

        func intercept(_ call: PendingCall, next: NextCall) async throws -> UnboxedResponse {
            if fails { throw Failure() }
            return try await next(call)
        }

        func intercept(_ call: OutgoingCall, next: NextAttempt) async throws -> EngineResponse {
            var call = call
            call.request.headerFields[.acceptLanguage] = "en"
            return try await next(call)
        }
    }

    /// Makes calls, 64 side by side. One in a hundred is cancelled, one in seven joins its equals,
    /// and one in five goes to the JSON-RPC service `procedures`, if there is one.
    ///
    /// - Returns: The number of calls that ended well.
    private static func run(
        _ numbers: Range<Int>, on system: NetworkSystem, procedures: ServiceName? = nil
    ) async -> Int {
        await withTaskGroup(of: Bool.self) { group in
            var good = 0
            for number in numbers {
                if number - numbers.lowerBound >= 64, await group.next() == true { good += 1 }
                group.addTask { await call(number, on: system, procedures: procedures) }
            }
            for await isGood in group where isGood { good += 1 }
            return good
        }
    }

    private static func call(
        _ number: Int, on system: NetworkSystem, procedures: ServiceName?
    ) async -> Bool {
        var options = RequestOptions(tags: ["soak"])
        options.credentials = User(scope: "\(number % 50)")
        if number % 3 == 0 { options.deadline = .seconds(30) }
        if number % 7 == 0 {
            options.duplicates = .join  // interceptors of its own would keep it alone
        } else {
            options.interceptors = [Passing(fails: number % 101 == 0)]
            options.attemptInterceptors = [Passing(fails: false)]
        }
        let path: RESTPath = options.duplicates == .join ? "/joined" : "/x"
        let given = options
        let call = Task {
            await Pipeline.code { () async throws(ClientError) in
                if let procedures, number % 5 == 0 {
                    return try await system.call(
                        RPCCall(
                            "pay", parameters: .object(["secret": .string(FaultFixture.secret)])),
                        on: procedures, options: given)
                }
                return try await system.call(
                    RESTRequest(number % 4 == 0 ? .post : .get, path), on: "a", options: given)
            }
        }
        if number % 100 == 0 { call.cancel() }
        return await call.value == nil
    }

    @Test func aHundredThousandCallsLeaveNothing() async throws {
        let canaries = Canaries()
        var options = NetworkSystem.Options()
        let engine = try FaultyEngine(seed: 1)
        options.engine = engine
        options.clock.sleep = { _ in await Task.yield() }
        options.logger = Logger(label: "soak") { _ in canaries }
        let service = ServiceConfiguration(
            baseURL: "https://api.example.com/v1", payloadProtocol: .rest,
            signing: .init(scheme: "rfc9421", keyID: "k"))
        var procedures = service
        procedures.baseURL = "https://api.example.com/rpc"
        procedures.payloadProtocol = .jsonRPC2
        let rule = try PinRule(host: "api.example.com", pins: [engine.pin])
        let system = try await NetworkSystem.start(
            services: ["a": service, "b": procedures], keys: FaultFixture.keys(),
            policy: PinPolicy(rules: [rule]), options: options)
        let listener = Task { [events = system.events] in
            var ends = 0
            for await case .finished(let record) in events {
                ends += 1
                if ends % 100 == 0 { canaries.note(record) }
            }
            return ends
        }
        var good = await Self.run(0..<20_000, on: system, procedures: "b")
        let (memory, descriptors) = (try ProcessUse.memory(), try ProcessUse.descriptors())
        good += await Self.run(20_000..<100_000, on: system, procedures: "b")
        let growth = try ProcessUse.memory() - memory
        let opened = try ProcessUse.descriptors() - descriptors
        #expect(growth < Self.bound, "\(growth >> 10) KiB more")
        #expect(canaries.leaks.isEmpty && canaries.lineCount > 100_000, "\(canaries.leaks)")
        #expect(system.pinReportCounts.made > 0)
        #expect(opened <= 0)
        #expect(good > 70_000, "\(good) good calls")
        #expect(system.runningCalls.isEmpty && system.pipeline.duplicates.joinedCount == 0)
        #expect(
            system.pipeline.attempts.credentials.waitingCount == 0
                && system.pipeline.attempts.credentials.count <= 50)
        await system.shutdown()
        #expect(await listener.value > 0)
    }

    /// The same over TLS, with a faulty way and a faulty server.
    @Test func aFaultyNetworkLeavesNothing() async throws {
        let authority = try TestAuthority.trusted.get()
        let server = try await FaultServer(
            .seed(7, [.none, .none, .none, .none, .none, .none, .none, .death, .status(503)]),
            tls: authority.leaf)
        let proxy = try await FaultProxy(
            before: server.port,
            .seed(
                7,
                [
                    .none, .none, .none, .none, .cut(afterBytes: 0), .cut(afterBytes: 20_000),
                    .reset(afterBytes: 9000), .stall(afterBytes: 500),
                ]))
        let fixture = try await FaultFixture(port: proxy.port) { options in
            options.callOptions.connectTimeout = .milliseconds(300)
            options.callOptions.timeout = .seconds(1)
        }
        let system = fixture.system
        _ = await Self.run(0..<1000, on: system)
        let (memory, descriptors) = (try ProcessUse.memory(), try ProcessUse.descriptors())
        _ = await Self.run(1000..<6000, on: system)
        let growth = try ProcessUse.memory() - memory
        let opened = try ProcessUse.descriptors() - descriptors
        // With the number of ends of each call, and the pool's connections, which the fixture
        // keeps.
        #expect(growth < 2 * Self.bound, "\(growth >> 10) KiB more")
        // At most the open connections of a host.
        #expect(opened <= 64)
        #expect(system.runningCalls.isEmpty)
        let (began, ends, leaks) = await fixture.end()
        #expect(began == 6000 && ends.count == 6000 && ends.allSatisfy { $0 == 1 })
        #expect(leaks.isEmpty, "\(leaks)")
        #expect(try ProcessUse.descriptors() <= descriptors)
    }
}
