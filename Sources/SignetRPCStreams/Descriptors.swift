import CSignetStreams
import SignetRPC
import SignetSystem

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// A descriptor for each direction, and one that ends waits on them. All are closed with the last
/// reference, so that their numbers aren't reused while a thread waits on them.
final class Descriptors: Sendable {
    private let input: Int32
    private let output: Int32
    private let waker: Int32

    /// Takes ownership of descriptors. Pass one for both directions twice.
    init(reading: Int32, writing: Int32) throws(RPCStreamError) {
        waker = signet_stream_waker()
        input = reading
        output = writing
        // If this throws, `deinit` closes the descriptors.
        guard waker >= 0 else { throw RPCStreamError(.openFailed, number: -waker) }
    }

    deinit {
        close(input)
        if output != input { close(output) }
        if waker >= 0 { close(waker) }
    }

    /// Ends every wait, including later ones.
    func wake() { signet_stream_wake(waker) }

    /// Blocks until bytes are available and returns them; an empty array at the end.
    func read(atMost count: Int) throws(RPCStreamError) -> [UInt8] {
        var status = 0
        let bytes = unsafe [UInt8](unsafeUninitializedCapacity: count) { buffer, filled in
            unsafe status = signet_stream_read(input, waker, buffer.baseAddress, count)
            filled = max(0, status)
        }
        guard status >= 0 else { throw RPCStreamError(.readFailed, status: status) }
        return bytes
    }

    /// Blocks until all bytes are written.
    func write(_ bytes: [UInt8]) throws(RPCStreamError) {
        let status = unsafe bytes.withUnsafeBufferPointer { buffer in
            unsafe signet_stream_write(output, waker, buffer.baseAddress, buffer.count)
        }
        guard status == 0 else { throw RPCStreamError(.writeFailed, status: Int(status)) }
    }

    /// Connects to a Unix domain socket.
    static func connected(toSocketAt path: String) throws(RPCStreamError) -> Descriptors {
        // C would use only the text before a NUL as the path.
        guard !path.utf8.contains(0) else {
            throw RPCStreamError(.connect, number: EINVAL)
        }
        return try connected(unsafe signet_stream_connect(path))
    }

    /// Connects to a port of this machine.
    static func connected(toLoopbackPort port: UInt16) throws(RPCStreamError) -> Descriptors {
        try connected(signet_stream_connect_loopback(port))
    }

    private static func connected(_ file: Int32) throws(RPCStreamError) -> Descriptors {
        guard file >= 0 else { throw RPCStreamError(.connect, number: -file) }
        return try Descriptors(reading: file, writing: file)
    }

    /// Starts a program and returns the descriptors of its standard input and output.
    static func spawned(
        _ program: String, arguments: [String]
    ) throws(RPCStreamError) -> (Descriptors, child: Int32) {
        let words = [program] + arguments
        guard !words.contains(where: { $0.utf8.contains(0) }), !program.isEmpty else {
            throw RPCStreamError(.startFailed, number: EINVAL)
        }
        var pointers = unsafe words.map { unsafe strdup($0) }
        unsafe pointers.append(nil)
        defer { for index in unsafe pointers.indices { unsafe free(pointers[index]) } }
        var (writing, reading, child): (Int32, Int32, pid_t) = (-1, -1, 0)
        let status = unsafe signet_stream_spawn(&pointers, &writing, &reading, &child)
        guard status == 0 else { throw RPCStreamError(.startFailed, number: -status) }
        do throws(RPCStreamError) {
            return (try Descriptors(reading: reading, writing: writing), child)
        } catch {
            kill(child, SIGKILL)
            _ = reap(child)
            throw error
        }
    }

    /// Blocks until a child has ended. Its PID isn't reused until it is reaped.
    static func awaitEnd(of child: Int32) { signet_stream_await_end(child) }

    /// Blocks until a child has ended, reaps it and returns its exit status.
    static func reap(_ child: Int32) -> Int32 { SystemCalls.wait(forChild: child) }

    /// Sends a child SIGTERM, or SIGKILL.
    static func end(_ child: Int32, byForce: Bool) { kill(child, byForce ? SIGKILL : SIGTERM) }
}

extension RPCStreamError {
    fileprivate init(_ code: Code, status: Int) {
        let isClosed = status == Int(SIGNET_STREAM_WOKEN)
        self.init(code, number: isClosed ? ECANCELED : Int32(clamping: -status))
    }

    /// The error of a stream that was closed on this side.
    static let closed = RPCStreamError(.readFailed, number: ECANCELED)

    /// Returns the system's text for an error.
    static func words(_ number: Int32) -> String {
        unsafe strerror(number).map { unsafe String(cString: $0) } ?? "error \(number)"
    }
}
