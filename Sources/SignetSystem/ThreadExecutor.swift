import Dispatch

/// Runs the work of tasks one after the other, apart from Swift's own threads, which work that
/// takes long would take away from all other tasks.
package final class ThreadExecutor: TaskExecutor {
    private let queue: DispatchQueue

    package init(label: String) { queue = DispatchQueue(label: label) }

    package func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        queue.async { unsafe job.runSynchronously(on: self.asUnownedTaskExecutor()) }
    }
}
