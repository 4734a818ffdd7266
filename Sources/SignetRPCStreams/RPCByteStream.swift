internal import SignetRPC

/// Two directions of bytes between this program and a peer: a socket, or a child's standard input and
/// output.
///
/// A connection reads from one task and writes from another, each one call at a time. What is thrown
/// ends the connection; its text is for people and must hold no secret.
public protocol RPCByteStream: Sendable {
    /// Waits for bytes and gives those that are there, at most `count`; empty where the peer will send
    /// no more.
    func read(atMost count: Int) async throws -> [UInt8]

    /// Hands all of the bytes to the peer, and waits as long as it takes no more.
    func write(_ bytes: [UInt8]) async throws

    /// Ends both directions: a read or write under way returns or throws at once, and so does every
    /// later one. Called any number of times, from any thread.
    func close()
}
