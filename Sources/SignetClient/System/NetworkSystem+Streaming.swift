public import HTTPTypes
public import SignetJSON
public import SignetRPC
import SignetTransport

extension NetworkSystem {
    /// Signs and sends a request unchanged, and returns when the header of its response has
    /// arrived.
    ///
    /// The request's body may still be sent while the response's body is read. Attempts and
    /// redirects end with the header: later failures end the body. `RequestOptions.timeout` is the
    /// time for the whole attempt with its body, so a long stream needs a longer one;
    /// `RequestOptions.maximumResponseSize` limits the body. Duplicate policies and response checks
    /// don't apply. Interceptors around the call see the response after the body has ended, without
    /// the body; a failure that ended the body reaches the reader even if an interceptor responds
    /// itself.
    ///
    /// ```swift
    /// func follow(_ system: NetworkSystem) async throws {
    ///     struct Price: Decodable, Sendable { var item: String, cents: Int }
    ///     var options = RequestOptions()
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
        _ service: ServiceName, method: HTTPRequest.Method, target: String,
        fields: HTTPFields = [:],
        body: HTTPRequestBody = [], options: RequestOptions = RequestOptions()
    ) async throws(ClientError) -> StreamedResponse {
        let asked = CallTarget(
            service: service, method: method.rawValue, options: options, isBoxed: false)
        return try await pipeline.stream(asked, needsSuccess: false) {
            call, reader throws(ClientError) in
            let raw = try await self.pipeline.exchange(
                PendingCall.Exchange(method: method, target: target, body: body),
                at: call.service.url, fields: fields, into: reader, in: call)
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
        _ request: RESTRequest, from service: ServiceName,
        options: RequestOptions = RequestOptions()
    ) async throws(ClientError) -> StreamedResponse {
        try await pipeline.stream(
            RESTCall(request, on: service), reading: .json, options: options)
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
        _ call: some TypedCall, options: RequestOptions = RequestOptions()
    ) async throws(ClientError) -> StreamedResponse {
        try await pipeline.stream(call, reading: .any, options: options)
    }

    /// Makes a typed call whose response is a stream of records of its `Success`, and returns when
    /// the header of a successful response has arrived.
    ///
    /// ```swift
    /// struct WatchPrices: RESTEndpoint {
    ///     var service: ServiceName { "prices" }
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
        options: RequestOptions = RequestOptions()
    ) async throws(ClientError) -> StreamedRecords<Call.Success> where Call.Success: Decodable {
        try await stream(call, options: options)
            .records(of: Call.Success.self, in: format, maximumRecordSize: maximumRecordSize)
    }
}
