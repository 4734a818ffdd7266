import SignetRPC
import SignetTransport

extension CallPipeline {
    /// Sends a request, alone or in one request with others of its kind, as the call's options say.
    func sent(
        _ request: CallRequest, in call: CallContext
    ) async throws(ClientError) -> UnboxedResponse {
        guard call.options.merging != nil else {
            return try await respond(to: call.box(call.beforeBoxing(request)), in: call)
        }
        return try await merged(request, in: call)
    }

    private func merged(
        _ request: CallRequest, in call: CallContext
    ) async throws(ClientError) -> UnboxedResponse {
        let request = try await call.beforeBoxing(request)
        let merged = try MergedCall(request, in: call) { calls, base, context throws(ClientError) in
            try await batch(calls, at: base, in: context)
        }
        guard let merged else { return try await respond(to: call.box(request), in: call) }
        var isShared = true
        var response = try await merger.run(merged) { () throws(ClientError) in
            isShared = false
            return try await respond(to: merged.boxed, in: call)
        }
        guard isShared else { return response }
        if let json = call.options.json { response.result?.conventions = json }
        call.log.setRaw(response.raw)
        try call.check(response)
        return response
    }

    /// Sends calls as one batch, and unboxes the outcomes.
    ///
    /// - Parameter base: The URL that the request goes to.
    func batch(
        _ calls: [RPCCall], at base: WebURL, in call: CallContext
    ) async throws(ClientError) -> BatchResponse {
        guard let adapter = call.service.adapter as? JSONRPCAdapter else {
            throw ClientError(.unsupportedCall, "only JSON-RPC 2.0 supports batches")
        }
        let boxed = try ClientError.rpc { () throws(PayloadError) in
            try adapter.box(batch: calls)
        }
        let received = try await send(
            call.request(BoxedCall(request: boxed, base: base)), in: call)
        let raw = try call.opened(received, to: boxed)
        return try ClientError.rpc { () throws(PayloadError) in
            try adapter.unboxBatch(raw, to: boxed)
        }
    }
}
