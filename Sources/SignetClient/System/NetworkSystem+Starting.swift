import SignetRPC

extension NetworkSystem {
    /// Starts a typed call, and calls a closure with its outcome.
    ///
    /// The call has its number and counts as running when this returns. The closure is called
    /// exactly once, unless ``CallHandle/cancel()`` comes in time.
    ///
    /// - Parameters:
    ///   - call: The call with its parameters.
    ///   - options: The options, which win over the call's own.
    ///   - delivery: Where the closure runs.
    ///   - deliver: Takes the outcome; nil for a program that waits for ``CallHandle/response``.
    @discardableResult
    public func start<Call: TypedCall>(
        _ call: Call, options: RequestOptions = RequestOptions(),
        on delivery: CallDelivery = .anyThread,
        deliver: (@Sendable (Result<Call.Success, ClientError>) -> Void)? = nil
    ) -> CallHandle<Call.Success> {
        start(
            call, reading: .json, options: options, on: delivery,
            reform: { try call.success(from: $0) }, deliver: deliver)
    }

    /// Starts a typed call, and calls a closure with its response as a reformer converts it.
    ///
    /// - Parameters:
    ///   - call: The call with its parameters.
    ///   - reformer: The conversion, such as `.text`, `.raw` or `.decoding(Order.self)`.
    ///   - options: The options, which win over the call's own.
    ///   - delivery: Where the closure runs.
    ///   - deliver: Takes the outcome; nil for a program that waits for ``CallHandle/response``.
    @discardableResult
    public func start<Output>(
        _ call: some TypedCall, as reformer: some Reformer<Output>,
        options: RequestOptions = RequestOptions(), on delivery: CallDelivery = .anyThread,
        deliver: (@Sendable (Result<Output, ClientError>) -> Void)? = nil
    ) -> CallHandle<Output> {
        start(
            call, reading: reformer.responseContent, options: options, on: delivery,
            reform: { try reformer.reform($0, to: call) }, deliver: deliver)
    }

    /// Starts a typed call for a receiver, such as a screen, a session or a delegate, which is held
    /// weakly.
    ///
    /// If the receiver has been released, nothing is delivered and the call is cancelled. The
    /// system looks every 50 ms whether it has.
    ///
    /// ```swift
    /// final class Screen: Sendable {
    ///     func load(_ system: NetworkSystem) {
    ///         system.start(.get("/orders/7", on: "shop"), for: self) { screen, result in
    ///             screen.show(result)
    ///         }
    ///     }
    ///
    ///     func show(_ result: Result<UnboxedResponse, ClientError>) {}
    /// }
    /// ```
    ///
    /// - Parameters:
    ///   - call: The call with its parameters.
    ///   - receiver: The receiver.
    ///   - options: The options, which win over the call's own.
    ///   - delivery: Where the closure runs.
    ///   - deliver: Takes the receiver and the outcome. It gets the receiver, so it needn't capture
    ///     it: what it captures lives as long as the call.
    @discardableResult
    public func start<Call: TypedCall, Receiver: AnyObject & Sendable>(
        _ call: Call, for receiver: Receiver, options: RequestOptions = RequestOptions(),
        on delivery: CallDelivery = .anyThread,
        deliver: @escaping @Sendable (Receiver, Result<Call.Success, ClientError>) -> Void
    ) -> CallHandle<Call.Success> {
        watching(receiver, deliver: deliver) {
            start(call, options: options, on: delivery, deliver: $0)
        }
    }

    /// Starts a typed call for a receiver, and converts the response with a reformer.
    ///
    /// - Parameters:
    ///   - call: The call with its parameters.
    ///   - reformer: The conversion, such as `.text`, `.raw` or `.decoding(Order.self)`.
    ///   - receiver: The receiver, which is held weakly.
    ///   - options: The options, which win over the call's own.
    ///   - delivery: Where the closure runs.
    ///   - deliver: Takes the receiver and the outcome, as for `start(_:for:options:on:deliver:)`.
    @discardableResult
    public func start<Output, Receiver: AnyObject & Sendable>(
        _ call: some TypedCall, as reformer: some Reformer<Output>, for receiver: Receiver,
        options: RequestOptions = RequestOptions(), on delivery: CallDelivery = .anyThread,
        deliver: @escaping @Sendable (Receiver, Result<Output, ClientError>) -> Void
    ) -> CallHandle<Output> {
        watching(receiver, deliver: deliver) {
            start(call, as: reformer, options: options, on: delivery, deliver: $0)
        }
    }

    /// Starts a call whose receiver is held weakly, and cancels it once the receiver is released.
    private func watching<Output: Sendable, Receiver: AnyObject & Sendable>(
        _ receiver: Receiver,
        deliver: @escaping @Sendable (Receiver, Result<Output, ClientError>) -> Void,
        start: (@escaping @Sendable (Result<Output, ClientError>) -> Void) -> CallHandle<Output>
    ) -> CallHandle<Output> {
        let receiver = WeakReceiver(object: receiver)
        let handle = start { result in
            if let receiver = receiver.object { deliver(receiver, result) }
        }
        ReceiverWatch(handle) { receiver.object == nil }.begin()
        return handle
    }

    /// Starts a call in a task of its own. It is admitted before this returns.
    private func start<Output: Sendable>(
        _ call: some TypedCall, reading content: ResponseContent, options: RequestOptions,
        on delivery: CallDelivery, reform: @escaping @Sendable (UnboxedResponse) throws -> Output,
        deliver: (@Sendable (Result<Output, ClientError>) -> Void)?
    ) -> CallHandle<Output> {
        var target = CallTarget(call, options: options, isInMemory: true)
        let id = pipeline.admission.begin(&target)
        let handle = CallHandle<Output>(id) { [calls] in
            calls.call(id)?.end(.cancelledByCaller)
        }
        let (pipeline, begun) = (pipeline, target)
        handle.attach(
            Task {
                let note = ResponseNote()
                let result: Result<Output, ClientError>
                do throws(ClientError) {
                    result = .success(
                        try await pipeline.perform(
                            call, at: begun, reading: content, noting: note, reform: reform))
                } catch {
                    result = .failure(error)
                }
                // The system lives at least as long as its calls.
                withExtendedLifetime(self) {
                    handle.finish(note.response(result), on: delivery, deliver: deliver)
                }
            })
        return handle
    }
}
