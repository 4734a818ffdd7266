/// Something that happened to a call. For each call there is one `started`, then its attempts and
/// retries, and one `finished`.
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
    /// An attempt begins; the number counts from 1.
    case attempt(CallIdentity, number: Int)
    /// Another attempt follows after a pause; the reason is the code of the failure or the status.
    case retrying(CallIdentity, reason: String, pause: Duration)
    /// The call ended.
    case finished(CallRecord)

    /// The call.
    public var identity: CallIdentity {
        switch self {
        case .started(let identity), .attempt(let identity, _), .retrying(let identity, _, _):
            identity
        case .finished(let record): record.identity
        }
    }
}

/// The record of one call, from its admission to its end. It contains no field, body, query or user info.
public struct CallRecord: Sendable, Hashable {
    /// Which call it was.
    public let identity: CallIdentity
    /// The URL without its query; nil if the call failed before it was built.
    public let url: String?
    /// The attempts with their requests, redirects and timings.
    public let attempts: [CallTrace.Attempt]
    /// The time from the admission to the end.
    public let duration: Duration
    /// The status of the last response; nil if there was none.
    public let status: Int?
    /// The code of the call's error; nil for a success.
    public let failure: ClientError.Code?
}
