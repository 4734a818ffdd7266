import HTTPTypes
import SignetRPC
import SignetTransport

/// A request that the service's adapter has boxed.
struct BoxedCall: Sendable {
    var request: BoxedRequest
    /// The URL that the request's path is added to.
    var base: WebURL
    /// The body in place of the request's bytes.
    var stream: HTTPRequestBody?
}

extension CallContext {
    /// Boxes a request.
    func box(_ request: CallRequest) throws(ClientError) -> BoxedCall {
        log.contents?.begin(.building) { $0.message(request) }
        switch request {
        case .procedure(let call, let path):
            let call = try service.joiningCommonParameters(call)
            let boxed = try ClientError.rpc { () throws(PayloadError) in
                try service.adapter.box(call)
            }
            let base = try path.map { path throws(ClientError) in
                try service.url.appending(path: path)
            }
            return BoxedCall(request: boxed, base: base ?? service.url)
        case .resource(let request):
            return BoxedCall(request: try service.box(request), base: service.url)
        }
    }

    /// Unboxes a response and asks the response checks.
    func unboxAndCheck(
        _ raw: RawResponse, to boxed: BoxedRequest
    ) throws(ClientError) -> UnboxedResponse {
        log.setRaw(raw)
        log.contents?.begin(.unboxing) { $0.message(raw) }
        let response = try unbox(raw, to: boxed)
        log.contents?.end(.unboxing) { $0.message(response) }
        // Each call that shares the work asks its own checks.
        if joint == nil { try check(response) }
        return response
    }

    /// Unboxes a response.
    func unbox(
        _ raw: RawResponse, to boxed: BoxedRequest
    ) throws(ClientError) -> UnboxedResponse {
        let raw = try opened(raw, to: boxed)
        do throws(PayloadError) {
            var response = try service.adapter.unbox(raw, to: boxed)
            response.raw = raw
            if let json = options.json { response.result?.conventions = json }
            return response
        } catch {
            throw ClientError(error)
        }
    }

    /// Asks the call's response checks.
    ///
    /// - Throws: `business-code`.
    func check(_ response: UnboxedResponse) throws(ClientError) {
        for check in options.responseChecks ?? [] {
            guard let reason = check.failure(in: response) else { continue }
            if let code = (check as? BusinessCodeCheck)?.code(in: response) {
                log.setServerCode(code)
            }
            throw ClientError(
                .businessCode, reason, status: response.status, response: response)
        }
    }

    /// Checks the URL rules.
    func checkURL(of call: OutgoingCall) throws(ClientError) {
        guard !snapshot.urlRules.isEmpty else { return }
        try snapshot.urlRules.check(WebURL(of: call.request))
    }

    /// Checks that an interceptor left scheme and host as they were, and checks the URL rules
    /// again.
    func requireSameOrigin(
        _ changed: OutgoingCall, as original: OutgoingCall
    ) throws(ClientError) -> OutgoingCall {
        let (new, old) = (changed.request, original.request)
        guard new.scheme == old.scheme, new.authority == old.authority else {
            throw .refusedURL("an interceptor changed the scheme or the host of the call")
        }
        if new.path != old.path {
            _ = try WebURL(of: new)
            try checkURL(of: changed)
        }
        // Not the interceptor's value, which may be that of another call.
        var call = original
        (call.request, call.body) = (changed.request, changed.body)
        return call
    }

    /// Makes the request of a boxed call: the URL, the common fields and the adapter's own.
    func request(_ boxed: BoxedCall) throws(ClientError) -> OutgoingCall {
        service.sealer == nil ? try unsealed(boxed) : try unsealed(sealed(boxed))
    }

    private func unsealed(_ boxed: BoxedCall) throws(ClientError) -> OutgoingCall {
        guard let path = boxed.request.path else { return request(boxed, to: boxed.base) }
        return request(boxed, to: try boxed.base.appending(path: path))
    }

