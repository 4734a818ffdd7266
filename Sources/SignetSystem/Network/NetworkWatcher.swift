import CSignetSystem
import Glibc
import SignetBase
import Synchronization

/// Watches the network of this process, by a socket and a thread that exist while somebody listens.
package final class NetworkWatcher: Sendable {
    /// The watcher of this process.
    package static let shared = NetworkWatcher()

    private struct State {
        var run: NetworkRun?
        /// Begins a run later, because none could be begun.
        var retry: Task<Void, Never>?
    }

    private let hub = StateHub<NetworkState>()
    private let state = Mutex(State())
    private let open: @Sendable () -> Int32

    /// Creates a watcher.
    ///
    /// - Parameter open: Opens the socket; returns -1 if it can't. Tests open it in a network
    ///   namespace.
    package init(open: @escaping @Sendable () -> Int32 = NetworkWatcher.openSocket) {
        self.open = open
    }

    /// Opens a socket in the network namespace of this thread; returns -1 if the system refuses.
    package static let openSocket: @Sendable () -> Int32 = { signet_netlink_open() }

    /// Whether the socket is open.
    package var isWatching: Bool { state.withLock { $0.run != nil } }

    /// Adds a listener, which gets the present state first; `unknown` if the kernel can't be asked.
    ///
    /// - Returns: Its number.
    package func add(_ receive: @escaping @Sendable (NetworkState) -> Void) -> Int {
        let number = hub.add(receive)
        reconcile()
        return number
    }

    /// Removes a listener. The last one closes the socket.
    package func remove(_ number: Int) {
        hub.remove(number)
        reconcile()
    }

    /// Opens or closes the socket, as there are listeners or not.
    private func reconcile() {
        let deliveries = state.withLock { state -> StateHub<NetworkState>.Deliveries? in
            if hub.count == 0 {
                state.run?.stop()
                state.retry?.cancel()
                state = State()
                _ = hub.set(nil)
                return nil
            }
            guard state.run == nil, state.retry == nil else { return nil }
            return begin(&state, pause: NetworkRun.pauses.first)
        }
        // Listeners aren't called within `add`.
        if let deliveries { Task.detached { deliveries.perform() } }
    }

    /// Begins a run. Without a descriptor or a thread for it the state is unknown, and it begins
    /// after a pause, which doubles each time.
    private func begin(
        _ state: inout State, pause: Int32
    ) -> StateHub<NetworkState>.Deliveries? {
        if let run = NetworkRun(open), run.start({ self.note($0, of: run) }) {
            (state.run, state.retry) = (run, nil)
            return nil
        }
        state.retry = Task.detached { [weak self] in
            guard (try? await Task.sleep(for: .milliseconds(pause))) != nil, let self
            else { return }
            let deliveries = self.state.withLock { state -> StateHub<NetworkState>.Deliveries? in
                // The last listener may have gone meanwhile.
                guard !Task.isCancelled else { return nil }
                return self.begin(&state, pause: min(pause * 2, NetworkRun.pauses.last))
            }
            deliveries?.perform()
        }
        return hub.set(NetworkState(.unknown))
    }

    private func note(_ new: NetworkState, of noted: NetworkRun) {
        state.withLock { state in state.run === noted ? hub.set(new) : nil }?.perform()
    }
}

/// A socket, and the thread that reads it until it is stopped.
private final class NetworkRun: Sendable {
    /// The kernel's datagrams have at most 32 KiB (NLMSG_GOODSIZE and the size of dumps).
    private static let bufferSize = 32 << 10

    /// The pauses in milliseconds before a socket that failed is replaced, or one is opened that
    /// couldn't be.
    fileprivate static let pauses: (first: Int32, last: Int32) = (1_000, 60_000)

    private let open: @Sendable () -> Int32
    /// Replaced by the thread alone; -1 if it couldn't be opened again.
    private let socket: Mutex<Int32>
    private let wake: Int32

    init?(_ open: @escaping @Sendable () -> Int32) {
        let socket = open()
        guard socket >= 0 else { return nil }
        let wake = signet_wake_open()
        guard wake >= 0 else {
            close(socket)
            return nil
        }
        self.socket = Mutex(socket)
        (self.wake, self.open) = (wake, open)
    }

