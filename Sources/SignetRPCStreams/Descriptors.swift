internal import SignetRPC
internal import CSignetStreams

#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Musl)
    internal import Musl
#endif

/// Two descriptors, one for each direction, and what ends the waits on them. They are closed with the
/// last reference, so that no number is another file's while a thread waits on it.
final class Descriptors: Sendable {
    private let input: Int32
    private let output: Int32
    private let waker: Int32

    /// Takes descriptors over; one for both directions is given twice.
    init(reading: Int32, writing: Int32) throws(RPCStreamError) {
        waker = csignet_stream_waker()
        input = reading
        output = writing
        guard waker >= 0 else {
            closeBoth(reading, writing)
            throw RPCStreamError(operation: "open", number: -waker)
        }
    }

    deinit {
        closeBoth(input, output)
        if waker >= 0 { close(waker) }
    }

    /// Ends every wait, those to come too.
    func wake() { csignet_stream_wake(waker) }

    /// Blocks until there are bytes; empty at the end.
    func read(atMost count: Int) throws(RPCStreamError) -> [UInt8] {
        var status = 0
        let bytes = unsafe [UInt8](unsafeUninitializedCapacity: count) { buffer, filled in
            unsafe status = csignet_stream_read(input, waker, buffer.baseAddress, count)
            filled = max(0, status)
        }
        guard status >= 0 else { throw RPCStreamError(operation: "read", status: status) }
        return bytes
    }

    /// Blocks until the peer has taken all bytes.
    func write(_ bytes: [UInt8]) throws(RPCStreamError) {
        let status = unsafe bytes.withUnsafeBufferPointer { buffer in
            unsafe csignet_stream_write(output, waker, buffer.baseAddress, buffer.count)
        }
        guard status == 0 else { throw RPCStreamError(operation: "write", status: Int(status)) }
    }

    /// Connects to a Unix domain socket.
    static func connected(toSocketAt path: String) throws(RPCStreamError) -> Descriptors {
        // C would take what stands before a NUL for the path.
        guard !path.utf8.contains(0) else {
            throw RPCStreamError(operation: "connect", number: EINVAL)
        }
        return try connected(unsafe csignet_stream_connect(path))
    }

    /// Connects to a port of this machine.
    static func connected(toLoopbackPort port: UInt16) throws(RPCStreamError) -> Descriptors {
        try connected(csignet_stream_connect_loopback(port))
    }

    private static func connected(_ file: Int32) throws(RPCStreamError) -> Descriptors {
        guard file >= 0 else { throw RPCStreamError(operation: "connect", number: -file) }
        return try Descriptors(reading: file, writing: file)
    }

    /// Starts a program, whose standard input and output these are then.
    static func spawned(
        _ program: String, _ arguments: [String]
    ) throws(RPCStreamError) -> (Descriptors, child: Int32) {
        let words = [program] + arguments
        guard !words.contains(where: { $0.utf8.contains(0) }), !program.isEmpty else {
            throw RPCStreamError(operation: "start", number: EINVAL)
        }
        var pointers = unsafe words.map { unsafe strdup($0) }
        unsafe pointers.append(nil)
        defer { for index in unsafe pointers.indices { unsafe free(pointers[index]) } }
        var (writing, reading, child): (Int32, Int32, pid_t) = (-1, -1, 0)
        let status = unsafe csignet_stream_spawn(&pointers, &writing, &reading, &child)
        guard status == 0 else { throw RPCStreamError(operation: "start", number: -status) }
        do throws(RPCStreamError) {
            return (try Descriptors(reading: reading, writing: writing), child)
        } catch {
            kill(child, SIGKILL)
            _ = reap(child)
            throw error
        }
    }

    /// Blocks until a child has ended; its number stays its own until it is reaped.
    static func awaitEnd(of child: Int32) { csignet_stream_await_end(child) }

    /// Blocks until a child has ended, and gives its exit status and its number back.
    static func reap(_ child: Int32) -> Int32 { csignet_stream_wait(child) }

    /// Asks a child to end, or makes it.
    static func end(_ child: Int32, byForce: Bool) { kill(child, byForce ? SIGKILL : SIGTERM) }
}

private func closeBoth(_ one: Int32, _ two: Int32) {
    close(one)
    if two != one { close(two) }
}

extension RPCStreamError {
    fileprivate init(operation: String, status: Int) {
        let isClosed = status == Int(CSIGNET_STREAM_WOKEN)
        self.init(operation: operation, number: isClosed ? ECANCELED : Int32(clamping: -status))
    }

    /// The stream was closed on this side.
    static let closed = RPCStreamError(operation: "read", number: ECANCELED)

    /// The system's words for an error.
    static func words(_ number: Int32) -> String {
        unsafe strerror(number).map { unsafe String(cString: $0) } ?? "error \(number)"
    }
}
