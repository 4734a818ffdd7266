import Dispatch
import SignetSystem
import Synchronization

extension NetworkSystem {
    /// Makes a typed call and blocks the calling thread until it has ended, for scripts, threads of
    /// the program's own and callers in C.
    ///
    /// ```swift
    /// func status(_ system: NetworkSystem) -> Int32 {  // called from C
    ///     do throws(ClientError) {
    ///         return Int32(try system.wait(for: .get("/orders/7", on: "shop")).status)
    ///     } catch {
    ///         return -1
    ///     }
    /// }
    /// ```
    ///
    /// The wait ends at the call's deadline, at a shutdown, and if another thread cancels the call.
    /// Code of the program that the call needs, such as an interceptor or a credential source, must
    /// not run on the thread that waits: on the main thread nothing of the main actor runs then.
    ///
    /// - Parameters:
    ///   - call: The call with its parameters.
    ///   - options: The options, which win over the call's own.
    /// - Throws: `would-block` in a task of Swift, because the call may need the task's thread; the
    ///   call's error.
    public func wait<Call: TypedCall>(
        for call: Call, options: RequestOptions = RequestOptions()
    ) throws(ClientError) -> Call.Success {
        guard !CurrentTask.isPresent else {
            throw ClientError(
                .wouldBlock, "a blocking call was made in a task, expected a thread: use await")
        }
        let end = DispatchSemaphore(value: 0)
        let outcome = Mutex<Result<Call.Success, ClientError>?>(nil)
        let keep = { @Sendable (result: Result<Call.Success, ClientError>) in
            outcome.withLock { $0 = result }
            end.signal()
            return ()
        }
        start(call, options: options, deliver: keep)
        end.wait()
        guard let result = outcome.withLock({ $0 }) else { throw .cancelledByCaller }
        return try result.get()
    }

    /// Returns the URL that a call would be sent to, with its query, without sending anything.
    ///
    /// Interceptors, credentials and signatures that a query carries add nothing to it.
    ///
    /// - Parameters:
    ///   - call: The call with its parameters.
    ///   - options: The options, which win over the call's own.
    /// - Throws: The errors that a call has before it is sent, such as `invalid-params`,
    ///   `unknown-service` and `refused-url`.
    public func url(
        of call: some TypedCall, options: RequestOptions = RequestOptions()
    ) throws(ClientError) -> String {
        var target = CallTarget(call, options: options)
        (target.options.owner, target.options.trace) = (nil, nil)
        let context = try pipeline.admission.begin(target, as: calls.nextID())
        let request = try context.request(
            context.box(CallRequest(of: call, as: context.options.json)))
        try context.checkURL(of: request)
        let url = try WebURL(of: request.request)
        return "\(url.origin)\(url.target)"
    }
}
