public import HTTPTypes
public import SignetJSON
public import SignetRPC
internal import SignetTransport

extension NetworkSystem {
    /// Signs and sends a request unchanged, and returns when the header of its response has
    /// arrived.
    ///
    /// The request's body may still be sent while the response's body is read. Attempts and
    /// redirects end with the header: later failures end the body. `CallOptions.timeout` is the
    /// time for the whole attempt with its body, so a long stream needs a longer one;
    /// `CallOptions.maximumResponseSize` limits the body. Duplicate policies and response checks
    /// don't apply. Interceptors around the call see the response after the body has ended, without
    /// the body; a failure that ended the body reaches the reader even if an interceptor responds
    /// itself.
    ///
    /// ```swift
    /// func follow(_ system: NetworkSystem) async throws {
    ///     struct Price: Decodable, Sendable { var item: String, cents: Int }
    ///     var options = CallOptions()
    ///     options.timeout = .seconds(3600)
    ///     let response = try await system.stream(
    ///         "prices", method: .get, target: "/feed", options: options)
    ///     for try await price in response.records(of: Price.self, in: .lines) {
    ///         print(price.item, price.cents)
    ///     }
    /// }
    /// ```
    ///
    /// - Parameters: As `exchange(_:method:target:fields:body:options:)`.
    /// - Returns: The response, whatever its status.
    /// - Throws: `ClientError` if no response arrived.
    public func stream(
        _ service: Service, method: HTTPRequest.Method, target: String, fields: HTTPFields = [:],
        body: RequestBody = [], options: CallOptions = CallOptions()
    ) async throws(ClientError) -> StreamedResponse {
        let asked = CallTarget(
            service: service, method: method.rawValue, options: options, isBoxed: false)
        return try await streamed(asked, needsSuccess: false) {
            context, reader throws(ClientError) in
            let url = try context.service.url.at(target: target)
            let raw = try await self.send(
                context.request(method, to: url, fields: fields, body: body), into: reader,
                for: context)
            if try !reader.hasFinished() { try await reader.handOut(raw) }
        }
    }

    /// Makes one REST request, and returns when the header of a successful response has arrived.
    ///
    /// The rest is as with `stream(_:method:target:fields:body:options:)`.
    ///
    /// - Parameters:
    ///   - request: Method, path below the service's URL, query and body.
    ///   - service: The service that responds; its adapter is one for REST.
    ///   - options: The call's options.
    /// - Throws: `ClientError`; `http-status` if the status isn't 2xx, `unsupported-call` if the
    ///   service isn't a REST service.
    public func stream(
        _ request: RESTRequest, from service: Service, options: CallOptions = CallOptions()
    ) async throws(ClientError) -> StreamedResponse {
        try await stream(RESTCall(request, on: service), reading: .json, options: options)
    }

    /// Makes a typed call, and returns when the header of a successful response has arrived.
    ///
    /// The body is handed out as it arrives: it is neither unboxed nor converted to the call's
    /// `Success`. The response may have any content. The rest is as with
    /// `stream(_:method:target:fields:body:options:)`.
    ///
    /// - Parameters:
    ///   - call: The call with its parameters.
    ///   - options: The options, which win over the call's own.
    /// - Throws: `ClientError`; `http-status` or `rpc-error` if the status isn't 2xx.
    public func stream(
        _ call: some TypedCall, options: CallOptions = CallOptions()
    ) async throws(ClientError) -> StreamedResponse {
        try await stream(call, reading: .any, options: options)
    }

    /// Makes a typed call whose response is a stream of records of its `Success`, and returns when
    /// the header of a successful response has arrived.
    ///
    /// ```swift
    /// struct WatchPrices: RESTEndpoint {
    ///     var service: Service { "prices" }
    ///     var httpMethod: HTTPRequest.Method { .get }
    ///     var path: PathTemplate { "/feed" }
    ///     var item: String
    ///     struct Success: Decodable, Sendable { var cents: Int }
    /// }
    ///
    /// func follow(_ system: NetworkSystem) async throws {
    ///     let prices = try await system.records(of: WatchPrices(item: "tea"), in: .lines)
    ///     for try await price in prices {
    ///         print(price.cents)
    ///     }
    /// }
    /// ```
    ///
    /// - Parameters:
    ///   - call: The call with its parameters.
    ///   - format: The format of the body.
    ///   - maximumRecordSize: The maximum size of a record in bytes.
    ///   - options: The options, which win over the call's own.
    /// - Returns: The records, which are decoded one at a time. If they are released, the call ends
    ///   with `cancelled`.
    /// - Throws: As `stream(_:options:)` of a typed call.
    public func records<Call: TypedCall>(
        of call: Call, in format: JSONStreamFormat, maximumRecordSize: Int = 1 << 20,
        options: CallOptions = CallOptions()
    ) async throws(ClientError) -> StreamedRecords<Call.Success> where Call.Success: Decodable {
        try await stream(call, options: options)
            .records(of: Call.Success.self, in: format, maximumRecordSize: maximumRecordSize)
    }

    private func stream(
        _ call: some TypedCall, reading content: ResponseContent, options: CallOptions
    ) async throws(ClientError) -> StreamedResponse {
        let asked = CallTarget(call, options: options)
        return try await streamed(asked, needsSuccess: true) {
            context, reader throws(ClientError) in
            let (boxed, base) = try context.box(
                Self.request(of: call, reading: content, as: context.options.json))
            let raw = try await self.send(
                context.request(boxed, at: base), into: reader, for: context)
            guard try !reader.hasFinished() else { return }
            guard raw.isSuccess else {
                _ = try ClientError.rpc { () throws(RPCError) in
                    try context.service.adapter.unbox(raw, to: boxed)
                }
                throw ClientError(
                    .httpStatus, "the HTTP status is \(raw.status), expected 2xx",
                    status: raw.status)
            }
            try await reader.handOut(raw)
        }
    }

    /// Runs a call in a task of its own, and returns when it has handed out the header of its
    /// response.
    private func streamed(
        _ target: CallTarget, needsSuccess: Bool,
        work: @escaping @Sendable (CallContext, StreamReader) async throws(ClientError) -> Void
    ) async throws(ClientError) -> StreamedResponse {
        let pipe = StreamPipe()
        let task = Task {
            do throws(ClientError) {
                try await admitted(target) { context throws(ClientError) in
                    try await work(
                        context,
                        StreamReader(self, for: context, into: pipe, needsSuccess: needsSuccess))
                }
                pipe.finish()
            } catch {
                pipe.finish(error)
            }
        }
        pipe.attach(task)
        let head = await withTaskCancellationHandler {
            await pipe.head()
        } onCancel: {
            task.cancel()
        }
        return StreamedResponse(try head.get(), body: pipe)
    }
}
