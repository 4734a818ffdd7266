internal import Synchronization

/// How long the parts of one request took, each counted from the request's start, and what it moved.
///
/// Each moment is at or behind the one before; what did not happen, such as the handshake on a pooled
/// connection, is zero.
public struct Timings: Sendable, Hashable {
    /// Until the host's name, or the proxy's, was resolved.
    public var nameResolved = Duration.zero
    /// Until the TCP connection stood, to the proxy where there is one.
    public var connected = Duration.zero
    /// Until the proxy had opened the way to the host.
    public var tunnelled = Duration.zero
    /// Until the TLS handshake with the host was done.
    public var secured = Duration.zero
    /// Until the first byte of the reply.
    public var firstByte = Duration.zero
    /// Until the last byte of the reply's body; zero while it comes.
    public var total = Duration.zero
    /// Bytes of the request, header and body as HTTP/1.1 counts them, without TLS.
    public var bytesSent: Int64 = 0
    /// Bytes of the reply, header and body as they came, without TLS.
    public var bytesReceived: Int64 = 0
    /// Whether a connection of an earlier request carried this one.
    public var reusedConnection = false

    /// Makes timings of zero.
    public init() {}
}

/// Where an engine puts the timings of a reply whose body still comes.
public final class TimingsRecord: Sendable {
    private let kept = Mutex(Timings())

    /// Makes a record of zero.
    public init() {}

    /// The newest timings.
    public var timings: Timings { kept.withLock { $0 } }

    /// Puts newer timings in the place of the old ones.
    public func record(_ timings: Timings) { kept.withLock { $0 = timings } }
}
