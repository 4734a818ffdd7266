import Glibc
import SignetBase

/// A folder of one user's files, which several processes may share. Nothing in it is reached
/// through a link.
package final class StoreFolder: Sendable {
    /// The path, as it was given.
    package let path: String
    private let folder: Descriptor

    /// Opens a folder, and creates it with the mode 0700 if nothing exists at its path.
    ///
    /// - Throws: `FileFailure`, of kind `permissions` if it belongs to another user or others may
    ///   write to it.
    package init(_ path: String) throws(FileFailure) {
        try Folder.createPrivate(path)
        let folder = try Descriptor(opening: path, flags: O_RDONLY | O_DIRECTORY)
        let status = try folder.status()
        var reason: String?
        if status.st_uid != geteuid() {
            reason = "it belongs to user \(status.st_uid), expected one of user \(geteuid())"
        } else if status.st_mode & 0o022 != 0 {
            reason = "others may write to it; correct this with: chmod go-w \(printable(path))"
        }
        if let reason {
            throw FileFailure(path: path, operation: "use", reason: reason, kind: .permissions)
        }
        self.path = path
        self.folder = folder
    }

    /// The path of a file.
    package func path(of name: String) -> String {
        path.utf8.last == 0x2F ? path + name : "\(path)/\(name)"
    }

    /// The names in the folder, in any order.
    package func names() throws(FileFailure) -> [String] {
        try Folder.names(in: folder, shownAs: path)
    }

    /// A text that changes if the file of a name is replaced; nil if there is none.
    package func identity(of name: String) -> String? {
        FileIdentity.named(name, in: folder).map { "\($0.device).\($0.inode)" }
    }

    /// The size of a file in bytes; 0 if there is none.
    package func size(of name: String) -> Int64 {
        var status = stat()
        guard unsafe fstatat(folder.number, name, &status, AT_SYMLINK_NOFOLLOW) == 0 else {
            return 0
        }
        return Int64(status.st_size)
    }

    /// Checks that a name has a file of this user which others can neither read nor write, or
    /// nothing.
    ///
    /// - Throws: `FileFailure`, of kind `permissions` for anything else, such as a link.
    package func requirePrivate(_ name: String) throws(FileFailure) {
        var status = stat()
        guard unsafe fstatat(folder.number, name, &status, AT_SYMLINK_NOFOLLOW) == 0 else { return }
        let reason: String
        if status.st_mode & S_IFMT != S_IFREG {
            reason = "it isn't a regular file"
        } else if status.st_uid != geteuid() {
            reason = "it belongs to user \(status.st_uid), expected one of user \(geteuid())"
        } else if status.st_mode & 0o077 != 0 {
            reason = "others may read or write it; remove it unless you know who made it"
        } else {
            return
        }
        throw FileFailure(
            path: path(of: name), operation: "use", reason: reason, kind: .permissions)
    }

    /// Sets room on the disk apart for a file of zeros, which is created or made longer.
    ///
    /// - Throws: `FileFailure`, such as for a full disk. Then the file is as it was.
    package func allocate(_ name: String, bytes: Int64) throws(FileFailure) {
        let file = try Descriptor(
            named: name, in: folder.number,
            flags: O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY, mode: 0o600,
            shownAs: path(of: name))
        let before = try file.status().st_size
        guard before < bytes else { return }
        let code = posix_fallocate(file.number, 0, off_t(bytes))
        guard code != 0 else { return }
        _ = ftruncate(file.number, before)
        if before == 0 { remove(name) }
        throw FileFailure(path: file.path, operation: "write", errno: code)
    }

    /// Removes a file, if it exists.
    package func remove(_ name: String) { _ = unsafe unlinkat(folder.number, name, 0) }

    /// Opens a file of this user for reading.
    package func open(_ name: String) throws(FileFailure) -> StoreFile {
        let file = try Descriptor(
            named: name, in: folder.number,
            flags: O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY, shownAs: path(of: name))
        let status = try file.status()
        guard status.st_mode & S_IFMT == S_IFREG, status.st_uid == geteuid(),
            status.st_mode & 0o022 == 0
        else {
            throw FileFailure(
                path: file.path, operation: "use", reason: "it isn't a private file of this user",
                kind: .permissions)
        }
        return StoreFile(file, size: Int64(status.st_size))
    }

    /// Creates a file that only its user may read, and locks it until it is closed.
    ///
    /// - Throws: `FileFailure`, of kind `alreadyExists` if the name exists.
    package func create(_ name: String) throws(FileFailure) -> NewStoreFile {
        let file = try Descriptor(
            named: name, in: folder.number, flags: O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW,
            mode: 0o600, shownAs: path(of: name))
        _ = try file.tryLock()
        return NewStoreFile(name, file: file, in: self)
    }

    /// Removes files that processes created and didn't finish before they ended.
    package func removeAbandoned(_ names: [String]) {
        for name in names {
            do throws(FileFailure) {
                let file = try Descriptor(
                    named: name, in: folder.number, flags: O_RDONLY | O_NOFOLLOW | O_NONBLOCK,
                    shownAs: name)
                guard try file.tryLock() == .acquired else { continue }
                remove(name)
            } catch {
                continue  // Another process has removed it.
            }
        }
    }

    /// Gives a file another name, in place of a file that has it. Returns false if it fails.
    package func rename(_ name: String, to new: String) -> Bool {
        unsafe renameat(folder.number, name, folder.number, new) == 0
    }
}

/// A file of a ``StoreFolder`` that is open for reading.
package final class StoreFile: Sendable {
    /// The size when it was opened, in bytes.
    package let size: Int64
    private let file: Descriptor

    fileprivate init(_ file: consuming Descriptor, size: Int64) {
        self.file = file
        self.size = size
    }

    /// Reads from a position.
    ///
    /// - Returns: `count` bytes, fewer at the end.
    package func read(at offset: Int64, count: Int) throws(FileFailure) -> [UInt8] {
        try file.read(at: offset, count: count)
    }
}

/// A file of a ``StoreFolder`` that is being written. It is removed if it isn't renamed.
package final class NewStoreFile: Sendable {
    private let name: String
    private let file: Descriptor
    private let folder: StoreFolder

    fileprivate init(_ name: String, file: consuming Descriptor, in folder: StoreFolder) {
        self.name = name
        self.file = file
        self.folder = folder
    }

    /// Adds bytes at the end.
    package func append(_ bytes: [UInt8]) throws(FileFailure) { try file.writeAll(bytes.span) }

    /// Waits until the disk has the contents.
    package func synchronize() throws(FileFailure) { try file.synchronize() }

    /// Gives the file its final name, in place of a file that has it.
    package func rename(to name: String) throws(FileFailure) {
        guard folder.rename(self.name, to: name) else { throw file.failure("rename") }
    }

    deinit { folder.remove(name) }
}
