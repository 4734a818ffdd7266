import Foundation

/// The resources that this process uses now (proc(5)).
package enum ProcessUse {
    /// The resident memory in bytes.
    package static func memory() throws -> Int {
        let status = try String(contentsOfFile: "/proc/self/status", encoding: .utf8)
        let line = status.split(separator: "\n").first { $0.hasPrefix("VmRSS:") }
        let number = line?.split { !$0.isNumber }.first.flatMap { Int($0) }
        guard let number else { throw TestSupportError("no VmRSS in /proc/self/status") }
        return number << 10
    }

    /// The number of open descriptors.
    package static func descriptors() throws -> Int {
        try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").count
    }
}
