public import HTTPTypes
import SignetBase
public import SignetPinning

/// The redirects of one call: checks each (RFC 9110, section 15.4) and creates the next request.
public struct RedirectChain: Sendable {
    /// Whether a request has a body, and whether it can be sent again.
    public enum BodyKind: Sendable, Hashable {
        /// The request has no body.
        case none
        /// The body can be read again from its start.
        case replayable
        /// The body can be read only once.
        case once
    }

    package static let statuses: Set<Int> = [301, 302, 303, 307, 308]
    /// Fields that go to other origins too.
    private static let plainFields: Set<String> = [
        "accept", "accept-charset", "accept-encoding", "accept-language", "user-agent", "range",
        "if-range",
    ]
    /// Fields that go to another origin only with the body.
    private static let bodyFields: Set<String> = [
        "content-type", "content-encoding", "content-language",
    ]
    /// Fields that describe a body, besides those that begin with `content-`.
    private static let otherContentFields: Set<String> = [
        "digest", "repr-digest", "last-modified", "expect", "trailer", "transfer-encoding",
    ]

    /// Credentials and signatures. They never go to another origin, even if the policy lists them.
    private static let secretFields: Set<String> = [
        "authorization", "proxy-authorization", "cookie", "signature", "signature-input",
        "signet-signature",
    ]

    /// The policy that the chain follows.
    public let policy: RedirectPolicy
    /// The redirects that were followed so far.
    public private(set) var redirects: [Redirect] = []
    /// The next request to send, without a signature.
    public private(set) var request: HTTPRequest
    /// The URL of `request`.
    public private(set) var url: WebURL
    /// Whether the call has never left its first origin.
    ///
    /// If it has, send the next request without a signature or credentials, even if a redirect
    /// leads back: another server chose that request.
    public private(set) var isWithinOrigin = true

    /// Creates a chain that starts with the first request.
    ///
    /// - Throws: `TransportError` with code `invalid-request` if the request has no http or https
    ///   URL.
    public init(_ request: HTTPRequest, policy: RedirectPolicy) throws(TransportError) {
        self.init(request, at: try WebURL(request), policy: policy)
    }

    /// Creates a chain that starts with a request whose origin is known.
    package init(_ request: HTTPRequest, at origin: WebOrigin, policy: RedirectPolicy) {
        let url = WebURL(
            origin: origin, authority: request.authority ?? origin.authority,
            target: request.path ?? "/")
        self.init(request, at: url, policy: policy)
    }

    private init(_ request: HTTPRequest, at url: WebURL, policy: RedirectPolicy) {
        self.policy = policy
        self.request = request
        self.url = url
    }

    /// Checks a response and, if it is a redirect, prepares the next request.
    ///
    /// - Parameters:
    ///   - response: The response to `request`.
    ///   - body: Whether `request` had a body that can be sent again.
    ///   - pins: The pin policy, which the next host must satisfy.
    ///   - now: Unix time in seconds, for the policy's dates; nil means now.
    ///   - parameters: The names of query parameters that a signature added. They are removed.
    /// - Returns: The followed redirect, after which `request` is the next request. `nil` if the
    ///   response is final: not a redirect, without a Location field, or `policy.maximum` is 0.
    /// - Throws: `TransportError` that names both URLs and the violated rule: `redirect-refused`,
    ///   `too-many-redirects`, `body-not-replayable`, `malformed-response`, or the policy's
    ///   refusal.
    public mutating func follow(
        _ response: HTTPResponse, body: BodyKind = .none, pins: PinPolicy?, now: Int64? = nil,
        droppingParameters parameters: Set<String> = []
    ) throws(TransportError) -> Redirect? {
        let status = response.status.code
        guard policy.maximum > 0, Self.statuses.contains(status) else { return nil }
        let locations = response.headerFields[values: .location]
        guard let location = locations.first else { return nil }
        guard locations.allSatisfy({ sameBytes($0, location) }) else {
            throw failure(
                .malformedResponse, status: status, rule: "found Location fields that differ")
        }
        var to: WebURL
        do throws(TransportError) {
            to = try url.resolving(location).removing(parameters: parameters)
            if policy.staysOnHTTPS { to = to.stayingOnHTTPS(of: url) }
        } catch {
            throw failure(error.code, status: status, rule: error.message)
        }
        let method = Self.method(after: status, replacing: request.method)
        let redirect = Redirect(
            status: status, from: url, to: to, method: method,
            keepsBody: body != .none && method == request.method)
        try check(redirect, body: body, pins: pins, now: now ?? UnixTime.now())
        // A server may lead to a URL again, for example after it has set a cookie.
        guard redirects.count < policy.maximum else {
            let isCircle = url == to || redirects.contains { $0.from == to }
            throw failure(
                .tooManyRedirects, status: status, to: to,
                rule: "the call has followed \(policy.maximum) redirects, which is the limit"
                    + (isCircle ? "; it has requested this URL before" : ""))
        }
        advance(along: redirect)
        return redirect
    }

