import SignetBase

/// The calls to one scheme, host and port: the number that libcurl has, and a queue of the others.
///
/// libcurl uses about 20 kB for each of its calls, even for those that only wait for a connection.
/// A queued call uses little. Used on the loop's thread only.
final class HostQueue {
    /// The number of calls that libcurl has.
    var active = 0
    /// Whether the host uses HTTP/1.1 only, so that calls can't share a connection.
    var isWithoutMultiplexing = false
    /// The calls that libcurl doesn't have yet. Some may have ended.
    var waiting = Queue<Call>()

    /// Whether the host has no active or waiting calls.
    var isIdle: Bool { active == 0 && waiting.count == 0 }
}
