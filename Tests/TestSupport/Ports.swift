import Foundation
import Synchronization

private let handedOut = Mutex<Set<Int>>([])

/// A TCP port on which nothing listens now, never given twice in this process.
///
/// It is below the system's range for outgoing connections, so that no connection of another test
/// uses it when a server binds it.
package func freePort() -> Int {
    handedOut.withLock { taken in
        let listening = listeningPorts()
        var port = Int.random(in: 15_000..<32_000)
        while listening.contains(port) || !taken.insert(port).inserted {
            port = Int.random(in: 15_000..<32_000)
        }
        return port
    }
}

/// Whether a server on this machine accepts connections to the port now; nothing is sent to it.
package func isListening(on port: Int) -> Bool { listeningPorts().contains(port) }

/// The ports on which TCP servers of this machine listen.
///
/// The kernel lists their sockets before all others. Reading the others takes it 10 ms, and tests
/// that wait for a server ask every 10 ms.
private func listeningPorts() -> Set<Int> {
    var ports: Set<Int> = []
    for path in ["/proc/net/tcp", "/proc/net/tcp6"] {
        guard let file = FileHandle(forReadingAtPath: path) else { continue }
        defer { try? file.close() }
        var text = Data()
        while let part = try? file.read(upToCount: 4096), !part.isEmpty {
            text += part
            // After the heading: number, local address and port, peer's, state.
            let rows = text.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
                .dropFirst().dropLast()
                .map { String(decoding: $0, as: UTF8.self).split(separator: " ") }
            let servers = rows.prefix { $0.count > 3 && $0[3] == "0A" }
            ports.formUnion(servers.compactMap { Int($0[1].suffix(4), radix: 16) })
            if servers.count < rows.count { break }
        }
    }
    return ports
}
