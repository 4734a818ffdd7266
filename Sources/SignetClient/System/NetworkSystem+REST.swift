public import SignetRPC
public import SignetTransport

extension NetworkSystem {
    /// Makes one REST request with a path, a query and a body of its own.
    ///
    /// - Parameters:
    ///   - request: Method, path below the service's URL, query and body.
    ///   - service: The service that responds; its adapter is one for REST.
    ///   - options: The call's options.
    /// - Throws: `ClientError`; `unsupported-call` if the service isn't a REST service.
    public func call(
        _ request: RESTRequest, on service: ServiceName, options: RequestOptions = RequestOptions()
    ) async throws(ClientError) -> UnboxedResponse {
        try await pipeline.run(
            CallTarget(request, on: service, options: options),
            request: { _ throws(ClientError) in .resource(request) },
            value: { response throws(ClientError) in response })
    }

    /// Sends fields and files as `multipart/form-data` (RFC 7578), files of any size in constant
    /// memory.
    ///
    /// If the service's requests are signed, each file is read twice, as with a stream of
    /// `exchange(_:method:target:fields:body:options:)`.
    ///
    /// - Parameters:
    ///   - upload: Fields and files.
    ///   - request: Method, path and query; its body is ignored.
    ///   - service: The service that responds; its adapter is one for REST.
    ///   - options: The call's options.
    /// - Throws: `ClientError`; also `invalid-params` for a name that can't be expressed,
    ///   `body-length`, `body-failed`, `body-changed` and `body-not-replayable`.
    public func upload(
        _ upload: MultipartUpload, with request: RESTRequest, to service: ServiceName,
        options: RequestOptions = RequestOptions()
    ) async throws(ClientError) -> UnboxedResponse {
        try await self.upload(with: request, to: service, options: options) {
            () throws(PayloadError) in try upload.body()
        }
    }

    /// Sends bytes or a stream unchanged, of any size in constant memory.
    ///
    /// - Parameters:
    ///   - body: The bytes that are sent; if requests are signed, they are read twice.
    ///   - contentType: Its media type (RFC 9110, section 8.3.1).
    ///   - request: Method, path, query and fields; its body is ignored.
    ///   - service: The service that responds; its adapter is one for REST.
    ///   - options: The call's options.
    /// - Throws: `ClientError`; also `invalid-params` for an invalid media type, `body-length`,
    ///   `body-failed`, `body-changed` and `body-not-replayable`.
    public func upload(
        _ body: HTTPRequestBody, contentType: String, with request: RESTRequest,
        to service: ServiceName,
        options: RequestOptions = RequestOptions()
    ) async throws(ClientError) -> UnboxedResponse {
        try await upload(with: request, to: service, options: options) { (contentType, body) }
    }

    private func upload(
        with request: RESTRequest, to service: ServiceName, options: RequestOptions,
        of make:
            @escaping @Sendable () throws(PayloadError) -> (
                contentType: String, body: HTTPRequestBody
            )
    ) async throws(ClientError) -> UnboxedResponse {
        try await pipeline.admission.admit(
            CallTarget(request, on: service, options: options)
        ) { call throws(ClientError) in
            let (contentType, body) = try ClientError.rpc(make)
            var request = request
            request.body = try ClientError.rpc { () throws(PayloadError) in
                try .bytes([], contentType: contentType)
            }
            let whole = request
            return try await self.pipeline.response(
                to: { () throws(ClientError) in .resource(whole) },
                isReplayable: body.isReplayable, in: call
            ) { request, call throws(ClientError) in
                var boxed = try call.box(request)
                boxed.stream = body
                return boxed
            }
        }
    }
}
