import SignetRPC

/// A stream of bytes in both directions between this program and a peer, such as a socket or a
/// child's standard input and output.
///
/// A connection reads from one task and writes from another, each with one call at a time. An error
/// thrown here ends the connection. Its text is shown to people and must contain no secret.
public protocol RPCByteStream: Sendable {
    /// Waits for bytes and returns those that are available, at most `count`; empty if the peer
    /// will send no more.
    func read(atMost count: Int) async throws -> [UInt8]

    /// Writes all bytes, waiting as long as the peer doesn't read.
    func write(_ bytes: [UInt8]) async throws

    /// Ends both directions. Reads and writes under way return or throw at once, as do all later
    /// ones. May be called several times, from any thread.
    func close()
}
