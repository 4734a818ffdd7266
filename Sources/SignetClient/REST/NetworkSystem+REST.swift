public import SignetRPC
public import SignetTransport

extension NetworkSystem {
    /// Makes one REST request that says path, query and body by themselves.
    ///
    /// - Parameters:
    ///   - service: The service that answers; its adapter is one for REST.
    ///   - request: Method, path below the service's URL, query and body.
    ///   - scenario: Whose limits hold; nil for the service's own.
    ///   - isRepeatable: Whether the call does no harm where it reaches the server twice.
    ///   - trace: Where attempts, redirects and timings are written down; nil for nowhere.
    /// - Throws: `ClientError`; `unsupported-call` where the service is no REST service.
    public func call(
        _ service: Service, _ request: RESTRequest, scenario: Scenario? = nil,
        isRepeatable: Bool = false, trace: CallTrace? = nil
    ) async throws(ClientError) -> UnboxedResponse {
        try await admitted(service, scenario, trace: trace) { admission throws(ClientError) in
            var admission = admission
            admission.rules.isRepeatable = isRepeatable
            let boxed = try admission.service.box(request)
            return try await self.complete(boxed, at: admission.service.url, admission)
        }
    }

    /// Sends fields and files as `multipart/form-data` (RFC 7578), files of any size in constant memory.
    ///
    /// Where the service's requests are signed, each file is read twice, as with a stream of
    /// `exchange(_:method:target:fields:body:scenario:trace:)`.
    ///
    /// - Parameters:
    ///   - service: The service that answers; its adapter is one for REST.
    ///   - request: Method, path and query; its body is not looked at.
    ///   - upload: Fields and files.
    ///   - scenario: Whose limits hold; nil for the service's own.
    ///   - trace: Where attempts, redirects and timings are written down; nil for nowhere.
    /// - Throws: `ClientError`; also `invalid-params` for a name that cannot be said, `body-length`,
    ///   `body-failed`, `body-changed` and `body-not-replayable`.
    public func upload(
        _ service: Service, _ request: RESTRequest, _ upload: MultipartUpload,
        scenario: Scenario? = nil, trace: CallTrace? = nil
    ) async throws(ClientError) -> UnboxedResponse {
        let (contentType, body) = try Self.rpc { () throws(RPCError) in try upload.body() }
        return try await self.upload(
            service, request, body, contentType: contentType, scenario: scenario, trace: trace)
    }

    /// Sends bytes or a stream as they stand, of any size in constant memory.
    ///
    /// - Parameters:
    ///   - service: The service that answers; its adapter is one for REST.
    ///   - request: Method, path, query and fields; its body is not looked at.
    ///   - body: What is sent; where requests are signed it is read twice.
    ///   - contentType: What it is, a media type (RFC 9110, section 8.3.1).
    ///   - scenario: Whose limits hold; nil for the service's own.
    ///   - trace: Where attempts, redirects and timings are written down; nil for nowhere.
    /// - Throws: `ClientError`; also `invalid-params` for what is no media type, `body-length`,
    ///   `body-failed`, `body-changed` and `body-not-replayable`.
    public func upload(
        _ service: Service, _ request: RESTRequest, _ body: RequestBody, contentType: String,
        scenario: Scenario? = nil, trace: CallTrace? = nil
    ) async throws(ClientError) -> UnboxedResponse {
        try await admitted(service, scenario, trace: trace) { admission throws(ClientError) in
            var request = request
            request.body = try Self.rpc { () throws(RPCError) in
                try .bytes([], contentType: contentType)
            }
            let boxed = try admission.service.box(request)
            return try await self.complete(
                boxed, streaming: body, at: admission.service.url, admission)
        }
    }
}

extension PreparedService {
    /// Boxes a request, where the service is one for REST.
    func box(_ request: RESTRequest) throws(ClientError) -> BoxedRequest {
        guard let adapter = adapter as? any RESTBoxing else {
            throw ClientError(
                code: .unsupportedCall, message: "the service's protocol knows no REST requests")
        }
        var request = request
        for (name, value) in configuration.commonParameters where request.query[name] == nil {
            request.query[name] = value
        }
        return try NetworkSystem.rpc { () throws(RPCError) in try adapter.box(request) }
    }
}
