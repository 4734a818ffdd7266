import Dispatch

/// Runs the work of tasks on a queue of its own, one after the other, so that work which takes long
/// takes no thread away from other tasks.
package final class ThreadExecutor: TaskExecutor {
    private let queue: DispatchQueue

    package init(label: String) { queue = DispatchQueue(label: label) }

    package func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        queue.async { unsafe job.runSynchronously(on: self.asUnownedTaskExecutor()) }
    }
}
