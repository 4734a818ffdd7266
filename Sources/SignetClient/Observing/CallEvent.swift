/// Something that happened to a call.
///
/// The events of one call come in this order:
///
/// 1. `started`, once.
/// 2. `joined`, once, if the call shares the work of an equal one or leaves in one request with
///    others (``RequestOptions/merging``). It then gets the events of the shared work from now on,
///    so that its first attempt may be a later one than number 1.
/// 3. `readingCache`, for each look into a cache. A call that is answered with a stored response
///    has no attempt.
/// 4. `attempt`, `redirected` for each redirect, and `readingResponse`, for each attempt;
///    `retrying` before an attempt that follows after a pause. A call that an interceptor responds
///    to has no attempt.
/// 5. `finished`, once, at any time after `started`. No event of the call follows.
///
/// ```swift
/// func printCalls(of system: NetworkSystem) async {
///     for await event in system.events {
///         if case .finished(let record) = event { print(record.identity.method, record.duration) }
///     }
/// }
/// ```
public enum CallEvent: Sendable {
    /// The call was admitted.
    case started(CallIdentity)
    /// The call waits for the work of another one (`DuplicatePolicy.join`), or leaves in its
    /// request (``RequestOptions/merging``).
    case joined(CallIdentity, to: CallIdentity.ID)
    /// A response is looked for in the cache.
    case readingCache(CallIdentity)
    /// An attempt begins; the number counts from 1. One that is repeated with a new credential, or
    /// because a download has to begin again, keeps its number.
    case attempt(CallIdentity, number: Int)
    /// The attempt is led to another URL.
    case redirected(CallIdentity, CallRecord.Redirect)
    /// The header of a response has arrived, and its body is read.
    case readingResponse(CallIdentity, status: Int)
    /// Another attempt follows after a pause; the reason is the code of the failure or the status.
    case retrying(CallIdentity, reason: String, pause: Duration)
    /// The call ended; `record.outcome` says whether it succeeded, failed or was cancelled.
    case finished(CallRecord)

    /// The call.
    public var identity: CallIdentity {
        switch self {
        case .started(let identity), .joined(let identity, _), .readingCache(let identity),
            .attempt(let identity, _),
            .redirected(let identity, _), .readingResponse(let identity, _),
            .retrying(let identity, _, _):
            identity
        case .finished(let record): record.identity
        }
    }
}
