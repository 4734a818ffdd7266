/// The rule for a call that begins while another one of the same identity is running.
///
/// Two calls have the same identity if service, base URL, method, path, parameters, additional
/// fields, sets, JSON conventions and the credentials' scope are equal, and both see the same
/// configuration. The policy holds for `call` and `send`; batches, exchanges, streams, uploads and
/// downloads always run.
///
/// ```swift
/// struct ListOrders: Endpoint {
///     var service: ServiceName { "orders" }
///     var method: RPCMethod { "orders.list" }
///     var callOptions: RequestOptions {
///         var options = RequestOptions()
///         options.duplicates = .join
///         return options
///     }
///     typealias Success = [String]
/// }
/// ```
public enum DuplicatePolicy: Sendable, Hashable {
    /// Both run. This is the default.
    case allow
    /// The later call waits for the response of the running one. Cancelling one of them leaves the
    /// others; the request is cancelled with the last one.
    ///
    /// Only calls with the same scenario, engine choice, compression, redirects, `idempotency` and
    /// `maximumResponseSize` join. Each has its own deadline and response checks; the other
    /// options, such as retries and the timeout of an attempt, are those of the call that began.
    ///
    /// A call whose endpoint or own options have interceptors equals no other, for `refuse` and
    /// `replace` too, because they may put a user's data into the request. Interceptors of the
    /// system and of services run for all calls alike: if one adds data of the caller's user, such
    /// as a task-local value, other users get that user's response. Give such data as
    /// ``RequestOptions/fields`` or ``RequestOptions/credentials`` of the call.
    case join
    /// The later call ends with `already-running`.
    case refuse
    /// The running call ends with `replaced`.
    case replace
}
