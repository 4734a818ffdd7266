public import SignetRPC

extension NetworkSystem {
    /// Makes several JSON-RPC 2.0 calls in one request.
    ///
    /// The response checks of the options don't run, because the result has the outcome of each
    /// call.
    ///
    /// - Parameters:
    ///   - calls: The calls.
    ///   - service: The service that responds.
    ///   - options: The options of the request.
    /// - Throws: `ClientError` if the whole batch fails. An error of a single call is part of the
    ///   result.
    public func batch(
        _ calls: [RPCCall], on service: ServiceName, options: RequestOptions = RequestOptions()
    ) async throws(ClientError) -> BatchResponse {
        try await pipeline.admission.admit(
            CallTarget(service: service, method: "batch", options: options)
        ) { call throws(ClientError) in
            try await self.pipeline.batch(calls, in: call)
        }
    }

    /// Makes several typed calls of a JSON-RPC 2.0 service in one request, and returns the outcomes
    /// of all in their order.
    ///
    /// ```swift
    /// struct CreateOrder: Endpoint {
    ///     var service: ServiceName { "orders" }
    ///     var method: RPCMethod { "orders.create" }
    ///     var item: String
    ///     struct Success: Decodable, Sendable { var id: Int }
    /// }
    ///
    /// func order(_ items: [String], with system: NetworkSystem) async throws -> [Int?] {
    ///     try await system.batch(items.map { CreateOrder(item: $0) }).map { try? $0.get().id }
    /// }
    /// ```
    ///
    /// Each call's values are checked first; if one is invalid, nothing is sent. The options are
    /// those of the first call, and `options`, which win. The request counts as idempotent only if
    /// each of the calls says so, or `options`. The response checks are asked for each result. No
    /// duplicate policy holds. Calls that can't share a request are refused: those with other
    /// fields, credentials, sets, JSON conventions or base URLs than the first one, and those with
    /// interceptors of their own.
    ///
    /// - Parameters:
    ///   - calls: The calls, all of the same service.
    ///   - options: The options of the request.
    /// - Throws: `ClientError` if the whole batch fails: `unsupported-call` for calls that can't
    ///   share a request, of several services, with a path or of a protocol without batches. An
    ///   error of a single call is its outcome.
    public func batch<Call: TypedCall>(
        _ calls: [Call], options: RequestOptions = RequestOptions()
    ) async throws(ClientError) -> [Result<Call.Success, ClientError>] {
        try await pipeline.outcomes(inBatch: calls, options: options) { try $0.success(from: $1) }
    }

    /// Makes several calls that have no type of their own for their values in one request, and
    /// decodes the results as the type that is expected.
    ///
    /// - Parameters: As `batch(_:options:)` of any typed calls.
    /// - Throws: As `batch(_:options:)` of any typed calls.
    public func batch<Call: TypedCall, Value: Decodable & Sendable>(
        _ calls: [Call], options: RequestOptions = RequestOptions()
    ) async throws(ClientError) -> [Result<Value, ClientError>]
    where Call.Success == UnboxedResponse {
        try await pipeline.outcomes(inBatch: calls, options: options) { try $1.decode(Value.self) }
    }
}
