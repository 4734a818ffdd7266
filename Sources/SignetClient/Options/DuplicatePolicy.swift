/// The rule for a call that begins while another one that does the same is running.
///
/// The scope says which calls do the same: equal ones, all calls of the API, or those with the same
/// text. The policy holds for `call` and `send`; batches, exchanges, streams, uploads and downloads
/// always run.
///
/// Here the newest filter of a list replaces the one before, and a list that is loading isn't
/// loaded twice:
///
/// ```swift
/// struct Search: Endpoint {
///     var service: ServiceName { "shop" }
///     var method: RPCMethod { "flats.search" }
///     var callOptions: RequestOptions {
///         var options = RequestOptions()
///         options.duplicates = .replace(.sameAPI)
///         return options
///     }
///     var kind: String
///     var price: Int?
///     typealias Success = [String]
/// }
///
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
public struct DuplicatePolicy: Sendable, Hashable {
    /// Which calls do the same.
    public struct Scope: Sendable, Hashable {
        enum Kind: Sendable, Hashable {
            case equalCalls, sameAPI
            case text(String)
        }

        let kind: Kind

        /// Calls whose service, base URL, method, path, parameters, additional fields, sets, JSON
        /// conventions and credentials' scope are equal, and that see the same configuration.
        ///
        /// A call whose endpoint or own options have interceptors of attempts equals no other,
        /// because they may put a user's data into the request.
        public static let equalCalls = Scope(kind: .equalCalls)
        /// Calls of the same service and method with the same credentials' scope, whatever their
        /// parameters are. Of REST calls the paths must be equal too, but for the values in them
        /// (``CallIdentity/path``).
        public static let sameAPI = Scope(kind: .sameAPI)

        /// Calls of the system with the same text, whatever they do.
        public static func text(_ text: String) -> Scope { Scope(kind: .text(text)) }
    }

    enum Kind: Sendable, Hashable {
        case allow, join
        case refuse(Scope)
        case replace(Scope)
    }

    let kind: Kind

    /// Both run. This is the default.
    public static let allow = DuplicatePolicy(kind: .allow)
    /// The later call waits for the response of the equal one that is running. Cancelling one of
    /// them leaves the others; the request is cancelled with the last one.
    ///
    /// Only calls with the same scenario, engine choice, compression, redirects, `idempotency` and
    /// `maximumResponseSize` join. Each has its own deadline, interceptors and response checks; the
    /// other options, such as retries and the timeout of an attempt, are those of the call that
    /// began.
    ///
    /// Interceptors of attempts of the system and of services run once, for the call that began:
    /// if one adds data of the caller's user, such as a task-local value, other users get that
    /// user's response. Give such data as ``RequestOptions/fields`` or
    /// ``RequestOptions/credentials`` of the call, or in a ``CallInterceptor``, whose changes
    /// belong to the call's identity.
    public static let join = DuplicatePolicy(kind: .join)
    /// The later call ends with `already-running` if an equal one is running.
    public static let refuse = refuse(.equalCalls)
    /// The equal running call ends with `replaced`.
    public static let replace = replace(.equalCalls)

    /// The later call ends with `already-running`.
    public static func refuse(_ scope: Scope) -> DuplicatePolicy {
        DuplicatePolicy(kind: .refuse(scope))
    }

    /// The running call ends with `replaced`.
    public static func replace(_ scope: Scope) -> DuplicatePolicy {
        DuplicatePolicy(kind: .replace(scope))
    }
}
