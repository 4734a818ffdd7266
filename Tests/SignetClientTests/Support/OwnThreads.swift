import Foundation

/// Runs each job on a thread of its own, which it marks.
final class OwnThreads: TaskExecutor {
    static var isCurrent: Bool { Thread.current.threadDictionary["own"] != nil }

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        Thread.detachNewThread {
            Thread.current.threadDictionary["own"] = true
            unsafe job.runSynchronously(on: self.asUnownedTaskExecutor())
        }
    }
}
