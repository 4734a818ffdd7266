import Foundation
import Synchronization

private let handedOut = Mutex<Set<Int>>([])

/// A TCP port on which nothing listens or talks now, never given twice in this process.
///
/// It is below the system's range for outgoing connections, so that no connection of another test
/// uses it when a server binds it.
package func freePort() -> Int {
    handedOut.withLock { taken in
        let table = socketTable()
        var port = Int.random(in: 15_000..<32_000)
        while table.holds(localPort: port, "") || !taken.insert(port).inserted {
            port = Int.random(in: 15_000..<32_000)
        }
        return port
    }
}

/// Whether a server on this machine accepts connections to the port now; nothing is sent to it.
package func isListening(on port: Int) -> Bool {
    // A listening socket has no peer and the state 0A.
    let table = socketTable()
    return ["00000000", String(repeating: "0", count: 32)].contains { nobody in
        table.holds(localPort: port, "\(nobody):0000 0A ")
    }
}

/// The kernel's list of TCP sockets; servers are waited for by asking for it often, so it is
/// searched as bytes.
private func socketTable() -> Data {
    var table = Data()
    for path in ["/proc/net/tcp", "/proc/net/tcp6"] {
        table += FileManager.default.contents(atPath: path) ?? Data()
    }
    return table
}

extension Data {
    /// Whether a line names this local port, followed by these columns.
    fileprivate func holds(localPort port: Int, _ columns: String) -> Bool {
        let hexadecimal = String(port, radix: 16, uppercase: true)
        let padding = String(repeating: "0", count: 4 - hexadecimal.count)
        return range(of: Data(":\(padding)\(hexadecimal) \(columns)".utf8)) != nil
    }
}
