import SignetJSON
import SignetRPC
import Synchronization

extension CallPipeline {
    /// Makes typed calls in one request.
    ///
    /// - Parameter reform: Converts the response of a call.
    func outcomes<Call: TypedCall, Value: Sendable>(
        inBatch calls: [Call], options: RequestOptions,
        reform: @escaping @Sendable (Call, UnboxedResponse) throws -> Value
    ) async throws(ClientError) -> [Result<Value, ClientError>] {
        guard let first = calls.first else {
            throw ClientError(.emptyBatch, "the batch contains no call")
        }
        var level = first.callOptions
        if !calls.allSatisfy({ $0.callOptions.idempotency == .always }) { level.idempotency = nil }
        let target = CallTarget(
            service: first.service, method: "batch", options: level.merging(options))
        let (outcomes, context) = try await admission.admit(target) { context throws(ClientError) in
            var batch: [RPCCall] = []
            for call in calls {
                guard call.callOptions.sharesRequest(with: first.callOptions, on: call.service)
                else {
                    throw ClientError(
                        .unsupportedCall,
                        "found calls in a batch whose own options differ or have interceptors, expected"
                            + " calls that can share a request")
                }
                batch.append(try Self.procedure(of: call, in: context))
            }
            let response = try await self.batch(batch, in: context)
            let outcomes = zip(calls, response.outcomes).map { call, outcome in
                Result { () throws(ClientError) in
                    let single = try outcome.response(status: response.status)
                    try context.check(single)
                    return try single.converted { try reform(call, $0) }
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
        of call: some TypedCall, in context: CallContext
    ) throws(ClientError) -> RPCCall {
        guard call.service == context.identity.service else {
            throw ClientError(
                .unsupportedCall,
                "found calls of \(context.identity.service) and \(call.service) in a batch, expected"
                    + " one service")
        }
        guard
            case .procedure(let procedure, nil) = try CallRequest(
                of: call, as: context.options.json)
        else {
            throw ClientError(
                .unsupportedCall, "found a request with a path in a batch, expected procedures")
        }
        return procedure
    }

    /// Makes calls in one request.
    func batch(
        _ calls: [RPCCall], in context: CallContext
    ) async throws(ClientError) -> BatchResponse {
        let service = context.service
        guard let adapter = service.adapter as? JSONRPCAdapter else {
            throw ClientError(.unsupportedCall, "only JSON-RPC 2.0 supports batches")
        }
        var full: [RPCCall] = []
        for call in calls {
            full.append(try await service.joiningCommonParameters(context.beforeBoxing(call)))
        }
        let batch = full
        let box = { @Sendable () throws(ClientError) in
            try ClientError.rpc { () throws(PayloadError) in try adapter.box(batch: batch) }
        }
        let unbox = { @Sendable (raw: RawResponse, boxed: BoxedRequest) throws(ClientError) in
            try ClientError.rpc { () throws(PayloadError) in
                try adapter.unboxBatch(raw, to: boxed)
            }
        }
        var response: BatchResponse
        if context.isIntercepted {
            let sent = Mutex<BoxedRequest?>(nil)
            let outcome = try await intercepted(.batch, in: context) {
                [self] _, context throws(ClientError) in
                let boxed = try box()
                sent.withLock { $0 = boxed }
                let received = try await send(
                    context.request(BoxedCall(request: boxed, base: service.url)), in: context)
                let raw = try context.opened(received, to: boxed)
                // Its errors are the interceptors' to see.
                _ = try unbox(raw, boxed)
                return UnboxedResponse(raw)
            }
            if let boxed = sent.withLock({ $0 }) {
                response = try unbox(outcome.raw, boxed)
            } else {
                // An interceptor responded itself.
                response = try unbox(outcome.raw, box())
            }
        } else {
            response = try await self.batch(batch, at: service.url, in: context)
        }
        for (index, outcome) in response.outcomes.enumerated() where !context.stubs.isEmpty {
            guard case .result(let result) = outcome else { continue }
            let delivered = try await context.beforeDelivery(
                UnboxedResponse(result: result, status: response.status))
            response.outcomes[index] = delivered.result.map { .result($0) } ?? .unanswered
        }
        if let json = context.options.json { response.use(json) }
        return response
    }
}

extension RequestOptions {
    /// Whether a call of an endpoint with these options may travel in the request of one with
    /// others. Interceptors may add data of one user, so calls that have them share no request.
    fileprivate func sharesRequest(with other: RequestOptions, on service: ServiceName) -> Bool {
        func key(_ options: RequestOptions) -> CredentialKey? {
            options.credentials.map { CredentialKey(of: $0, at: service) }
        }
        return interceptors.isEmpty && attemptInterceptors.isEmpty && fields == other.fields
            && key(self) == key(other) && clientCertificate === other.clientCertificate
            && sets == other.sets && json == other.json
            && baseURL == other.baseURL && testBaseURL == other.testBaseURL
    }
}
