internal import HTTPTypes
internal import SignetRPC
internal import SignetTransport

extension NetworkSystem {
    /// Stages 2 to 6 of a remote procedure's call.
    func complete(
        _ call: RPCCall, path: String?, for context: CallContext
    ) async throws(ClientError) -> UnboxedResponse {
        let (boxed, base) = try context.box(.procedure(call, path: path))
        return try await complete(boxed, at: base, for: context)
    }

    /// Stages 3 to 6 of a boxed request; its body may be a stream in place of its bytes.
    func complete(
        _ boxed: BoxedRequest, streaming body: RequestBody? = nil, at base: WebURL,
        for context: CallContext
    ) async throws(ClientError) -> UnboxedResponse {
        var request = try context.request(boxed, at: base)
        if let body { request.body = body }
        let raw = try await send(request, for: context)
        context.log.setRaw(raw)
        return try unboxed(raw, to: boxed, for: context)
    }

    /// Stage 6: unboxes a response, and asks the response checks.
    private func unboxed(
        _ raw: RawResponse, to boxed: BoxedRequest, for context: CallContext
    ) throws(ClientError) -> UnboxedResponse {
        var response = try ClientError.rpc { () throws(RPCError) in
            try context.service.adapter.unbox(raw, to: boxed)
        }
        response.raw = raw
        if let json = context.options.json { response.result?.conventions = json }
        // Each call that shares the work asks its own checks.
        if context.joint == nil { try context.check(response) }
        return response
    }
}

extension CallContext {
    /// Asks the call's response checks.
    ///
    /// - Throws: `business-code`.
    func check(_ response: UnboxedResponse) throws(ClientError) {
        for check in options.responseChecks ?? [] {
            guard let reason = check.failure(in: response) else { continue }
            throw ClientError(.businessCode, reason, status: response.status)
        }
    }

    /// Stage 3 of a boxed request: the URL, the common fields and the adapter's own.
    func request(
        _ boxed: BoxedRequest, at base: WebURL
    ) throws(ClientError) -> OutgoingCall {
        let url =
            try boxed.path.map { path throws(ClientError) in try base.appending(path: path) }
            ?? base
        return request(
            boxed.method, to: url, target: boxed.target(joinedTo: url.target), fields: boxed.fields,
            body: RequestBody(boxed.body), isBoxed: true)
    }

    /// Stage 3: joins the fields of the configuration, the service, the options and the request; of
    /// the same name the later ones win.
    ///
    /// - Parameter isBoxed: Whether an adapter made the request. Then it asks for content codings
    ///   that the system decodes, and sends one Cookie field.
    func request(
        _ method: HTTPRequest.Method, to url: WebURL, target: String? = nil,
        fields own: HTTPFields, body: RequestBody, isBoxed: Bool = false
    ) -> OutgoingCall {
        var fields = HTTPFields()
        if let userAgent = snapshot.settings.userAgent { fields[.userAgent] = userAgent }
        for field in service.configuration.commonFields {
            if field.name == .userAgent { fields[.userAgent] = nil }
            fields.append(field)
        }
        for field in options.fields where field.name != .cookie { fields[field.name] = nil }
        fields.append(contentsOf: options.fields)
        let hasCookies = fields[.cookie] != nil
        for field in own where field.name != .cookie { fields[field.name] = nil }
        fields.append(contentsOf: own)
        // The service's cookies and the call's own go out as one field (RFC 6265, section 5.4).
        let cookies = fields[values: .cookie]
        if cookies.count > 1, hasCookies || isBoxed {
            fields[values: .cookie] = [cookies.joined(separator: "; ")]
        }
        if isBoxed, decodes, fields[.acceptEncoding] == nil {
            fields[.acceptEncoding] = ContentDecoding.acceptEncoding
        }
        return OutgoingCall(
            call: admitted, attempt: nil,
            request: HTTPRequest(
                method: method, scheme: url.scheme, authority: url.authority,
                path: target ?? url.target, headerFields: fields),
            body: body)
    }
}

extension PreparedService {
    /// Stage 2: the base URL, with a resource's path if one is given.
    func url(below path: String?) throws(ClientError) -> WebURL {
        guard let path else { return url }
        return try url.appending(path: path)
    }

    /// Stage 2: the call with the parameters that all calls of the service carry; its own win.
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
