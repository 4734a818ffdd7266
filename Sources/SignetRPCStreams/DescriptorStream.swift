import Dispatch
import SignetRPC

/// A stream over open descriptors: a pipe for each direction, or a socket.
///
/// ```swift
/// import SignetJSON
/// import SignetRPC
/// import SignetRPCStreams
///
/// let stream = try DescriptorStream(socketAt: "/run/orders.sock")
/// let connection = RPCConnection(stream, options: .modelContext)
/// let order = try await connection.call("orders.get", parameters: .array([7]))
/// ```
///
/// Each direction uses a thread of its own while something is read or written. If the peer doesn't
/// read, only the writer waits.
public final class DescriptorStream: RPCByteStream {
    private let descriptors: Descriptors
    private let reading = DispatchQueue(label: "signet.stream.read")
    private let writing = DispatchQueue(label: "signet.stream.write")

    init(_ descriptors: Descriptors) { self.descriptors = descriptors }

    /// Takes ownership of two descriptors, such as 0 and 1 of a program that is a server itself.
    /// Pass a socket twice. They are closed with the stream.
    ///
    /// - Throws: `RPCStreamError` if the system has no more descriptors; both are then closed.
    public convenience init(reading: Int32, writing: Int32) throws(RPCStreamError) {
        self.init(try Descriptors(reading: reading, writing: writing))
    }

    /// Connects to a server's Unix domain socket. The file's mode determines who may connect.
    ///
    /// - Throws: `RPCStreamError` with the system's error; `ETIMEDOUT` if the server doesn't accept
    ///   the connection within five seconds.
    public convenience init(socketAt path: String) throws(RPCStreamError) {
        self.init(try Descriptors.connected(toSocketAt: path))
    }

    /// Connects to a server on a TCP port of this machine, at 127.0.0.1 or else ::1.
    ///
    /// Other machines cannot be reached, because the stream is neither encrypted nor authenticated.
    /// Even on this machine any user's program may listen on the port, so prefer a Unix domain
    /// socket.
    ///
    /// - Throws: As `init(socketAt:)`.
    public convenience init(loopbackPort port: UInt16) throws(RPCStreamError) {
        self.init(try Descriptors.connected(toLoopbackPort: port))
    }

    deinit { close() }

    /// Waits for bytes; returns an empty array if the peer will send no more.
    ///
    /// - Throws: `RPCStreamError` with the system's error.
    public func read(atMost count: Int) async throws -> [UInt8] {
        try await run(on: reading) { [descriptors] in try descriptors.read(atMost: count) }
    }

    /// Writes all bytes, waiting as long as the peer doesn't read.
    ///
    /// - Throws: `RPCStreamError` with the system's error; `EPIPE` if the peer has gone.
    public func write(_ bytes: [UInt8]) async throws {
        try await run(on: writing) { [descriptors] in try descriptors.write(bytes) }
    }

    /// Ends both directions and all waiting reads and writes at once.
    public func close() { descriptors.wake() }

    private func run<Value: Sendable>(
        on queue: DispatchQueue, _ work: @escaping @Sendable () throws -> Value
    ) async throws -> Value {
        try await withCheckedThrowingContinuation { continuation in
            queue.async { continuation.resume(with: Result(catching: work)) }
        }
    }
}
