internal import SignetJSON
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
        _ calls: [RPCCall], on service: Service, options: CallOptions = CallOptions()
    ) async throws(ClientError) -> BatchResponse {
        try await admitted(
            CallTarget(service: service, method: "batch", options: options)
        ) { context throws(ClientError) in
            try await self.batch(calls, for: context)
        }
    }

    /// Makes several typed calls of a JSON-RPC 2.0 service in one request, and returns the outcomes
    /// of all in their order.
    ///
    /// ```swift
    /// struct CreateOrder: Endpoint {
    ///     var service: Service { "orders" }
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
        _ calls: [Call], options: CallOptions = CallOptions()
    ) async throws(ClientError) -> [Result<Call.Success, ClientError>] {
        try await outcomes(inBatch: calls, options: options) { try $0.success(from: $1) }
    }

    /// Makes several calls that have no type of their own for their values in one request, and
    /// decodes the results as the type that is expected.
    ///
    /// - Parameters: As `batch(_:options:)` of any typed calls.
    /// - Throws: As `batch(_:options:)` of any typed calls.
    public func batch<Call: TypedCall, Value: Decodable & Sendable>(
        _ calls: [Call], options: CallOptions = CallOptions()
    ) async throws(ClientError) -> [Result<Value, ClientError>]
    where Call.Success == UnboxedResponse {
        try await outcomes(inBatch: calls, options: options) { try $1.decode(Value.self) }
    }

    private func outcomes<Call: TypedCall, Value: Sendable>(
        inBatch calls: [Call], options: CallOptions,
        reform: @escaping @Sendable (Call, UnboxedResponse) throws -> Value
    ) async throws(ClientError) -> [Result<Value, ClientError>] {
        guard let first = calls.first else {
            throw ClientError(.emptyBatch, "the batch contains no call")
        }
        var level = first.callOptions
        if !calls.allSatisfy({ $0.callOptions.isIdempotent == true }) { level.isIdempotent = nil }
        let target = CallTarget(
            service: first.service, method: "batch", options: level.merging(options))
        let (outcomes, context) = try await admitted(target) { context throws(ClientError) in
            var batch: [RPCCall] = []
            for call in calls {
                guard call.callOptions.sharesRequest(with: first.callOptions, on: call.service)
                else {
                    throw ClientError(
                        .unsupportedCall,
                        "found calls in a batch whose own options differ or have interceptors, expected"
                            + " calls that can share a request")
                }
                batch.append(try Self.procedure(of: call, for: context))
            }
            let response = try await self.batch(batch, for: context)
            let outcomes = zip(calls, response.outcomes).map { call, outcome in
                Result { () throws(ClientError) in
                    let single = try outcome.response(status: response.status)
                    try context.check(single)
                    return try Self.value(of: single) { try reform(call, $0) }
                }
            }
            return (outcomes, context)
        }
        return outcomes.map { outcome in
            outcome.mapError {
                $0.of(
                    context.identity, record: context.log.record, json: context.options.json)
            }
        }
    }

    /// Checks a call's values, and returns the call of its procedure.
    ///
    /// - Throws: `unsupported-call` if it can't be in a batch of the call's service.
    private static func procedure(
        of call: some TypedCall, for context: CallContext
    ) throws(ClientError) -> RPCCall {
        guard call.service == context.identity.service else {
            throw ClientError(
                .unsupportedCall,
                "found calls of \(context.identity.service) and \(call.service) in a batch, expected"
                    + " one service")
        }
        guard
            case .procedure(let procedure, nil) = try request(of: call, as: context.options.json)
        else {
            throw ClientError(
                .unsupportedCall, "found a request with a path in a batch, expected procedures")
        }
        return procedure
    }

    private func batch(
        _ calls: [RPCCall], for context: CallContext
    ) async throws(ClientError) -> BatchResponse {
        let service = context.service
        guard let adapter = service.adapter as? JSONRPCAdapter else {
            throw ClientError(.unsupportedCall, "only JSON-RPC 2.0 supports batches")
        }
        var full: [RPCCall] = []
        for call in calls { full.append(try service.joiningCommonParameters(call)) }
        let batch = full
        let boxed = try ClientError.rpc { () throws(RPCError) in try adapter.box(batch: batch) }
        let raw = try await send(context.request(boxed, at: service.url), for: context)
        var response = try ClientError.rpc { () throws(RPCError) in
            try adapter.unboxBatch(raw, to: boxed)
        }
        if let json = context.options.json { response.use(json) }
        return response
    }
}

extension CallOptions {
    /// Whether a call of an endpoint with these options may travel in the request of one with
    /// others. Interceptors may add data of one user, so calls that have them share no request.
    fileprivate func sharesRequest(with other: CallOptions, on service: Service) -> Bool {
        func key(_ options: CallOptions) -> CredentialKey? {
            options.credentials.map { CredentialKey(of: $0, at: service) }
        }
        return interceptors.isEmpty && attemptInterceptors.isEmpty && fields == other.fields
            && key(self) == key(other) && sets == other.sets && json == other.json
            && baseURL == other.baseURL && testBaseURL == other.testBaseURL
    }
}

extension BatchResponse.Outcome {
    /// Returns the response of one call.
    ///
    /// - Throws: The call's error.
    fileprivate func response(status: Int) throws(ClientError) -> UnboxedResponse {
        switch self {
        case .result(let result): return UnboxedResponse(result: result, status: status)
        case .notified: return UnboxedResponse(result: nil, status: status)
        case .failure(let error), .rejected(let error): throw ClientError(error)
        case .unanswered:
            throw ClientError(.batchIncomplete, "the call has no response", status: status)
        }
    }
}
