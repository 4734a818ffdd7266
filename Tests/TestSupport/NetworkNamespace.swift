import Foundation
import Synchronization

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// A network namespace with a veth pair `near` and `far`, so that a test can change links without
/// touching the machine's own.
///
/// `near` has the address 192.0.2.2 and a default route by 192.0.2.1. It has a carrier while `far`
/// is up.
package final class NetworkNamespace: Sendable {
    /// Whether this process may make namespaces and change links.
    package static let isAllowed: Bool = {
        guard geteuid() == 0 else { return false }
        let test = ["-n", "ip", "link", "add", "near", "type", "veth", "peer", "name", "far"]
        return (try? ChildProcess.runBlocking("unshare", test, timeout: 20).exit) == 0
    }()

    private let holder: ServerProcess

    /// Makes the namespace, with both links up.
    package init() async throws {
        holder = try await ServerProcess.start(
            "unshare", ["-n", "sh", "-c", "echo ready; exec sleep 600"], ready: .output("ready"))
        try await ip("link add near type veth peer name far")
        try await ip("address add 192.0.2.2/24 dev near")
        try await ip("link set near up")
        try await ip("link set far up")
        try await ip("route add default via 192.0.2.1")
    }

    /// Runs `ip` with words in the namespace.
    package func ip(_ words: String) async throws {
        let output = try await ChildProcess.run(
            "nsenter",
            ["--net=/proc/\(holder.processIdentifier)/ns/net", "ip"]
                + words.split(separator: " ").map(String.init))
        guard output.exit == 0 else { throw TestSupportError("ip \(words): \(output.stderr)") }
    }

    /// Does work on a thread that is in the namespace.
    package func perform<Value: Sendable>(_ work: @escaping @Sendable () -> Value) -> Value? {
        let path = "/proc/\(holder.processIdentifier)/ns/net"
        let result = Mutex<Value?>(nil)
        let done = DispatchSemaphore(value: 0)
        Thread.detachNewThread {
            defer { done.signal() }
            typealias Enter = @convention(c) (Int32, Int32) -> Int32
            // CLONE_NEWNET
            guard let symbol = unsafe dlsym(nil, "setns") else { return }
            let enter = unsafe unsafeBitCast(symbol, to: Enter.self)
            let file = unsafe open(path, O_RDONLY | O_CLOEXEC)
            guard file >= 0 else { return }
            defer { close(file) }
            guard enter(file, 0x4000_0000) == 0 else { return }
            let value = work()
            result.withLock { $0 = value }
        }
        done.wait()
        return result.withLock { $0 }
    }
}
