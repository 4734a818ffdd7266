import Glibc
package import SignetBase

/// A file cannot be read or written.
package struct FileFailure: SignetError, Sendable, Hashable, CustomStringConvertible {
    /// The kind of failure, for programs.
    package enum Kind: Sendable, Hashable {
        case notFound
        case alreadyExists
        /// Another process is changing the file, or has changed it in the meantime.
        case busy
        /// Others than the owner have access to the file, or it belongs to another user.
        case permissions
        /// A folder, a device, a pipe or a socket was found instead of a file.
        case wrongKind
        case tooLarge
        /// Any other error of the system.
        case system
    }

    package let path: String
    /// The operation that failed: `"open"`, `"read"`, `"write"`, ….
    package let operation: String
    /// The system's message, or what was found and expected.
    package let reason: String
    package let kind: Kind

    package init(path: String, operation: String, reason: String, kind: Kind) {
        self.path = path
        self.operation = operation
        self.reason = reason
        self.kind = kind
    }

    /// Creates the failure for an error number, which the caller must read right after the failed
    /// call.
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

    /// Returns the failure of another operation, on another path, that this one has caused.
    ///
    /// - Parameter reason: The new reason; nil keeps this one's.
    func causing(
        _ operation: String, of path: String, because reason: String? = nil
    ) -> FileFailure {
        FileFailure(path: path, operation: operation, reason: reason ?? self.reason, kind: kind)
    }

    /// Returns the failure for a file that another process, or another part of this one, is
    /// changing.
    static func busy(_ path: String) -> FileFailure {
        FileFailure(
            path: path, operation: "change",
            reason: "another process is changing it; retry when that process is done", kind: .busy)
    }

    /// One line with the operation, the file and the reason. Control characters in the path are
    /// escaped.
    package var message: String { "cannot \(operation) \(printable(path)): \(reason)" }

    package var description: String { message }

    /// The code in the tool's output, by kind and operation.
    package var code: SignetErrorCode {
        switch (kind, operation) {
        case (.permissions, _): .keyFilePermissions
        case (.busy, _): .fileBusy
        case (_, "write"), (_, "create"), (_, "change"), (_, "wipe"), (_, "lock"): .unwritableFile
        case (_, "edit"): .usage("editor-failed")
        default: .unreadableFile
        }
    }
}
