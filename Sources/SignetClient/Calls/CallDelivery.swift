/// The thread or queue on which a call's closure runs.
///
/// ```swift
/// let queue = DispatchQueue(label: "orders")
/// let delivery = CallDelivery.queue { work in queue.async(execute: work) }
/// ```
public struct CallDelivery: Sendable {
    private let submit: (@Sendable (@escaping @Sendable () -> Void) -> Void)?

    /// The closure runs in the task of the call, on a thread of Swift's pool. This is the default.
    public static let anyThread = CallDelivery(submit: nil)

    /// The closure runs on the main actor: `MainActor.assumeIsolated` gives it the main actor's
    /// state.
    public static let mainActor = CallDelivery(submit: { work in
        Task { @MainActor in work() }
    })

    /// The closure runs on an executor, such as the event loop of a server.
    public static func executor(_ executor: any TaskExecutor) -> CallDelivery {
        CallDelivery { work in
            Task(executorPreference: executor) { work() }
        }
    }

    /// The closure runs where a function puts it, such as a queue of Dispatch, the run loop of a
    /// library in C, or the loop of a user interface.
    ///
    /// - Parameter submit: Gets the work, and has it run once, on any thread. Work that it drops is
    ///   never delivered.
    public static func queue(
        _ submit: @escaping @Sendable (_ work: @escaping @Sendable () -> Void) -> Void
    ) -> CallDelivery {
        CallDelivery(submit: submit)
    }

    func run(_ work: @escaping @Sendable () -> Void) {
        if let submit { submit(work) } else { work() }
    }
}
