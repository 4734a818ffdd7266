internal import Dispatch
internal import SignetRPC

/// A stream over descriptors that are open: a pipe for each direction, or a socket.
///
/// Each direction has a thread of its own while something is read or written. Bytes that the peer does
/// not take make the writer wait, and nothing else.
public final class DescriptorStream: RPCByteStream {
    private let descriptors: Descriptors
    private let reading = DispatchQueue(label: "signet.stream.read")
    private let writing = DispatchQueue(label: "signet.stream.write")

    init(_ descriptors: Descriptors) { self.descriptors = descriptors }

    /// Takes two descriptors over, such as 0 and 1 of a program that is a server itself; a socket is
    /// given twice. They are closed with the stream.
    ///
    /// - Throws: `RPCStreamError` where the system gives no descriptor more; both are closed then.
    public convenience init(reading: Int32, writing: Int32) throws(RPCStreamError) {
        self.init(try Descriptors(reading: reading, writing: writing))
    }

    /// Connects to a server's Unix domain socket; who may reach it is said by the file's mode.
    ///
    /// - Throws: `RPCStreamError` with the system's error; `ETIMEDOUT` where the server takes no connection
    ///   for five seconds.
    public convenience init(socketAt path: String) throws(RPCStreamError) {
        self.init(try Descriptors.connected(toSocketAt: path))
    }

    /// Connects to a server that listens on a TCP port of this machine, 127.0.0.1 or else ::1.
    ///
    /// There is no way to another machine, since nothing would be encrypted, and no server known for what
    /// it is. Here too any user's program may have taken the port; a Unix domain socket is better.
    ///
    /// - Throws: As `init(socketAt:)`.
    public convenience init(loopbackPort port: UInt16) throws(RPCStreamError) {
        self.init(try Descriptors.connected(toLoopbackPort: port))
    }

    deinit { close() }

    /// Waits for bytes; empty where the peer will send no more.
    ///
    /// - Throws: `RPCStreamError` with the system's error.
    public func read(atMost count: Int) async throws -> [UInt8] {
        try await on(reading) { [descriptors] in try descriptors.read(atMost: count) }
    }

    /// Hands all bytes to the peer, and waits as long as it takes no more.
    ///
    /// - Throws: `RPCStreamError` with the system's error; `EPIPE` where the peer has gone.
    public func write(_ bytes: [UInt8]) async throws {
        try await on(writing) { [descriptors] in try descriptors.write(bytes) }
    }

    /// Ends both directions at once, and what waits on them.
    public func close() { descriptors.wake() }

    private func on<Value: Sendable>(
        _ queue: DispatchQueue, _ work: @escaping @Sendable () throws -> Value
    ) async throws -> Value {
        try await withCheckedThrowingContinuation { continuation in
            queue.async { continuation.resume(with: Result(catching: work)) }
        }
    }
}
