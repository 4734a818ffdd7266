import CSignetCurl
import SignetBase
import SignetTransport

/// A safe wrapper of the C code's loop.
@safe struct LoopHandle: @unchecked Sendable {
    private let handle: OpaquePointer
    /// Whether calls share connections over HTTP/2.
    let multiplexes: Bool

    /// Creates a loop.
    ///
    /// - Returns: `nil` if the system has no memory or descriptor for it.
    init?(_ configuration: EngineSettings, key: PoolKey) {
        multiplexes = key.multiplexes
        guard
            let handle = unsafe signet_loop_new(
                configuration.offersHTTP2, key.multiplexes,
                configuration.maximumConnectionsPerHost,
                configuration.maximumIdleTime.wholeSeconds, configuration.dnsCacheTime.wholeSeconds)
        else { return nil }
        unsafe self.handle = handle
    }

    // From any thread.

    /// Ends the current wait, or the next one. Does nothing after `close()`.
    func wake() { unsafe signet_loop_wake(handle) }
    /// Opens or closes the gate at which the watching thread waits.
    func setGate(open: Bool) { unsafe signet_loop_set_gate(handle, open) }
    /// Waits until the gate is open, then for some more milliseconds.
    func waitAtGate(milliseconds: Int32) { unsafe signet_loop_wait_at_gate(handle, milliseconds) }
    /// The time since libcurl was called, in milliseconds; 0 if it isn't running.
    var busyMilliseconds: Int64 { unsafe signet_loop_busy_milliseconds(handle) }
    /// The number of times that the loop has called libcurl for sockets and timers.
    var calls: UInt64 { unsafe signet_loop_calls(handle) }
    /// Shuts down the socket on which libcurl has been stuck for longer than a limit.
    func freeIfStuck(longerThan milliseconds: Int64) {
        _ = unsafe signet_loop_watch(handle, milliseconds)
    }

    // From the loop's thread.

    /// Announces that the loop is about to wait, so that callers wake it.
    func willWait() { unsafe signet_loop_will_wait(handle) }
    /// Waits for events if it may, at most until a time in monotonic milliseconds, and lets libcurl
    /// handle them.
    ///
    /// - Returns: Whether sockets had events.
    func step(mayWait: Bool, until end: Int64) -> Bool {
        let left = mayWait ? min(max(end - Clock.milliseconds, 0), 60_000) : 0
        return unsafe signet_loop_step(handle, mayWait, Int32(left))
    }
    /// Removes and returns the next transfer with news.
    func nextReady() -> Transfer? {
        unsafe signet_loop_next_ready(handle).map { unsafe Transfer($0) }
    }
    /// Returns a transfer for a call; `nil` if memory ran out.
    func acquireTransfer(for identifier: UInt64) -> Transfer? {
        unsafe signet_transfer_acquire(handle, identifier).map { unsafe Transfer($0) }
    }
    /// Changes the maximum number of connections to one host.
    func setConnections(perHost count: Int) {
        _ = unsafe signet_loop_set_connections(handle, count)
    }
    /// Releases everything but the handle itself. Afterwards it may only be woken and freed.
    func close() { unsafe signet_loop_close(handle) }
    /// Frees the handle.
    func free() { unsafe signet_loop_free(handle) }
}
