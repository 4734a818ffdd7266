import Dispatch
import SignetBase
import SignetRPC
import Synchronization

/// A stream to a program that it starts, such as a language server: the program's standard input
/// and output.
///
/// ```swift
/// import SignetJSON
/// import SignetRPC
/// import SignetRPCStreams
///
/// let stream = try ChildStream("clangd", arguments: ["--background-index"])
/// let connection = RPCConnection(stream, options: .languageServer)
/// let capabilities = try await connection.call(
///     "initialize", parameters: .object(["capabilities": [:]]))
/// connection.close()
/// let status = await stream.ended()
/// ```
///
/// The program shares this program's standard error and none of its other descriptors. Closing the
/// stream ends the program's input. If the program doesn't end within the grace period, it receives
/// SIGTERM, and after another grace period SIGKILL. It leaves neither a process nor a zombie
/// behind.
public final class ChildStream: RPCByteStream {
    /// The program's process identifier.
    public let processIdentifier: Int32
    private let child: Child
    private let stream: Mutex<DescriptorStream?>
    private let gracePeriod: Duration

    /// Starts a program.
    ///
    /// - Parameters:
    ///   - program: A path, or a name that is searched in `PATH`. No shell interprets it.
    ///   - arguments: The arguments after the program's name.
    ///   - gracePeriod: The time to end after the input has ended, and again after SIGTERM.
    /// - Throws: `RPCStreamError` with the system's error.
    public init(
        _ program: String, arguments: [String] = [], gracePeriod: Duration = .seconds(2)
    ) throws(RPCStreamError) {
        let (descriptors, child) = try Descriptors.spawned(program, arguments: arguments)
        processIdentifier = child
        stream = Mutex(DescriptorStream(descriptors))
        self.child = Child(child)
        self.gracePeriod = gracePeriod
    }

    deinit { close() }

    /// Waits for bytes; returns an empty array if the peer will send no more.
    ///
    /// - Throws: `RPCStreamError` with the system's error.
    public func read(atMost count: Int) async throws -> [UInt8] {
        try await open().read(atMost: count)
    }

    /// Writes all bytes, waiting as long as the peer doesn't read.
    ///
    /// - Throws: `RPCStreamError` with the system's error; `EPIPE` if the peer has gone.
    public func write(_ bytes: [UInt8]) async throws { try await open().write(bytes) }

    /// Ends both directions and all waiting reads and writes at once.
    public func close() {
        guard let stream = stream.withLock({ $0.take() }) else { return }
        stream.close()
        let child = child
        let pause = DispatchTimeInterval.milliseconds(Int(gracePeriod.wholeMilliseconds))
        DispatchQueue.global().asyncAfter(deadline: .now() + pause) { child.end(byForce: false) }
        DispatchQueue.global().asyncAfter(deadline: .now() + pause + pause) {
            child.end(byForce: true)
        }
    }

    /// Waits until the program has ended and returns its exit status; 128 plus the signal if one
    /// ended it.
    public func ended() async -> Int32 { await child.ended() }

    private func open() throws(RPCStreamError) -> DescriptorStream {
        guard let stream = stream.withLock({ $0 }) else {
            throw RPCStreamError.closed
        }
        return stream
    }
}

/// A child process. After it was reaped, no signal is sent to its PID, which another process may
/// have by then.
private final class Child: Sendable {
    private let number: Int32
    private let isReaped = Mutex(false)
    private let status = Latch<Int32>()

    init(_ number: Int32) {
        self.number = number
        DispatchQueue(label: "signet.stream.child").async {
            Descriptors.awaitEnd(of: number)
            let status = self.isReaped.withLock { isReaped in
                isReaped = true
                return Descriptors.reap(number)
            }
            self.status.set(status)
        }
    }

    func end(byForce: Bool) {
        isReaped.withLock { if !$0 { Descriptors.end(number, byForce: byForce) } }
    }

    func ended() async -> Int32 { await status.wait() }
}
