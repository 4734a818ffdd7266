public import HTTPTypes

/// The rules for redirects: which are followed, and what is sent along.
///
/// Some rules are fixed: a redirect to a host that the pin policy refuses is refused, fields with
/// credentials or signatures never go to another origin, and the scheme must be http or https.
public struct RedirectPolicy: Sendable, Hashable {
    /// The maximum number of redirects in one call. With 0, a redirect is returned like any
    /// response.
    public var maximum = 5
    /// Whether redirects to another origin (scheme, host, port) are followed.
    public var crossesOrigins = true
    /// Whether a redirect may change the method to GET, as 303 does, and 301 and 302 do for POST.
    /// If `false`, such a redirect is refused.
    public var changesMethod = true
    /// Whether a redirect from `https` to an `http` URL of the same host is followed over `https`.
    /// A server sends such redirects if the proxy in front of it ends TLS. Without it, they are
    /// refused.
    public var staysOnHTTPS = false
    /// Additional fields to send to another origin.
    ///
    /// Always sent are Accept…, User-Agent, Range, If-Range and, with a body, Content-Type,
    /// Content-Encoding and Content-Language. Never sent are Authorization, Proxy-Authorization,
    /// Cookie, Signature, Signature-Input and Signet-Signature, even if they are listed here.
    public var fieldsForOtherOrigins: Set<HTTPField.Name> = []
    /// Whether a redirect may send a body to another origin. If `false`, the redirect is refused.
    public private(set) var sendsBodyAcrossOrigins = false
    /// Whether redirects from https to http are followed. A pinned host is never reached over http.
    public private(set) var allowsCleartext = false

    /// Creates the default rules: five redirects, no body to another origin, never from https to
    /// http.
    public init() {}

    /// Rules that follow no redirect.
    public static var never: RedirectPolicy {
        var policy = RedirectPolicy()
        policy.maximum = 0
        return policy
    }

    /// The choices that weaken security.
    public var dangerous: Dangerous {
        get { Dangerous(base: self) }
        set { self = newValue.base }
    }

    /// The choices that weaken security.
    public struct Dangerous: Sendable {
        fileprivate var base: RedirectPolicy

        /// Sends a request's body to any origin that a redirect names.
        public mutating func sendBodyAcrossOrigins() { base.sendsBodyAcrossOrigins = true }

        /// Follows redirects from https to http.
        public mutating func allowCleartext() { base.allowsCleartext = true }
    }
}

/// A redirect that was followed.
public struct Redirect: Sendable, Hashable {
    /// 301, 302, 303, 307 or 308.
    public let status: Int
    /// The URL that redirected.
    public let from: WebURL
    /// The URL that the redirect leads to.
    public let to: WebURL
    /// The method of the next request.
    public let method: HTTPRequest.Method
    /// Whether the next request has the body of the last one.
    public let keepsBody: Bool
    /// Whether the redirect leads to another origin.
    public var crossesOrigins: Bool { from.origin != to.origin }
}
