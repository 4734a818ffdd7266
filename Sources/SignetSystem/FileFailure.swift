internal import SignetBase

#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Musl)
    internal import Musl
#endif

/// A file that could not be read or written.
package struct FileFailure: Error, Sendable, Hashable, CustomStringConvertible {
    /// Why, for those who act on it.
    package enum Kind: Sendable, Hashable {
        case notFound
        case alreadyExists
        /// Another process is changing it, or changed it meanwhile.
        case busy
        /// Others than the owner may read or write it, or it is another user's.
        case permissions
        /// A folder, a device, a pipe or a socket where a file was wanted.
        case wrongKind
        case tooLarge
        /// Whatever else the system said.
        case system
    }

    package let path: String
    /// What was tried: `"open"`, `"read"`, `"write"`, ….
    package let operation: String
    /// What the system said, or what was found and wanted.
    package let reason: String
    package let kind: Kind

    package init(path: String, operation: String, reason: String, kind: Kind) {
        self.path = path
        self.operation = operation
        self.reason = reason
        self.kind = kind
    }

    /// The failure that `errno` tells of; to be called at once after the call that failed.
    package init(path: String, operation: String, errno code: Int32) {
        let kind: Kind =
            switch code {
            case ENOENT, ENOTDIR: .notFound
            case EEXIST: .alreadyExists
            case EISDIR, ENXIO, ENODEV: .wrongKind
            default: .system
            }
        self.init(
            path: path, operation: operation, reason: unsafe String(cString: strerror(code)),
            kind: kind)
    }

    /// The failure of one who waited for another process, or another part of this one.
    static func busy(_ path: String) -> FileFailure {
        FileFailure(
            path: path, operation: "change",
            reason: "another process is changing it; try again when that has ended", kind: .busy)
    }

    /// One line: what was tried, on which file, and why not. Control characters are escaped.
    package var message: String { "cannot \(operation) \(printable(path)): \(reason)" }

    package var description: String { message }
}
