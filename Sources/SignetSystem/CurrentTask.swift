/// The task that the calling thread runs.
package enum CurrentTask {
    /// Whether the thread runs a task of Swift, whose thread must not be blocked.
    package static var isPresent: Bool { unsafe withUnsafeCurrentTask { unsafe $0 != nil } }
}
