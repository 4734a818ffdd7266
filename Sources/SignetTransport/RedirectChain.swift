public import HTTPTypes
public import SignetPinning

/// The redirects of one call: judges each (RFC 9110, section 15.4) and makes the next request.
public struct RedirectChain: Sendable {
    private struct Visit: Hashable {
        let method: HTTPRequest.Method
        let url: WebURL
    }

    /// Whether a request has a body, and whether it can be sent again.
    public enum BodyKind: Sendable, Hashable {
        /// There is none.
        case none
        /// Bytes that are held, or read again from their start.
        case replayable
        /// Bytes that are gone once they are sent.
        case once
    }

    private static let statuses: Set<Int> = [301, 302, 303, 307, 308]
    private static let plainFields: Set<String> = [
        "accept", "accept-charset", "accept-encoding", "accept-language", "user-agent", "range",
        "if-range",
    ]
    private static let bodyFields: Set<String> = [
        "content-type", "content-encoding", "content-language",
    ]
    /// What stands beside a body and goes where it goes, besides what begins with `content-`.
    private static let fieldsOfABody: Set<String> = [
        "digest", "repr-digest", "last-modified", "expect", "trailer", "transfer-encoding",
    ]

    /// Credentials and signatures, which go to no other origin though the rules list them.
    private static let ownFields: Set<String> = [
        "authorization", "proxy-authorization", "cookie", "signature", "signature-input",
        "signet-signature",
    ]

    /// The rules.
    public let policy: RedirectPolicy
    /// What was followed so far.
    public private(set) var redirects: [Redirect] = []
    /// The request as it is to be sent now, without a signature.
    public private(set) var request: HTTPRequest
    /// Whether the call has never left its first origin. Once it has, it is not signed and carries no
    /// credentials any more, also where it is led back: another's server chose that request.
    public private(set) var isWithinOrigin = true

    private var url: WebURL
    private var visits: Set<Visit>

    /// Begins with the first request.
    ///
    /// - Throws: `TransportError` with code `invalid-request` where it names no http or https URL.
    public init(_ request: HTTPRequest, policy: RedirectPolicy) throws(TransportError) {
        self.policy = policy
        self.request = request
        self.url = try WebURL(request)
        self.visits = [Visit(method: request.method, url: url)]
    }

    /// Judges a reply.
    ///
    /// - Parameters:
    ///   - response: The reply to `request`.
    ///   - body: What of a body went with it.
    ///   - pins: The policy that the next host must pass.
    ///   - now: Unix time in seconds, for the policy's dates.
    ///   - parameters: Names of the query's parameters that a signature added, which are not sent on.
    /// - Returns: The redirect that is followed, its request in `request`; nil where the reply is the
    ///   call's answer: no redirect, one without Location, or none is followed.
    /// - Throws: `TransportError` that names from, to and rule: `redirect-refused`, `redirect-loop`,
    ///   `too-many-redirects`, `body-not-replayable`, `malformed-reply`, or the pin policy's refusal.
    public mutating func follow(
        _ response: HTTPResponse, body: BodyKind = .none, pins: PinPolicy?, now: Int64,
        droppingParameters parameters: Set<String> = []
    ) throws(TransportError) -> Redirect? {
        let status = response.status.code
        guard policy.maximum > 0, Self.statuses.contains(status) else { return nil }
        let locations = response.headerFields[values: .location]
        guard let location = locations.first else { return nil }
        guard locations.allSatisfy({ $0.utf8.elementsEqual(location.utf8) }) else {
            throw failure(.malformedReply, status, nil, "its Location fields differ")
        }
        let to: WebURL
        do throws(TransportError) {
            to = try url.resolving(location).removing(parameters: parameters)
        } catch {
            throw failure(error.code, status, nil, error.message)
        }
        let method = Self.method(after: status, request.method)
        let redirect = Redirect(
            status: status, from: url, to: to, method: method,
            keepsBody: body != .none && method == request.method)
        try check(redirect, body, pins: pins, now: now)
        guard visits.insert(Visit(method: method, url: to)).inserted else {
            throw failure(.redirectLoop, status, to, "the call was there before: a loop")
        }
        guard redirects.count < policy.maximum else {
            throw failure(
                .tooManyRedirects, status, to, "\(policy.maximum) were followed, which is the most")
        }
        go(redirect)
        return redirect
    }

    private func check(
        _ redirect: Redirect, _ body: BodyKind, pins: PinPolicy?, now: Int64
    ) throws(TransportError) {
        let to = redirect.to
        let decision = pins?.decision(
            for: to.origin.host, isSecure: to.origin.isSecure, now: now)
        if let refusal = decision?.refusal {
            let error = TransportError(refusal)
            var pinRefusal = error.pinRefusal
            pinRefusal?.port = to.origin.port
            throw failure(error.code, redirect.status, to, error.message, pinRefusal)
        }
        let rule: String? =
            if url.origin.isSecure, !to.origin.isSecure, !policy.allowsCleartext {
                "https is not left for http"
            } else if redirect.crossesOrigins, !policy.crossesOrigins {
                "another origin is not followed to"
            } else if redirect.method != request.method, !policy.changesMethod {
                "it would turn \(request.method.rawValue) into \(redirect.method.rawValue)"
            } else if redirect.crossesOrigins, redirect.keepsBody, !policy.sendsBodyAcrossOrigins {
                "a body is not sent to another origin"
            } else {
                nil
            }
        if let rule { throw failure(.redirectRefused, redirect.status, to, rule) }
        guard !redirect.keepsBody || body == .replayable else {
            throw failure(
                .bodyNotReplayable, redirect.status, to,
                "the body was read once and cannot be sent again")
        }
    }

    private mutating func go(_ redirect: Redirect) {
        isWithinOrigin = isWithinOrigin && !redirect.crossesOrigins
        var fields = HTTPFields()
        for field in request.headerFields {
            let name = field.name.canonicalName
            if name == "host" { continue }
            let isOfBody = name.hasPrefix("content-") || Self.fieldsOfABody.contains(name)
            // A method that stays keeps what the caller said of an empty body.
            if isOfBody, redirect.method != request.method { continue }
            if redirect.crossesOrigins {
                let isPlain =
                    Self.plainFields.contains(name)
                    || redirect.keepsBody && Self.bodyFields.contains(name)
                let isListed =
                    policy.fieldsForOtherOrigins.contains(field.name)
                    && !Self.ownFields.contains(name)
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

    /// The method of the next request: 303 asks for GET, and 301 and 302 turn POST into it, as all
    /// clients do (RFC 9110, sections 15.4.2 to 15.4.4; the Fetch standard, "HTTP-redirect fetch").
    private static func method(
        after status: Int, _ method: HTTPRequest.Method
    ) -> HTTPRequest.Method {
        switch status {
        case 303: method == .head ? .head : .get
        case 301, 302: method == .post ? .get : method
        default: method
        }
    }

    private func failure(
        _ code: TransportError.Code, _ status: Int, _ to: WebURL?, _ rule: String,
        _ pins: PinRefusal? = nil
    ) -> TransportError {
        TransportError(
            code: code,
            message: "redirect \(status) from \(url)\(to.map { " to \($0)" } ?? ""): \(rule)",
            pinRefusal: pins)
    }
}