    deinit {
        let socket = socket.withLock { $0 }
        if socket >= 0 { close(socket) }
        close(wake)
    }

    /// Ends the thread.
    func stop() {
        // It fails only if it was written to before.
        _ = signet_wake(wake)
    }

    private typealias Body =
        @convention(c) (UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer?

    /// The values that the thread owns.
    private final class Work: Sendable {
        let run: NetworkRun
        let receive: @Sendable (NetworkState) -> Void

        init(_ run: NetworkRun, _ receive: @escaping @Sendable (NetworkState) -> Void) {
            (self.run, self.receive) = (run, receive)
        }
    }

    /// Starts the thread.
    ///
    /// - Returns: `false` if the system provides none.
    func start(_ receive: @escaping @Sendable (NetworkState) -> Void) -> Bool {
        let body: Body = { context in
            guard let context = unsafe context else { return nil }
            let work = unsafe Unmanaged<Work>.fromOpaque(context).takeRetainedValue()
            work.run.watch(work.receive)
            return nil
        }
        let owned = unsafe Unmanaged.passRetained(Work(self, receive))
        if unsafe signet_run_thread("signet-network", body, owned.toOpaque()) == 1 { return true }
        unsafe owned.release()
        return false
    }

    /// Reads until the run is stopped. A socket that fails makes the state unknown, and is replaced
    /// after a pause, which doubles with each further one that gave no state.
    private func watch(_ receive: (NetworkState) -> Void) {
        var pause = Self.pauses.first
        while true {
            var isKnown = false
            let socket = socket.withLock { $0 }
            let isStopped =
                socket >= 0
                && follow(socket) { state in
                    isKnown = true
                    receive(state)
                }
            if isStopped { return }
            receive(NetworkState(.unknown))
            if isKnown { pause = Self.pauses.first }
            guard signet_wake_wait(wake, pause) == 0 else { return }
            pause = min(pause * 2, Self.pauses.last)
            self.socket.withLock { socket in
                if socket >= 0 { close(socket) }
                socket = open()
            }
        }
    }

    /// Reads until the run is stopped or the socket fails, and hands on each state that differs
    /// from the one before.
    ///
    /// - Returns: Whether the run was stopped.
    private func follow(_ socket: Int32, _ receive: (NetworkState) -> Void) -> Bool {
        var tracker = NetworkTracker { NetworkDevice.type(of: $0) }
        var state: NetworkState?
        var buffer = [UInt8](repeating: 0, count: Self.bufferSize)
        guard ask(tracker.ask(), on: socket) else { return false }
        while true {
            let count = unsafe buffer.withUnsafeMutableBytes { bytes in
                unsafe signet_netlink_receive(socket, wake, bytes.baseAddress, bytes.count)
            }
            var question: NetlinkQuestion?
            if count > 0 {
                question = tracker.receive(Array(buffer[..<count]))
            } else if count < 0, errno == ENOBUFS {
                question = tracker.ask()
            } else {
                return count == 0
            }
            guard ask(question, on: socket) else { return false }
            if let new = tracker.state, new != state {
                state = new
                receive(new)
            }
        }
    }

    private func ask(_ question: NetlinkQuestion?, on socket: Int32) -> Bool {
        guard let question else { return true }
        return signet_netlink_ask(socket, question.kind.rawValue, question.number) == 1
    }
}

/// The system's device tree.
enum NetworkDevice {
    /// Returns the type of a link's device, such as `wlan` or `wwan`; nil if it has none.
    static func type(of link: String) -> String? {
        guard !link.isEmpty, !link.utf8.contains(UInt8(ascii: "/")), link != ".", link != ".."
        else { return nil }
        guard
            let bytes = try? InputFile.read("/sys/class/net/\(link)/uevent", limit: 4096)
        else { return nil }
        for line in bytes.split(separator: UInt8(ascii: "\n")) {
            let name = "DEVTYPE=".utf8
            if line.starts(with: name) {
                return String(decoding: line.dropFirst(name.count), as: UTF8.self)
            }
        }
        return nil
    }
}