    private func request(_ boxed: BoxedCall, to url: WebURL) -> OutgoingCall {
        let own = boxed.request
        return request(
            own.method, to: url, target: own.target(joinedTo: url.target), fields: own.fields,
            body: boxed.stream ?? HTTPRequestBody(own.body), isBoxed: true)
    }

    /// Makes a request: joins the fields of the configuration, the service, the options, the
    /// request and the call's interceptors; of the same name the later ones win.
    ///
    /// - Parameter isBoxed: Whether an adapter made the request. Then it asks for content codings
    ///   that the system decodes, and sends one Cookie field.
    func request(
        _ method: HTTPRequest.Method, to url: WebURL, target: String? = nil,
        fields own: HTTPFields, body: HTTPRequestBody, isBoxed: Bool = false
    ) -> OutgoingCall {
        var fields = commonFields
        let hasCookies = !fields.isEmpty && fields[.cookie] != nil
        fields.replace(by: own)
        if var added = addedFields {
            // The adapter owns the content's type.
            if isBoxed { added[.contentType] = nil }
            fields.replace(by: added)
        }
        // The service's cookies and the call's own go out as one field (RFC 6265, section 5.4).
        if hasCookies || isBoxed { fields.joinCookies() }
        if isBoxed, decodes, fields[.acceptEncoding] == nil {
            fields.append(HTTPField(name: .acceptEncoding, value: ContentDecoding.acceptEncoding))
        }
        return OutgoingCall(
            call: admitted, at: url.origin,
            request: HTTPRequest(
                method: method, scheme: url.scheme, authority: url.authority,
                path: target ?? url.target, headerFields: fields),
            body: body)
    }
}

extension CallContext {
    /// The fields of the configuration, the service and the options.
    private var commonFields: HTTPFields {
        var fields = HTTPFields()
        if let userAgent = snapshot.settings.userAgent { fields[.userAgent] = userAgent }
        for field in service.configuration.commonFields {
            if field.name == .userAgent { fields[.userAgent] = nil }
            fields.append(field)
        }
        fields.replace(by: options.fields)
        return fields
    }
}

extension HTTPFields {
    /// Adds fields, in place of those of the same names but for cookies.
    fileprivate mutating func replace(by others: HTTPFields) {
        guard !isEmpty else {
            self = others
            return
        }
        for field in others where field.name != .cookie { self[field.name] = nil }
        append(contentsOf: others)
    }

    fileprivate mutating func joinCookies() {
        let cookies = self[values: .cookie]
        guard cookies.count > 1 else { return }
        self[values: .cookie] = [cookies.joined(separator: "; ")]
    }
}

extension PreparedService {
    /// Returns the call with the parameters that all calls of the service carry; its own win.
    ///
    /// - Throws: `invalid-params` for parameters by position, which common ones can't join.
    func joiningCommonParameters(_ call: RPCCall) throws(ClientError) -> RPCCall {
        let common = configuration.commonParameters
        guard !common.isEmpty else { return call }
        var joined = common
        switch call.parameters {
        case nil: break
        case .object(let own): for (name, value) in own { joined[name] = value }
        case .array:
            throw ClientError(
                .invalidParameters,
                "parameters by position cannot be joined with commonParameters, which are"
                    + " by name")
        }
        var full = call
        full.parameters = .object(joined)
        return full
    }
}

extension PreparedService {
    /// Boxes a request, if the service is one for REST.
    fileprivate func box(_ request: RESTRequest) throws(ClientError) -> BoxedRequest {
        guard let adapter = adapter as? any RESTBoxing else {
            throw ClientError(
                .unsupportedCall, "the service's protocol doesn't support REST requests")
        }
        var request = request
        for (name, value) in configuration.commonParameters where request.query[name] == nil {
            request.query[name] = value
        }
        return try ClientError.rpc { () throws(PayloadError) in try adapter.box(request) }
    }
}
