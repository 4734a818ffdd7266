/// An engine that ends a request when a ``RequestCancellation`` says so, although the request's
/// task isn't cancelled.
///
/// Calls through such an engine can run in the tasks of their callers, which saves processor time.
/// They have no other end: if the engine doesn't hear of it, the caller waits, and the system's
/// shutdown too. Calls through any other engine run in tasks of their own, which are cancelled.
///
/// ```swift
/// import Synchronization
///
/// /// Counts the requests of another engine.
/// final class CountingEngine: CancellableHTTPEngine {
///     let engine: any CancellableHTTPEngine
///     var capabilities: EngineCapabilities { engine.capabilities }
///     let count = Atomic(0)
///
///     init(_ engine: any CancellableHTTPEngine) { self.engine = engine }
///
///     func send(
///         _ request: EngineRequest, cancelledBy cancellation: any RequestCancellation
///     ) async throws(TransportError) -> EngineResponse {
///         count.add(1, ordering: .relaxed)
///         return try await engine.send(request, cancelledBy: cancellation)
///     }
///
///     func send(_ request: EngineRequest) async throws(TransportError) -> EngineResponse {
///         count.add(1, ordering: .relaxed)
///         return try await engine.send(request)
///     }
///
///     func shutdown() async { await engine.shutdown() }
/// }
/// ```
public protocol CancellableHTTPEngine: HTTPEngine {
    /// Sends a request as ``HTTPEngine/send(_:)`` does, and ends it if `cancellation` says so.
    ///
    /// The request then ends within 100 ms: this function throws, or the next read of the
    /// response's body does. The engine needn't watch the task, because the caller's cancellation
    /// reaches `cancellation`. An engine that wraps another passes `cancellation` on.
    ///
    /// - Throws: `TransportError`, with code `cancelled` after a cancellation.
    func send(
        _ request: EngineRequest, cancelledBy cancellation: any RequestCancellation
    ) async throws(TransportError) -> EngineResponse
}

/// Tells an engine that a request is cancelled.
public protocol RequestCancellation: AnyObject, Sendable {
    /// Calls an action once, on any thread, when the request is cancelled: at once if it has been.
    /// The action must not block.
    func onCancel(_ action: @escaping @Sendable () -> Void)
}
