import Dispatch
import HTTPTypes
import SignetClient
import SignetRPC
import SignetSigning
import SignetTransport
import Synchronization
import TestSupport
import Testing

/// Holds back whoever comes, whether or not its task is cancelled, until it is opened.
private final class Gate: Sendable {
    private let held = Mutex<[CheckedContinuation<Void, Never>]>([])

    var count: Int { held.withLock { $0.count } }

    func wait() async {
        await withCheckedContinuation { continuation in
            held.withLock { $0.append(continuation) }
        }
    }

    func open() {
        for continuation in held.withLock({ $0 }) { continuation.resume() }
    }
}

/// Calls that are cancelled return at once, wherever they wait, and though what they wait for never returns.
@Suite struct CancellationTests {
    enum Place: CaseIterable, Sendable {
        case interceptor, attemptInterceptor, credentials, signer, body, engine, sharedWork, pause
    }

    private struct Waiting: CallInterceptor, AttemptInterceptor, CredentialSource, ExternalSigner {
        let gate: Gate
        let keyID = "kms"
        let algorithm = HTTPSignatureAlgorithm.ed25519

        func intercept(_ call: OutgoingCall, next: NextCall) async throws -> RawResponse {
            await gate.wait()
            return try await next(call)
        }

        func intercept(_ call: OutgoingCall, next: NextAttempt) async throws -> EngineResponse {
            await gate.wait()
            return try await next(call)
        }

        func credential(
            replacing old: Credential?, for call: CallIdentity
        ) async throws -> Credential {
            await gate.wait()
            return .bearer("1")
        }

        func sign(_ base: [UInt8]) async throws -> [UInt8] {
            await gate.wait()
            return [UInt8](repeating: 1, count: 64)
        }
    }

    /// An engine that waits, or fails before the server has seen the call.
    private final class Engine: HTTPEngine {
        let capabilities = EngineCapabilities(
            name: "gate", pinsPublicKeys: true, speaksHTTP2: false)
        let gate: Gate?

        init(_ gate: Gate?) { self.gate = gate }

        func send(_ request: EngineRequest) async throws(TransportError) -> EngineResponse {
            await gate?.wait()
            throw TransportError(.connect, "down")
        }

        func shutdown() async {}
    }

    /// A body whose producer waits, while it is read for its digest.
    private static func body(_ gate: Gate) -> RequestBody {
        .replayable {
            AsyncStream<[UInt8]> {
                await gate.wait()
                return nil
            }
        }
    }

    @Test(arguments: Place.allCases)
    func aCancelledCallReturnsWhereverItWaits(_ place: Place) async throws {
        let gate = Gate()
        let waiting = Waiting(gate: gate)
        let engine = Engine([.engine, .sharedWork].contains(place) ? gate : nil)
        let system = try await Pipeline.system(engine) { options in
            options.externalSigners = [waiting]
            options.sleep = { _ in await gate.wait() }
        } changeService: { service in
            service.timeout = .seconds(3600)
            if [.signer, .body].contains(place) {
                service.signing = .init(scheme: "rfc9421", keyID: "kms")
            }
        }
        var options = CallOptions()
        switch place {
        case .interceptor: options.interceptors = [waiting]
        case .attemptInterceptor: options.attemptInterceptors = [waiting]
        case .credentials: options.credentials = waiting
        case .sharedWork: options.duplicates = .join
        case .signer, .body, .engine, .pause: break
        }
        let given = options
        let call = Task {
            await Pipeline.code { () async throws(ClientError) in
                if place == .body {
                    _ = try await system.exchange(
                        "a", method: .put, target: "/x", fields: [:], body: Self.body(gate),
                        options: given)
                } else {
                    _ = try await system.call(RESTRequest(.get, "/x"), on: "a", options: given)
                }
            }
        }
        #expect(try await eventually { gate.count == 1 })
        let start = ContinuousClock.now
        call.cancel()
        #expect(await call.value == .cancelled)
        // 100 ms are promised; a busy machine takes longer, and nothing else would end the call.
        #expect(.now - start < .seconds(30))
        #expect(system.runningCalls.isEmpty)
        gate.open()
        await system.shutdown()
    }

    /// Blocks the thread that cancels the first of several calls.
    private final class Blocking: CallInterceptor {
        let gate = Gate()
        let release = DispatchSemaphore(value: 0)
        /// The number of calls that have returned.
        let ended = Mutex(0)
        private let isFirst = Mutex(true)

        func intercept(_ call: OutgoingCall, next: NextCall) async throws -> RawResponse {
            await withTaskCancellationHandler {
                // Not resumed by the cancellation: the task would wait for its handler, on another thread.
                await gate.wait()
            } onCancel: {
                let blocks = isFirst.withLock { isFirst in
                    defer { isFirst = false }
                    return isFirst
                }
                if blocks { _ = release.wait(timeout: .now() + 300) }
            }
            throw CancellationError()
        }
    }

    /// The deadlines of many calls pass in the same 10 ms.
    @Test func aHandlerThatBlocksDelaysNoOtherCall() async throws {
        let blocking = Blocking()
        let system = try await Pipeline.system(Engine(nil))
        var options = CallOptions(deadline: .milliseconds(500))
        options.interceptors = [blocking]
        let given = options
        let calls = (0..<50).map { _ in
            Task {
                let code = await Pipeline.code { () async throws(ClientError) in
                    try await system.call(RESTRequest(.get, "/x"), on: "a", options: given)
                }
                blocking.ended.withLock { $0 += 1 }
                return code
            }
        }
        // The blocked one too.
        #expect(try await eventually { blocking.ended.withLock { $0 } == calls.count })
        blocking.release.signal()
        for call in calls { #expect(await call.value == .timeout) }
        blocking.gate.open()
        await system.shutdown()
    }
}
