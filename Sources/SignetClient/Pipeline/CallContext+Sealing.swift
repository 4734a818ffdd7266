import HTTPTypes
import SignetRPC
import SignetTransport

extension CallContext {
    /// Seals a boxed body that the signature covers as it is sent.
    ///
    /// - Throws: `unsupported-call` for a stream, which can't be sealed as a whole.
    func sealed(_ boxed: BoxedCall) throws(ClientError) -> BoxedCall {
        guard let sealer = service.sealer else { return boxed }
        guard boxed.stream == nil else {
            throw ClientError(
                .unsupportedCall,
                "the service's bodies are sealed, which a streamed body can't be; nothing was sent")
        }
        guard sealer.sealing.signature == .outside else { return boxed }
        var boxed = boxed
        boxed.request.body = try sealer.seal(
            boxed.request.body, fields: &boxed.request.fields)
        return boxed
    }

    /// Opens a response if the service seals bodies.
    func opened(
        _ response: RawResponse, to request: BoxedRequest
    ) throws(ClientError) -> RawResponse {
        try service.sealer?.open(response, to: request) ?? response
    }

    /// Refuses calls whose request or response no adapter makes or reads, if bodies are sealed.
    func requireSealable(isBoxed: Bool) throws(ClientError) {
        guard service.sealer != nil, !isBoxed else { return }
        throw ClientError(
            .unsupportedCall,
            "the service's bodies are sealed, which only calls with a whole request and a whole response"
                + " can be; nothing was sent")
    }
}

extension FrozenRequest {
    /// The request with a body that is sealed after it was signed.
    func sealed(by sealer: BodySealer?) throws(ClientError) -> FrozenRequest {
        guard let sealer, sealer.sealing.signature == .inside else { return self }
        guard let bytes = body.bytes else {
            throw ClientError(.unsupportedCall, "a streamed body can't be sealed")
        }
        var head = head
        let sealed = HTTPRequestBody(try sealer.seal(bytes, fields: &head.headerFields))
        return FrozenRequest(url: url, head: head, body: sealed, signature: signature)
    }
}
