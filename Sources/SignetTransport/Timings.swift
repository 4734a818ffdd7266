import Synchronization

/// The timings of one request, each measured from the request's start, and its sizes.
///
/// The times are in ascending order. A step that didn't happen, such as the handshake on a pooled
/// connection, is zero.
public struct Timings: Sendable, Hashable {
    /// The time until the name of the host, or of the proxy, was resolved.
    public var nameResolved = Duration.zero
    /// The time until the TCP connection to the host, or to the proxy, was established.
    public var connected = Duration.zero
    /// The time until the proxy had opened a tunnel to the host.
    public var tunnelled = Duration.zero
    /// The time until the TLS handshake with the host was complete.
    public var secured = Duration.zero
    /// The time until the first byte of the response.
    public var firstByte = Duration.zero
    /// The time until the last byte of the response's body; zero before that.
    public var total = Duration.zero
    /// The bytes of the request, header and body as in HTTP/1.1, without TLS.
    public var bytesSent: Int64 = 0
    /// The bytes of the response, header and encoded body, without TLS.
    public var bytesReceived: Int64 = 0
    /// Whether the request used the connection of an earlier request.
    public var reusedConnection = false

    /// Creates timings of zero.
    public init() {}
}

/// Holds the timings of a response while its body arrives.
public final class TimingsRecord: Sendable {
    private let latest = Mutex(Timings())

    /// Creates a record whose timings are zero.
    public init() {}

    /// The latest timings.
    public var timings: Timings { latest.withLock { $0 } }

    /// Replaces the timings.
    public func record(_ timings: Timings) { latest.withLock { $0 = timings } }
}
