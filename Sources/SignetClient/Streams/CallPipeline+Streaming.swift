import SignetRPC
import SignetTransport

extension CallPipeline {
    /// Makes a typed call whose response is handed out as it arrives.
    func stream(
        _ call: some TypedCall, reading content: ResponseContent, options: RequestOptions
    ) async throws(ClientError) -> StreamedResponse {
        let asked = CallTarget(call, options: options)
        return try await stream(asked, needsSuccess: true) {
            context, reader throws(ClientError) in
            let boxed = try context.box(
                CallRequest(of: call, reading: content, as: context.options.json))
            let raw = try await self.send(context.request(boxed), into: reader, in: context)
            guard try !reader.hasFinished() else { return }
            guard raw.isSuccess else {
                _ = try ClientError.rpc { () throws(PayloadError) in
                    try context.service.adapter.unbox(raw, to: boxed.request)
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
    func stream(
        _ target: CallTarget, needsSuccess: Bool,
        work: @escaping @Sendable (CallContext, StreamReader) async throws(ClientError) -> Void
    ) async throws(ClientError) -> StreamedResponse {
        let pipe = StreamPipe()
        let task = Task {
            do throws(ClientError) {
                try await admission.admit(target) { context throws(ClientError) in
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
