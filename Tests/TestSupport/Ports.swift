import Foundation
import Synchronization

private let handedOut = Mutex<Set<Int>>([])

/// A TCP port on which nothing listens or talks now, never given twice in this process.
///
/// It lies below the range that the system takes for outgoing connections, so that no connection
/// of another test sits on it by the time a server binds it.
package func freePort() -> Int {
    handedOut.withLock { taken in
        let inUse = Set(socketTable().map(\.port))
        var port = Int.random(in: 15_000..<32_000)
        while inUse.contains(port) || !taken.insert(port).inserted {
            port = Int.random(in: 15_000..<32_000)
        }
        return port
    }
}

/// Whether a server on this machine accepts connections to the port now; nothing is sent to it.
package func isListening(on port: Int) -> Bool {
    socketTable().contains { $0.port == port && $0.isListening }
}

/// The kernel's list of TCP sockets: local port, and whether the socket listens (state 0A).
private func socketTable() -> [(port: Int, isListening: Bool)] {
    ["/proc/net/tcp", "/proc/net/tcp6"].flatMap { path -> [(port: Int, isListening: Bool)] in
        guard let table = FileManager.default.contents(atPath: path) else { return [] }
        return String(decoding: table, as: UTF8.self).split(separator: "\n").dropFirst()
            .compactMap { line in
                let columns = line.split(separator: " ")
                guard columns.count > 3, let colon = columns[1].lastIndex(of: ":"),
                    let port = Int(columns[1][columns[1].index(after: colon)...], radix: 16)
                else { return nil }
                return (port, columns[3] == "0A")
            }
    }
}
