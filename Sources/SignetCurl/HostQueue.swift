import SignetBase

/// The calls to one scheme, host and port with the same CAs and client certificate: the number that
/// libcurl has, and a queue of the others.
///
/// libcurl uses about 20 kB for each of its calls, even for those that only wait for a connection.
/// A queued call uses little. Used on the loop's thread only.
final class HostQueue {
    /// The number of calls that libcurl has.
    var active = 0
    /// The `ConnectTo` mappings of the first of them. Only calls with the same ones wait to share a
    /// connection.
    var connectTo: [UInt8] = []
    /// Whether the host uses HTTP/1.1 only, so that calls can't share a connection.
    var isWithoutMultiplexing = false
    /// The calls that libcurl doesn't have yet. Some may have ended.
    var waiting = Queue<Call>()

    /// The number of checks of the queue since a waiting call was started.
    var idleChecks = 0
    /// Whether none was from one check to the next. Until there are free streams again, libcurl
    /// gets the waiting calls too.
    var isStuck = false

    /// Whether the host has no active or waiting calls.
    var isIdle: Bool { active == 0 && waiting.count == 0 }
}

/// The queues of one scheme, host and port: one for each trust.
struct OriginQueues {
    /// The number of queues from which on idle ones are dropped.
    private static let roomyCount = 8

    private var queues: [ObjectIdentifier: HostQueue] = [:]

    var all: some Collection<HostQueue> { queues.values }
    var count: Int { queues.count }

    subscript(trust: HandshakeTrust) -> HostQueue? { queues[ObjectIdentifier(trust)] }

    /// Returns the number of queues that have calls, this one counted.
    func busyCount(with queue: HostQueue) -> Int {
        queues.values.count { $0 === queue || !$0.isIdle }
    }

    /// Adds a queue.
    mutating func add(_ queue: HostQueue, for trust: HandshakeTrust) {
        if queues.count >= Self.roomyCount { dropIdle() }
        queues[ObjectIdentifier(trust)] = queue
    }

    /// Drops the queues without calls.
    mutating func dropIdle() { queues = queues.filter { !$0.value.isIdle } }
}
