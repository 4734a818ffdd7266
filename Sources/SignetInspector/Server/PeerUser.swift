#if Inspector
import SignetSystem

/// Finds the user who holds the other end of a connection on this machine.
///
/// Everybody on a machine can connect to 127.0.0.1. The kernel's table of connections has the owner
/// of each end (proc(5), `/proc/net/tcp`).
enum PeerUser {
    /// Returns the user of the socket at 127.0.0.1 that a client has; nil if there is none, as for
    /// one of another network namespace.
    ///
    /// - Parameters:
    ///   - port: The client's port.
    ///   - serverPort: The port that it is connected to.
    static func user(at port: UInt16, connectedTo serverPort: UInt16) -> UInt32? {
        // A client may use a socket of IPv6 for an address of IPv4.
        for (file, prefix) in [("/proc/net/tcp", ""), ("/proc/net/tcp6", mappedPrefix)] {
            guard let table = try? InputFile.read(file) else { continue }
            let found = user(
                in: table, from: address(prefix, port), to: address(prefix, serverPort))
            if let found { return found }
        }
        return nil
    }

    /// Returns the user of a connection in a table of the kernel.
    static func user(in table: [UInt8], from local: String, to remote: String) -> UInt32? {
        for line in table.split(separator: UInt8(ascii: "\n")) {
            let columns = line.split(separator: UInt8(ascii: " "))
            // A socket that its program has closed has no inode, and the user 0.
            guard columns.count > 9, columns[1].elementsEqual(local.utf8),
                columns[2].elementsEqual(remote.utf8), columns[3].elementsEqual(established),
                !columns[9].elementsEqual("0".utf8)
            else { continue }
            return UInt32(String(decoding: columns[7], as: UTF8.self))
        }
        return nil
    }

    /// Returns 127.0.0.1 and a port, as the table writes them: the words of the address in the
    /// machine's order.
    static func address(_ prefix: String = "", _ port: UInt16) -> String {
        "\(prefix)\(hexadecimal(UInt32(0x7F00_0001).bigEndian, width: 8)):"
            + hexadecimal(UInt32(port), width: 4)
    }

    /// The state `TCP_ESTABLISHED` of the kernel.
    private static let established = Array("01".utf8)

    static var mappedPrefix: String {
        "0000000000000000" + hexadecimal(UInt32(0x0000_FFFF).bigEndian, width: 8)
    }

    private static func hexadecimal(_ value: UInt32, width: Int) -> String {
        let digits = String(value, radix: 16, uppercase: true)
        return String(repeating: "0", count: width - digits.utf8.count) + digits
    }
}
#endif
