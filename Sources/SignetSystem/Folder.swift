import CSignetSystem
import Glibc
import SignetBase

/// The contents of folders.
package enum Folder {
    /// Returns the path of the process's current folder, or nil if it was removed or isn't
    /// UTF-8.
    package static func current() -> String? {
        guard let path = unsafe getcwd(nil, 0) else { return nil }
        defer { unsafe free(path) }
        return unsafe String(validatingCString: path)
    }

    /// Returns the absolute path of an existing folder without links, `.` and `..`; nil also
    /// if it isn't UTF-8.
    package static func resolved(_ path: String) -> String? {
        guard let real = unsafe realpath(path, nil) else { return nil }
        defer { unsafe free(real) }
        return unsafe String(validatingCString: real)
    }

    /// Returns the text of a link; nil if there is no link, or if its text isn't UTF-8.
    package static func linkTarget(of path: String) -> String? {
        var bytes = [CChar](repeating: 0, count: Int(PATH_MAX))
        let count = unsafe readlink(path, &bytes, bytes.count)
        guard count >= 0 else { return nil }
        return String(
            validating: bytes.prefix(count).map(UInt8.init(bitPattern:)), as: UTF8.self)
    }

    /// Returns whether anything exists at a path, even a broken link.
    package static func exists(_ path: String) -> Bool {
        var status = stat()
        return unsafe lstat(path, &status) == 0
    }

    /// Returns the permission bits of a regular file; nil for a link and everything else.
    package static func permissions(ofFile path: String) -> UInt32? {
        var status = stat()
        guard unsafe lstat(path, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
            return nil
        }
        return UInt32(status.st_mode & 0o777)
    }

    /// Returns a text that changes if a file is written, replaced or moved; nil if there is none.
    package static func identity(ofFile path: String) -> String? {
        var status = stat()
        guard unsafe stat(path, &status) == 0 else { return nil }
        let changed = status.st_ctim
        return "\(status.st_dev).\(status.st_ino).\(changed.tv_sec).\(changed.tv_nsec)"
    }

    /// Creates a folder if nothing exists at its path.
    ///
    /// - Throws: `FileFailure`.
    package static func create(_ path: String, mode: UInt32 = 0o777) throws(FileFailure) {
        guard unsafe mkdir(path, mode_t(mode)) == 0 || errno == EEXIST else {
            throw FileFailure(path: path, operation: "create", errno: errno)
        }
    }

    /// Creates a folder that only its owner may enter, and the folders above it, if nothing exists
    /// at their paths.
    ///
    /// - Throws: `FileFailure`.
    package static func createPrivate(_ path: String) throws(FileFailure) {
        for index in path.indices.dropFirst() where path[index] == "/" {
            try create(String(path[..<index]), mode: 0o700)
        }
        try create(path, mode: 0o700)
    }

    /// Checks that a path below a folder is a regular file or nothing, and that no part of it is a
    /// link or leads out of the folder.
    ///
    /// - Parameters:
    ///   - path: The path, relative to the folder.
    ///   - folder: The folder, whose own path may have links.
    /// - Throws: `FileFailure`. Its message names both.
    package static func requireInside(
        _ path: String, of folder: String
    ) throws(FileFailure) {
        let folder = try Descriptor(
            opening: folder.isEmpty ? "." : folder, flags: O_RDONLY | O_DIRECTORY)
        let number = unsafe signet_open_beneath(folder.number, path)
        let error = errno
        guard number >= 0 else {
            if error == ENOENT { return }
            let reason: String? =
                switch error {
                case ELOOP: "a part of it is a link, expected a file below \(folder.path)"
                case EXDEV: "it leads out of \(folder.path), expected a file below it"
                default: nil
                }
            throw reason.map {
                FileFailure(path: path, operation: "use", reason: $0, kind: .permissions)
            } ?? FileFailure(path: path, operation: "use", errno: error)
        }
        let file = Descriptor(adopting: number, path: path)
        try PrivateFile.requireRegular(try file.status(), path: path, operation: "use")
    }

    /// Removes a file that the caller has created, if it still exists.
    package static func remove(file path: String) { _ = unsafe unlink(path) }

    /// Removes a folder if it's empty.
    package static func remove(emptyFolder path: String) { _ = unsafe rmdir(path) }

    /// Returns the first bytes of each regular file in the same folder as `path`, in any order.
    /// Leaves out unreadable files and the temporary files of killed writers.
    ///
    /// - Parameters:
    ///   - path: A file in the folder. It is left out, even under other names.
    ///   - count: The maximum number of bytes from each file.
    /// - Throws: `FileFailure` if the folder cannot be read or contains more than 10 000 names.
    package static func firstBytes(
        ofFilesBeside path: String, count: Int
    ) throws(FileFailure) -> [(name: String, bytes: [UInt8])] {
        let folder = try Descriptor(
            opening: PrivateFile.split(path).folder, flags: O_RDONLY | O_DIRECTORY)
        var status = stat()
        let itself = unsafe stat(path, &status) == 0 ? FileIdentity(status) : nil
        var found: [(name: String, bytes: [UInt8])] = []
        for name in try names(in: folder, limit: 10_000, shownAs: path) where !isTemporary(name) {
            guard
                let file = try? Descriptor(
                    named: name, in: folder.number,
                    flags: O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY, shownAs: name),
                let status = try? file.status(), status.st_mode & S_IFMT == S_IFREG,
                FileIdentity(status) != itself, let bytes = try? file.read(at: 0, count: count)
            else { continue }
            found.append((name, bytes))
        }
        return found
    }

    private static func isTemporary(_ name: String) -> Bool {
        name.startsWithBytes(of: ".") && name.contains(".signet-") && name.endsWithBytes(of: ".tmp")
    }

    /// Returns the names in a folder, in any order, without those that aren't UTF-8.
    package static func names(of path: String) throws(FileFailure) -> [String] {
        try names(in: Descriptor(opening: path, flags: O_RDONLY | O_DIRECTORY), shownAs: path)
    }

    /// Returns the names in an open folder, in any order, without those that aren't UTF-8.
    ///
    /// - Parameter path: The path in errors.
    static func names(
        in folder: borrowing Descriptor, limit: Int = .max, shownAs path: String
    ) throws(FileFailure) -> [String] {
        // A copy, because the stream closes its descriptor.
        let copy = unsafe openat(folder.number, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard copy >= 0, let stream = unsafe fdopendir(copy) else {
            let failure = FileFailure(path: path, operation: "list the files beside", errno: errno)
            if copy >= 0 { _ = close(copy) }
            throw failure
        }
        defer { _ = unsafe closedir(stream) }
        var names: [String] = []
        while let entry = unsafe readdir(stream) {
            let name = unsafe withUnsafePointer(to: &entry.pointee.d_name) { name in
                unsafe name.withMemoryRebound(to: CChar.self, capacity: 256) {
                    unsafe String(validatingCString: $0)
                }
            }
            guard let name, name != ".", name != ".." else { continue }
            names.append(name)
            guard names.count <= limit else {
                throw FileFailure(
                    path: path, operation: "list the files beside",
                    reason: "found more than \(limit) names in the folder, which is the limit",
                    kind: .tooLarge)
            }
        }
        return names
    }
}