    private func check(
        _ redirect: Redirect, body: BodyKind, pins: PinPolicy?, now: Int64
    ) throws(TransportError) {
        let to = redirect.to
        let decision = pins?.decision(
            for: to.origin.host, isSecure: to.origin.isSecure, now: now, port: to.origin.port)
        if let refusal = decision?.refusal {
            throw failure(
                TransportError(refusal).code, status: redirect.status, to: to,
                rule: refusal.message, pinRefusal: refusal)
        }
        let rule: String? =
            if url.origin.isSecure, !to.origin.isSecure, !policy.allowsCleartext {
                "redirects from https to http are not followed"
            } else if redirect.crossesOrigins, !policy.crossesOrigins {
                "redirects to another origin are not followed"
            } else if redirect.method != request.method, !policy.changesMethod {
                "it would change the method \(request.method.rawValue) to \(redirect.method.rawValue)"
            } else if redirect.crossesOrigins, redirect.keepsBody, !policy.sendsBodyAcrossOrigins {
                "a body is not sent to another origin"
            } else {
                nil
            }
        if let rule { throw failure(.redirectRefused, status: redirect.status, to: to, rule: rule) }
        guard !redirect.keepsBody || body == .replayable else {
            throw failure(
                .bodyNotReplayable, status: redirect.status, to: to,
                rule: "the body can be read only once and was sent before")
        }
    }

    private mutating func advance(along redirect: Redirect) {
        isWithinOrigin = isWithinOrigin && !redirect.crossesOrigins
        var fields = HTTPFields()
        for field in request.headerFields {
            let name = field.name.canonicalName
            if name == "host" { continue }
            let describesBody =
                name.startsWithBytes(of: "content-") || Self.otherContentFields.contains(name)
            // A request whose method stays keeps these fields, even if its body is empty.
            if describesBody, redirect.method != request.method { continue }
            if redirect.crossesOrigins {
                let isPlain =
                    Self.plainFields.contains(name)
                    || redirect.keepsBody && Self.bodyFields.contains(name)
                let isListed =
                    policy.fieldsForOtherOrigins.contains(field.name)
                    && !Self.secretFields.contains(name)
                guard isPlain || isListed else { continue }
            }
            fields.append(field)
        }
        redirects.append(redirect)
        url = redirect.to
        request = HTTPRequest(
            method: redirect.method, scheme: url.origin.scheme, authority: url.origin.authority,
            path: url.target, headerFields: fields)
    }

    /// Returns the method of the next request: 303 asks for GET, and 301 and 302 change POST to
    /// GET, as in all clients (RFC 9110, sections 15.4.2 to 15.4.4; the Fetch standard,
    /// "HTTP-redirect fetch").
    private static func method(
        after status: Int, replacing method: HTTPRequest.Method
    ) -> HTTPRequest.Method {
        switch status {
        case 303: method == .head ? .head : .get
        case 301, 302: method == .post ? .get : method
        default: method
        }
    }

    private func failure(
        _ code: TransportError.Code, status: Int, to: WebURL? = nil, rule: String,
        pinRefusal: PinRefusal? = nil
    ) -> TransportError {
        TransportError(
            code, "redirect \(status) from \(url)\(to.map { " to \($0)" } ?? ""): \(rule)",
            pinRefusal: pinRefusal)
    }
}
