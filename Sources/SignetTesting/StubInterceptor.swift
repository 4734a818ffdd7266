public import SignetClient
import SignetTransport
import Synchronization

/// An interceptor that responds with stubs instead of the network, for debugging and for tests.
///
/// Give it to a system at its start, and add and remove stubs at any time. A call that no stub
/// matches is sent as if the interceptor were not there. Stubs respond only while the run mode is
/// `staging` or `development` (`app.runMode` of the configuration, or
/// `NetworkSystem.Options.runMode`): never in a release build.
///
/// A running system takes it as a stub (`system.stubs.add(stubs, for: .debugging)`), which
/// responds after the request was signed. For the module `business` it does so in production too.
///
/// ```swift
/// import SignetClient
///
/// func start(_ configuration: GlobalConfiguration, keys: KeySet) async throws {
///     let stubs = StubInterceptor()
///     var options = NetworkSystem.Options()
///     options.callOptions.attemptInterceptors = [stubs]
///     let system = try await NetworkSystem.start(configuration, keys: keys, options: options)
///     stubs.respond(to: .procedure("orders.create"), with: .failure(.timeout))
///     print(system.mode, stubs.isOn)
/// }
/// ```
public final class StubInterceptor: AttemptInterceptor, CallStub {
    private struct State {
        var isOn = true
        var stubs = StubEngine()
    }

    private let state = Mutex(State())

    /// Creates an interceptor without stubs.
    public init() {}

    /// Whether the stubs respond, if the mode lets them. Defaults to `true`.
    public var isOn: Bool {
        get { state.withLock { $0.isOn } }
        set { state.withLock { $0.isOn = newValue } }
    }

    /// Responds to matching requests with canned responses, as a `StubEngine`.
    public func respond(to matcher: StubMatcher = .any, with responses: StubResponse...) {
        stubs.respond(to: matcher, with: responses)
    }

    /// Removes all stubs.
    public func removeStubs() { state.withLock { $0.stubs = StubEngine() } }

    /// The requests that stubs responded to, in their order. Interceptors of attempts get them
    /// without signatures, and the stubs of a running system with them.
    public var requests: [RecordedRequest] { stubs.requests }

    /// Responds to an attempt, or sends it on.
    public func intercept(_ call: OutgoingCall, next: NextAttempt) async throws -> EngineResponse {
        let request = EngineRequest(call.request, body: call.body)
        let stubs = stubs
        guard call.mode != .production, isOn, stubs.responds(to: request) else {
            return try await next(call)
        }
        var response = try await stubs.send(request)
        response.source = .stub
        return response
    }

    /// Responds in place of the engine, if a stub matches the request. The module that the stub was
    /// added for decides in which modes it does.
    public func beforeEngine(
        _ request: EngineRequest, of call: CallIdentity
    ) async throws -> EngineResponse? {
        let stubs = stubs
        guard isOn, stubs.responds(to: request) else { return nil }
        return try await stubs.send(request)
    }

    private var stubs: StubEngine { state.withLock { $0.stubs } }
}
