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
/// Tests that wait for a server ask every 10 ms. Linux answers in 0.1 ms over sock_diag(7);
/// to read `/proc/net/tcp`, which is left if there is no answer, takes 4 ms.
private func listeningPorts() -> Set<Int> {
    if let v4 = listeningPorts(AF_INET), let v6 = listeningPorts(AF_INET6) { return v4.union(v6) }
    var ports: Set<Int> = []
    for path in ["/proc/net/tcp", "/proc/net/tcp6"] {
        for row in ((try? String(contentsOfFile: path, encoding: .utf8)) ?? "").split(
            separator: "\n")
        {
            // Number, local address and port, peer's, state.
            let columns = row.split(separator: " ")
            guard columns.count > 3, columns[3] == "0A" else { continue }
            if let port = Int(columns[1].suffix(4), radix: 16) { ports.insert(port) }
        }
    }
    return ports
}

/// The ports of one address family by sock_diag(7); nil if the kernel doesn't answer.
private func listeningPorts(_ family: Int32) -> Set<Int>? {
    let netlinkSockDiag: Int32 = 4
    let kind = Int32(SOCK_RAW.rawValue) | Int32(SOCK_CLOEXEC.rawValue)
    let descriptor = socket(AF_NETLINK, kind, netlinkSockDiag)
    guard descriptor >= 0 else { return nil }
    let socket = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
    // nlmsghdr: size, SOCK_DIAG_BY_FAMILY, NLM_F_REQUEST and NLM_F_DUMP, number, process.
    // inet_diag_req_v2: family, protocol, extensions, padding, states, a socket that stays empty.
    let request =
        bytes(of: UInt32(72)) + bytes(of: UInt16(20)) + bytes(of: UInt16(0x301))
        + [UInt8](repeating: 0, count: 8)
        + [UInt8(family), UInt8(IPPROTO_TCP), 0, 0] + bytes(of: UInt32(1 << 10))
        + [UInt8](repeating: 0, count: 48)
    guard (try? socket.write(contentsOf: request)) != nil else { return nil }
    var ports: Set<Int> = []
    while true {
        // One datagram, which the kernel makes no larger than the 8 KiB that are read.
        var message = Array(socket.availableData)[...]
        guard !message.isEmpty else { return nil }
        while message.count >= 16 {
            let header = Array(message.prefix(6))
            let size = Int(header[0]) | Int(header[1]) << 8 | Int(header[2]) << 16
            // NLMSG_DONE
            if header[4] == 3 { return ports }
            guard header[4] == 20, size >= 22, size <= message.count else { return nil }
            // inet_diag_msg: family, state, timer, retransmissions, the port in network order.
            let port = Array(message.dropFirst(20).prefix(2))
            ports.insert(Int(port[0]) << 8 | Int(port[1]))
            message = message.dropFirst((size + 3) & ~3)
        }
    }
}

private func bytes(of number: some FixedWidthInteger) -> [UInt8] {
    (0..<number.bitWidth / 8).map { UInt8(truncatingIfNeeded: number >> ($0 * 8)) }
}
