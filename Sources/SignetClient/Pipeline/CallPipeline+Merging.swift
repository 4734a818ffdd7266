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
        let merged = try MergedCall(request, in: call) {
            [self] batch, context throws(ClientError) in
            let (request, count) = try batch.request { boxed, base throws(ClientError) in
                try context.request(BoxedCall(request: boxed, base: base))
            }
            context.log.setMerged(count)
            let received = try await send(request, in: context)
            return try batch.outcomes(in: received, to: context)
        }
        guard let merged else { return try await respond(to: call.box(request), in: call) }
        var isShared = true
        defer { if isShared { call.endBuilding(merged.boxed) } }
        var response = try await merger.run(merged) { () throws(ClientError) in
            isShared = false
            return try await respond(to: merged.boxed, in: call)
        }
        guard isShared else { return response }
        if let json = call.options.json { response.result?.conventions = json }
        call.log.setRaw(response.raw)
        call.log.contents?.begin(.unboxing) { _ in nil }
        call.log.contents?.end(.unboxing) { $0.message(response) }
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

extension CallContext {
    /// Writes down the request of a merged call as it would be alone: its record has nothing of the
    /// others of the batch.
    fileprivate func endBuilding(_ boxed: BoxedCall) {
        guard let contents = log.contents, let own = try? request(boxed) else { return }
        contents.end(.building) { $0.message(own.request, body: own.body) }
    }
}
