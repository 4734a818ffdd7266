import HTTPTypes
import SignetRPC
import SignetTransport

extension CallPipeline {
    /// Makes a typed call whose response is handed out as it arrives.
    ///
    /// - Parameter fields: Fields that win over the request's own.
    func stream(
        _ call: some TypedCall, reading content: ResponseContent, options: RequestOptions,
        adding fields: HTTPFields? = nil
    ) async throws(ClientError) -> StreamedResponse {
        var asked = CallTarget(call, options: options)
        asked.addedFields = fields
        return try await stream(asked, needsSuccess: true) {
            context, reader throws(ClientError) in
            let request = { @Sendable () throws(ClientError) in
                try CallRequest(of: call, reading: content, as: context.options.json)
            }
            let raw: RawResponse
            if context.isIntercepted {
                raw = try await self.intercepted(.payload(request), in: context, into: reader) {
                    pending, context throws(ClientError) in
                    UnboxedResponse(
                        try await self.open(pending.request(), into: reader, in: context))
                }.raw
            } else {
                raw = try await self.open(request(), into: reader, in: context)
            }
            guard try !reader.hasFinished() else { return }
            guard raw.isSuccess else { throw Self.refused(raw) }
            try await reader.handOut(raw)
        }
    }

    /// Sends a request, and hands its response out if the status is 2xx.
    ///
    /// - Throws: `http-status` or `rpc-error` if it isn't.
    private func open(
        _ request: CallRequest, into reader: StreamReader, in context: CallContext
    ) async throws(ClientError) -> RawResponse {
        let boxed = try context.box(await context.beforeBoxing(request))
        let raw = try await send(context.request(boxed), into: reader, in: context)
        guard try !reader.hasFinished(), !raw.isSuccess else { return raw }
        _ = try ClientError.rpc { () throws(PayloadError) in
            try context.service.adapter.unbox(raw, to: boxed.request)
        }
        throw Self.refused(raw)
    }

    private static func refused(_ raw: RawResponse) -> ClientError {
        ClientError(
            .httpStatus, "the HTTP status is \(raw.status), expected 2xx", status: raw.status)
    }

    /// Runs a call in a task of its own, and returns when it has handed out the header of its
    /// response.
    func stream(
        _ target: CallTarget, needsSuccess: Bool,
        work: @escaping @Sendable (CallContext, StreamReader) async throws(ClientError) -> Void
    ) async throws(ClientError) -> StreamedResponse {
        let pipe = StreamPipe()
        let task = Task {
            do throws(ClientError) {
                try await admission.admit(target) { [self] context throws(ClientError) in
                    try await work(
                        context,
                        StreamReader(
                            memoryReader(for: context), for: context, into: pipe,
                            needsSuccess: needsSuccess))
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
