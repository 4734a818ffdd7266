public import HTTPTypes
public import SignetRPC
public import SignetTransport
import Synchronization

/// Code that acts at named places of a call, for debugging, for tests, or for a purpose of the
/// program's business.
///
/// A stub implements the places that it needs; at the others, and for calls that don't concern it,
/// it returns what it was given, which changes nothing. It is added and removed while the system
/// runs (``NetworkSystem/stubs``).
///
/// ```swift
/// struct Maintenance: CallStub {
///     func beforeEngine(
///         _ request: EngineRequest, of call: CallIdentity
///     ) async throws -> EngineResponse? {
///         guard call.service == "orders" else { return nil }
///         return EngineResponse(
///             response: HTTPResponse(status: .serviceUnavailable),
///             body: HTTPResponseBody(bytes: []), httpVersion: .init(major: 1, minor: 1))
///     }
/// }
///
/// func close(_ system: NetworkSystem) -> StubInstallation {
///     system.stubs.add(Maintenance(), for: .business)
/// }
/// ```
public protocol CallStub: Sendable {
    /// Acts before the adapter boxes a request: in a batch each of its calls.
    ///
    /// - Throws: As `CallInterceptor.intercept(_:next:)`, here and at the other places.
    func beforeBoxing(
        _ request: CallRequest, of call: CallIdentity
    ) async throws -> CallRequest
    /// Acts before a request is signed, each time that one is sent. The scheme and the host can't
    /// be changed.
    func beforeSigning(
        _ request: HTTPRequest, of call: CallIdentity
    ) async throws -> HTTPRequest
    /// Acts before the engine gets a request. A response takes the engine's place, and nothing is
    /// sent; nil sends the request.
    func beforeEngine(
        _ request: EngineRequest, of call: CallIdentity
    ) async throws -> EngineResponse?
    /// Acts on the engine's response, before its body is read.
    func afterEngine(
        _ response: EngineResponse, of call: CallIdentity
    ) async throws -> EngineResponse
    /// Acts on the response that the caller gets, before it is converted: in a batch the result of
    /// each call. The identity is the batch's.
    func beforeDelivery(
        _ response: UnboxedResponse, of call: CallIdentity
    ) async throws -> UnboxedResponse
}

extension CallStub {
    /// Returns the request.
    public func beforeBoxing(
        _ request: CallRequest, of call: CallIdentity
    ) async throws -> CallRequest { request }

    /// Returns the request.
    public func beforeSigning(
        _ request: HTTPRequest, of call: CallIdentity
    ) async throws -> HTTPRequest { request }

    /// Returns nil: the engine sends the request.
    public func beforeEngine(
        _ request: EngineRequest, of call: CallIdentity
    ) async throws -> EngineResponse? { nil }

    /// Returns the response.
    public func afterEngine(
        _ response: EngineResponse, of call: CallIdentity
    ) async throws -> EngineResponse { response }

    /// Returns the response.
    public func beforeDelivery(
        _ response: UnboxedResponse, of call: CallIdentity
    ) async throws -> UnboxedResponse { response }
}

/// The part of a program that a stub belongs to, which can be switched as a whole.
public struct StubModule: Sendable, Hashable, CustomStringConvertible {
    /// The name, as in the configuration's key `stubs.NAME`.
    public let name: String

    /// For debugging: acts in the run modes staging and development alone.
    public static let debugging = StubModule(name: "debugging")
    /// For tests: acts in the run modes staging and development alone.
    public static let testing = StubModule(name: "testing")
    /// For the program's business: acts in production too.
    public static let business = StubModule(name: "business")

    static let all = [debugging, testing, business]

    /// The name.
    public var description: String { name }
}

/// The stubs of a system, which may be added, removed and switched while it runs.
///
/// A call has the stubs that act when it begins. A module's stubs act if it is on here, if the
/// configuration doesn't switch it off (boolean `stubs.NAME`), and if the run mode lets them. They
/// act in the order in which they were added.
public final class CallStubs: Sendable {
    private struct State {
        var stubs: [(number: Int, stub: ActiveStub)] = []
        var off: Set<StubModule> = []
        var lastNumber = 0
    }

    private let state = Mutex(State())
    private let count = Atomic(0)

    /// Creates a place without stubs.
    public init() {}

    /// Adds a stub for calls that begin from now on.
    ///
    /// - Returns: The installation, which removes the stub. The stub stays even if the installation
    ///   is released.
    @discardableResult
    public func add(_ stub: any CallStub, for module: StubModule) -> StubInstallation {
        let number = state.withLock { state in
            state.lastNumber += 1
            state.stubs.append((state.lastNumber, ActiveStub(stub: stub, module: module)))
            count.store(state.stubs.count, ordering: .releasing)
            return state.lastNumber
        }
        return StubInstallation(stubs: self, number: number)
    }

    /// Removes all stubs of a module.
    public func removeAll(of module: StubModule) { remove { $0.stub.module == module } }

    /// Whether a module's stubs act, if configuration and run mode let them. Defaults to `true`.
    public subscript(isOn module: StubModule) -> Bool {
        get { state.withLock { !$0.off.contains(module) } }
        set {
            state.withLock { state in
                if newValue { state.off.remove(module) } else { state.off.insert(module) }
            }
        }
    }

    fileprivate func remove(_ number: Int) { remove { $0.number == number } }

    private func remove(_ isMeant: ((number: Int, stub: ActiveStub)) -> Bool) {
        // Freed after the lock was released.
        _ = state.withLock { state in
            let removed = state.stubs.filter(isMeant)
            state.stubs.removeAll(where: isMeant)
            count.store(state.stubs.count, ordering: .releasing)
            return removed
        }
    }

    /// The stubs that act in a call that begins now.
    ///
    /// - Parameter allowed: The modules that configuration and run mode let act.
    func active(of allowed: () -> Set<StubModule>) -> [ActiveStub] {
        guard count.load(ordering: .acquiring) > 0 else { return [] }
        let allowed = allowed()
        return state.withLock { state in
            state.stubs.map(\.stub)
                .filter { allowed.contains($0.module) && !state.off.contains($0.module) }
        }
    }
}

/// A stub that was added to a system, until it is removed.
public struct StubInstallation: Sendable {
    let stubs: CallStubs
    let number: Int

    /// Removes the stub. Calls that have begun keep it.
    public func remove() { stubs.remove(number) }
}

/// A stub with its module.
struct ActiveStub: Sendable {
    let stub: any CallStub
    let module: StubModule
}
