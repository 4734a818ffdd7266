import CSignetSystem
import Glibc

/// The process's environment variables.
package enum Environment {
    /// The value of a variable, or nil if it is not set.
    ///
    /// - Throws: `FileFailure` if the value isn't UTF-8.
    package static subscript(name: String) -> String? {
        get throws(FileFailure) {
            guard let value = unsafe getenv(name) else { return nil }
            guard let text = unsafe String(validatingCString: value) else { throw notText(name) }
            return text
        }
    }

    /// Returns whether a variable is set, whatever its value is.
    package static func contains(_ name: String) -> Bool { unsafe getenv(name) != nil }

    /// All variables, the first of each name. The value is nil if the name or the value isn't
    /// UTF-8; then the name is only for messages.
    package static var all: [(name: String, value: String?)] {
        var variables: [(name: String, value: String?)] = []
        var seen: Set<[UInt8]> = []
        guard var next = unsafe signet_environment() else { return [] }
        while let entry = unsafe next.pointee {
            unsafe next += 1
            let bytes = unsafe UnsafeRawBufferPointer(start: entry, count: strlen(entry))
            guard let equals = unsafe bytes.firstIndex(of: 0x3D) else { continue }
            let (name, value) = unsafe (bytes[..<equals], bytes[(equals + 1)...])
            guard unsafe seen.insert(Array(name)).inserted else { continue }
            let isText = unsafe String(validating: name, as: UTF8.self) != nil
            variables.append(
                unsafe (
                    String(decoding: name, as: UTF8.self),
                    isText ? String(validating: value, as: UTF8.self) : nil
                ))
        }
        return variables
    }

    /// The variables whose names and values are UTF-8.
    package static var texts: [String: String] {
        Dictionary(all.compactMap { name, value in value.map { (name, $0) } }) { first, _ in first }
    }

    /// The failure to read a variable whose value isn't UTF-8.
    package static func notText(_ name: String) -> FileFailure {
        FileFailure(
            path: "the variable \(name)", operation: "read", reason: "its value is not UTF-8",
            kind: .system)
    }
}

/// The process's arguments.
package enum Arguments {
    /// The program's name and the arguments. One that isn't UTF-8 is nil.
    package static var all: [String?] {
        (0..<Int(CommandLine.argc)).map { index in
            unsafe CommandLine.unsafeArgv[index].flatMap { unsafe String(validatingCString: $0) }
        }
    }
}
