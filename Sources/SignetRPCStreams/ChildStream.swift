internal import Dispatch
internal import SignetRPC
internal import Synchronization

/// A program that is started for its standard input and output, such as a language server.
///
/// Its standard error is this program's; no other descriptor of this program is open in it. When the stream is closed, its input ends; where it does not
/// end within the grace period it is asked to (SIGTERM), and then made to (SIGKILL). No process is left
/// behind, and no zombie.
public final class ChildStream: RPCByteStream {
    /// The program's process.
    public let processIdentifier: Int32
    private let child: Child
    private let stream: Mutex<DescriptorStream?>
    private let gracePeriod: Duration

    /// Starts a program.
    ///
    /// - Parameters:
    ///   - program: Its path, or a name that `PATH` finds; no shell reads it.
    ///   - arguments: What follows its name.
    ///   - gracePeriod: How long it may take to end by itself, and once more when it was asked to.
    /// - Throws: `RPCStreamError` with the system's error.
    public init(
        _ program: String, _ arguments: [String] = [], gracePeriod: Duration = .seconds(2)
    ) throws(RPCStreamError) {
        let (descriptors, child) = try Descriptors.spawned(program, arguments)
        processIdentifier = child
        stream = Mutex(DescriptorStream(descriptors))
        self.child = Child(child)
        self.gracePeriod = gracePeriod
    }

    deinit { close() }

    /// Waits for bytes; empty where the peer will send no more.
    ///
    /// - Throws: `RPCStreamError` with the system's error.
    public func read(atMost count: Int) async throws -> [UInt8] {
        try await open().read(atMost: count)
    }

    /// Hands all bytes to the peer, and waits as long as it takes no more.
    ///
    /// - Throws: `RPCStreamError` with the system's error; `EPIPE` where the peer has gone.
    public func write(_ bytes: [UInt8]) async throws { try await open().write(bytes) }

    /// Ends both directions at once, and what waits on them.
    public func close() {
        guard let stream = stream.withLock({ $0.take() }) else { return }
        stream.close()
        let child = child
        let grace = gracePeriod / .nanoseconds(1)
        let pause = DispatchTimeInterval.nanoseconds(Int(min(max(grace, 0), 1e18)))
        DispatchQueue.global().asyncAfter(deadline: .now() + pause) { child.end(byForce: false) }
        DispatchQueue.global().asyncAfter(deadline: .now() + pause + pause) {
            child.end(byForce: true)
        }
    }

    /// Waits until the program has ended: its exit status, 128 and more for a signal.
    public func ended() async -> Int32 { await child.ended() }

    private func open() throws(RPCStreamError) -> DescriptorStream {
        guard let stream = stream.withLock({ $0 }) else {
            throw RPCStreamError.closed
        }
        return stream
    }
}

/// A child until it has ended. Nothing is sent to its number afterwards, which may be another's then.
private final class Child: Sendable {
    private struct State {
        var status: Int32?
        var waiting: [CheckedContinuation<Int32, Never>] = []
    }

    private let number: Int32
    private let state = Mutex(State())

    init(_ number: Int32) {
        self.number = number
        DispatchQueue(label: "signet.stream.child").async {
            Descriptors.awaitEnd(of: number)
            let (status, waiting) = self.state.withLock { state in
                let status = Descriptors.reap(number)
                state.status = status
                defer { state.waiting = [] }
                return (status, state.waiting)
            }
            for continuation in waiting { continuation.resume(returning: status) }
        }
    }

    func end(byForce: Bool) {
        state.withLock { if $0.status == nil { Descriptors.end(number, byForce: byForce) } }
    }

    func ended() async -> Int32 {
        await withCheckedContinuation { continuation in
            let status = state.withLock { state in
                if state.status == nil { state.waiting.append(continuation) }
                return state.status
            }
            if let status { continuation.resume(returning: status) }
        }
    }
}
