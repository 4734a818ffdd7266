public import HTTPTypes

/// Which redirects are followed, and what goes with them.
///
/// What is not said here is fixed: a host that the pin policy refuses is refused, fields with
/// credentials or signatures never go to another origin, and only http and https are spoken.
public struct RedirectPolicy: Sendable, Hashable {
    /// How many redirects one call follows; 0 follows none and hands the reply back as it is.
    public var maximum = 5
    /// Whether another origin (scheme, host, port) is followed to.
    public var crossesOrigins = true
    /// Whether a method may become GET, as 303 wants and 301 and 302 do to POST; else such a redirect
    /// is refused.
    public var changesMethod = true
    /// Fields that go to another origin beside those that describe what is asked for (Accept…,
    /// User-Agent, Range, If-Range; of a body that goes, Content-Type, -Encoding and -Language). What is listed of
    /// Authorization, Proxy-Authorization, Cookie, Signature, Signature-Input and Signet-Signature stays.
    public var fieldsForOtherOrigins: Set<HTTPField.Name> = []
    /// Whether 307 and 308 take a body to another origin.
    public private(set) var sendsBodyAcrossOrigins = false
    /// Whether https is left for http; never to a pinned host.
    public private(set) var allowsCleartext = false

    /// The standard rules: five redirects, no body to another origin, never from https to http.
    public init() {}

    /// No redirect is followed.
    public static var none: RedirectPolicy {
        var policy = RedirectPolicy()
        policy.maximum = 0
        return policy
    }

    /// The weak choices, each by its name.
    public var dangerous: Dangerous {
        get { Dangerous(base: self) }
        set { self = newValue.base }
    }

    /// The door to the weak choices.
    public struct Dangerous: Sendable {
        fileprivate var base: RedirectPolicy

        /// Lets 307 and 308 take a request's body to whatever origin the server names.
        public mutating func sendBodyAcrossOrigins() { base.sendsBodyAcrossOrigins = true }

        /// Lets a server send a request on from https to http.
        public mutating func allowCleartext() { base.allowsCleartext = true }
    }
}

/// One redirect that was followed.
public struct Redirect: Sendable, Hashable {
    /// 301, 302, 303, 307 or 308.
    public let status: Int
    /// Where the reply came from.
    public let from: WebURL
    /// Where it leads.
    public let to: WebURL
    /// The method of the next request.
    public let method: HTTPRequest.Method
    /// Whether the body goes with it.
    public let keepsBody: Bool
    /// Whether it leads to another origin.
    public var crossesOrigins: Bool { from.origin != to.origin }
}
