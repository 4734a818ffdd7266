import HTTPTypes
import SignetClient
import SignetRPC
import SignetSigning
import SignetTransport
import Synchronization

/// Holds every caller back, even if its task is cancelled, until it lets go.
///
/// It can stand wherever a call waits for something else: as interceptor, source of credentials,
/// signer or engine.
final class Hold: CallInterceptor, AttemptInterceptor, CredentialSource, ExternalSigner, HTTPEngine
{
    private struct State {
        var waiting: [CheckedContinuation<Void, Never>] = []
        var count = 0
        var isOpen = false
    }

    private let state = Mutex(State())
    let scope = "held"
    let keyID = "kms"
    let algorithm = HTTPSignatureAlgorithm.ed25519
    let capabilities = EngineCapabilities(name: "hold", pinsPublicKeys: true, speaksHTTP2: false)

    /// How many have come.
    var count: Int { state.withLock { $0.count } }

    func come() { state.withLock { $0.count += 1 } }

    func wait() async {
        await withCheckedContinuation { continuation in
            let isOpen = state.withLock { state in
                state.count += 1
                if !state.isOpen { state.waiting.append(continuation) }
                return state.isOpen
            }
            if isOpen { continuation.resume() }
        }
    }

    func letGo() {
        let waiting = state.withLock { state in
            state.isOpen = true
            defer { state.waiting = [] }
            return state.waiting
        }
        for continuation in waiting { continuation.resume() }
    }

    func intercept(_ call: PendingCall, next: NextCall) async throws -> UnboxedResponse {
        await wait()
        return try await next(call)
    }

    func intercept(_ call: OutgoingCall, next: NextAttempt) async throws -> EngineResponse {
        await wait()
        return try await next(call)
    }

    func credential(
        replacing old: Credential?, for call: CallIdentity
    ) async throws -> Credential {
        await wait()
        return .bearer("1")
    }

    func sign(_ base: [UInt8]) async throws -> [UInt8] {
        await wait()
        return [UInt8](repeating: 1, count: 64)
    }

    func send(_ request: EngineRequest) async throws(TransportError) -> EngineResponse {
        await wait()
        throw TransportError(.connect, "down")
    }

    func shutdown() async {}
}

/// A place in which a call can wait for work that may never return.
enum WaitingPlace: CaseIterable, Sendable {
    case interceptor, attemptInterceptor, credentials, signer, body, engine, sharedWork, pause
    /// An interceptor that ends with its task.
    case sleep

    /// Whether all calls wait there together.
    var isShared: Bool { self == .credentials || self == .sharedWork }

    /// A system whose calls wait for `hold` in their places; the service `s` signs.
    static func system(
        _ hold: Hold, engine: (any HTTPEngine)? = nil
    ) async throws -> NetworkSystem {
        var options = NetworkSystem.Options()
        options.engine = engine ?? hold
        options.externalSigners = [hold]
        options.clock.sleep = { _ in await hold.wait() }
        var service = ServiceConfiguration(
            baseURL: "https://api.example.com/v1", payloadProtocol: .rest,
            timeout: .seconds(3600))
        let plain = service
        service.signing = .init(scheme: "rfc9421", keyID: hold.keyID)
        return try await NetworkSystem.start(
            services: ["a": plain, "s": service], policy: .allowingAll(), options: options)
    }

    /// Begins a call that will wait here.
    ///
    /// - Parameter number: The number of a host of the call's own, because hosts have budgets of
    ///   retries.
    func call(
        on system: NetworkSystem, _ hold: Hold, number: Int = 0
    ) -> Task<ClientError.Code?, Never> {
        var options = RequestOptions(tags: ["all"])
        switch self {
        case .interceptor: options.interceptors = [hold]
        case .attemptInterceptor: options.attemptInterceptors = [hold]
        case .credentials: options.credentials = hold
        case .sharedWork: options.duplicates = .join
        case .pause:
            options.baseURL = "https://\(number).example.com"
            options.attemptInterceptors = [Failing()]
        case .sleep: options.interceptors = [Sleeping(hold: hold)]
        case .signer, .body, .engine: break
        }
        let given = options
        return Task {
            await Pipeline.code { () async throws(ClientError) in
                if self == .body {
                    _ = try await system.exchange(
                        "s", method: .put, target: "/x", fields: [:], body: Self.body(hold),
                        options: given)
                } else {
                    _ = try await system.call(
                        RESTRequest(.get, "/x"), on: self == .signer ? "s" : "a", options: given)
                }
            }
        }
    }

    /// A body whose producer waits, while it is read for its digest.
    private static func body(_ hold: Hold) -> HTTPRequestBody {
        .replayable {
            AsyncStream<[UInt8]> {
                await hold.wait()
                return nil
            }
        }
    }

    private struct Failing: AttemptInterceptor {
        func intercept(_ call: OutgoingCall, next: NextAttempt) async throws -> EngineResponse {
            throw ClientError(.connect, "down")
        }
    }

    private struct Sleeping: CallInterceptor {
        let hold: Hold
        func intercept(_ call: PendingCall, next: NextCall) async throws -> UnboxedResponse {
            hold.come()
            try await Task.sleep(for: .seconds(3600))
            return try await next(call)
        }
    }
}
