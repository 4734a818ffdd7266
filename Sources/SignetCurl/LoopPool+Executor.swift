import Synchronization

/// The pool as the executor of tasks: their jobs run on the thread of the primary loop, between two
/// of its steps and never inside a callback of libcurl.
///
/// A pool that was shut down hands each job to Swift's global executor, so that no task is stuck.
extension LoopPool: TaskExecutor {
    func enqueue(_ job: consuming ExecutorJob) {
        let job = LoopJob(UnownedJob(job), of: self)
        if !primaryLoop.enqueue(job) { job.runElsewhere() }
    }

    /// Whether the current task prefers this executor.
    var isPreferred: Bool {
        unsafe withUnsafeCurrentTask { task in
            unsafe task?.unownedTaskExecutor == asUnownedTaskExecutor()
        }
    }
}

/// A job for a loop's thread. It keeps its executor until it has run.
struct LoopJob: Sendable {
    private let job: UnownedJob
    private let executor: LoopPool

    init(_ job: UnownedJob, of executor: LoopPool) {
        self.job = job
        self.executor = executor
    }

    /// Runs the job on this thread.
    func run() { unsafe job.runSynchronously(on: executor.asUnownedTaskExecutor()) }

    /// Hands the job to the global executor.
    func runElsewhere() { globalConcurrentExecutor.enqueue(ExecutorJob(job)) }
}
