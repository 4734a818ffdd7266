import SignetRPC
import SignetTransport

extension CallPipeline {
    /// Runs the rest of the pipeline within the call's interceptors.
    ///
    /// - Parameters:
    ///   - reader: The reader that `rest` reads the response into; nil if it keeps the body. It
    ///     gets a response that an interceptor made itself.
    ///   - rest: The stages after the interceptors, with what they changed.
    func intercepted(
        _ content: PendingCall.Content, in call: CallContext,
        into reader: (any ResponseReader)? = nil,
        rest:
            @escaping @Sendable (PendingCall, CallContext) async throws(ClientError) ->
            UnboxedResponse
    ) async throws(ClientError) -> UnboxedResponse {
        let first = PendingCall(call.admitted, content)
        call.log.enter(nil)
        let stage = call.log.begin(.interceptors)
        defer { call.log.end(stage) }
        let chain = CallInterceptorChain(around: first, in: call, rest: rest)
        let response = try await chain.run(first)
        call.log.enter(nil)
        let (isSent, last) = chain.outcome
        call.log.contents?.note(.interceptors) { redactor in
            (last.map { redactor.message($0) }, redactor.message(response))
        }
        if response != last {
            call.log.setChanged(
                status: response.status, bodySize: response.raw.body.count,
                isOwn: last == nil)
        }
        if let reader, !reader.keepsBody, !isSent {
            let request = call.request(
                .get, to: call.service.url, fields: [:], body: []
            ).request
            _ = try await reader.prepare(request, isRedirected: false)
            _ = try await reader.read(EngineResponse(response.raw), answering: .get)
        }
        return response
    }

    /// Sends a request without a payload protocol, within the call's interceptors.
    ///
    /// - Parameters:
    ///   - url: The URL whose origin the request goes to.
    ///   - fields: The request's own fields.
    ///   - reader: The reader of the response; nil reads it into memory.
    func exchange(
        _ exchange: PendingCall.Exchange, at url: WebURL, fields: HTTPFields,
        into reader: (any ResponseReader)? = nil, in call: CallContext
    ) async throws(ClientError) -> RawResponse {
        let raw =
            if call.isIntercepted {
                try await intercepted(.exchange(exchange), in: call, into: reader) {
                    [self] pending, call throws(ClientError) in
                    UnboxedResponse(
                        try await send(
                            pending.exchange ?? exchange, at: url, fields: fields, into: reader,
                            in: call))
                }.raw
            } else {
                try await send(exchange, at: url, fields: fields, into: reader, in: call)
            }
        guard !call.stubs.isEmpty, reader == nil else { return raw }
        return try await call.beforeDelivery(UnboxedResponse(raw)).raw
    }

    private func send(
        _ exchange: PendingCall.Exchange, at url: WebURL, fields: HTTPFields,
        into reader: (any ResponseReader)?, in call: CallContext
    ) async throws(ClientError) -> RawResponse {
        try await send(
            call.request(
                exchange.method, to: url.at(target: exchange.target), fields: fields,
                body: exchange.body), into: reader, in: call)
    }
}
