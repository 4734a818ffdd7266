/// The calls to one scheme, host and port: the number that libcurl has, and a queue of the others.
///
/// libcurl uses about 20 kB for each of its calls, even for those that only wait for a connection.
/// A queued call uses little. Used on the loop's thread only.
final class HostQueue {
    /// The number of calls that libcurl has.
    private(set) var active = 0
    /// Whether the host uses HTTP/1.1 only, so that calls can't share a connection.
    var isWithoutMultiplexing = false
    private var calls: [Call] = []
    private var first = 0

    /// The number of queued calls. Some may have ended.
    var count: Int { calls.count - first }
    /// Whether the host has no active or queued calls.
    var isIdle: Bool { active == 0 && count == 0 }

    /// Notes that libcurl has one more call.
    func callStarted() { active += 1 }
    /// Notes that libcurl has one call less.
    func callEnded() { active -= 1 }

    /// Adds a call to the end of the queue.
    func append(_ call: Call) { calls.append(call) }

    /// Removes and returns the call that has waited longest.
    func popFirst() -> Call? {
        guard first < calls.count else { return nil }
        let call = calls[first]
        first += 1
        if first == calls.count {
            calls.removeAll(keepingCapacity: first <= 1024)
            first = 0
        } else if first >= 1024 {
            calls.removeFirst(first)
            first = 0
        }
        return call
    }

    /// Removes and returns the calls that meet a condition.
    func remove(where isRemoved: (Call) -> Bool) -> [Call] {
        guard count > 0 else { return [] }
        var kept: [Call] = []
        var removed: [Call] = []
        for call in calls[first...] {
            if isRemoved(call) { removed.append(call) } else { kept.append(call) }
        }
        if !removed.isEmpty { (calls, first) = (kept, 0) }
        return removed
    }
}
