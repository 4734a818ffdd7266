/// The continuation of a task that waits, which continues once: at the latest when this value ends.
///
/// That can't be misused, so nothing needs to be checked while the program runs: a
/// `CheckedContinuation` is an object for each wait (benchmark row `system-empty`).
@safe package struct OneTimeContinuation: ~Copyable, Sendable {
    private let continuation: UnsafeContinuation<Void, Never>

    fileprivate init(_ continuation: UnsafeContinuation<Void, Never>) {
        unsafe self.continuation = continuation
    }

    deinit { unsafe continuation.resume() }

    /// Continues the task.
    package consuming func resume() {}
}

/// Waits until a continuation continues.
package func withOneTimeContinuation(_ body: (consuming OneTimeContinuation) -> Void) async {
    await unsafe withUnsafeContinuation { unsafe body(OneTimeContinuation($0)) }
}
