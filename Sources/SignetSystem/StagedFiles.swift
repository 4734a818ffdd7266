import Glibc
import SignetBase

/// New files that appear in a folder together.
///
/// They are written in a folder of their own (`.signet-new-UID`, mode 0700) and then get their
/// names as second links, one after the other. The files count as complete once the last name
/// exists. If the process is killed before, the next process that stages files there removes the
/// names that were already given, which it recognises by the staged links. No other file is
/// touched.
package struct StagedFiles: ~Copyable {
    /// The folder that the files are written in.
    package let path: String
    private let names: [String]
    private let target: Descriptor
    private let staging: Descriptor
    private let lock: LockedFile
    private let stagingName: String
    private let signals: SignalMask

    private static let lockName = "lock"
    private static var stagingName: String { ".signet-new-\(geteuid())" }

    /// Creates the folder, and removes the files that a killed process published only in part.
    ///
    /// Signals that end the process are blocked until the returned value is destroyed.
    ///
    /// - Parameters:
    ///   - folder: The folder, which exists.
    ///   - names: The names of all files. The files count as complete once the last one exists.
    /// - Throws: `FileFailure`, of kind `busy` while another process does the same.
    package static func start(
        in folder: String, names: [String]
    ) throws(FileFailure) -> StagedFiles {
        do throws(FileFailure) {
            return try StagedFiles(in: folder, names: names)
        } catch {
            // Another process has removed the folder in the meantime.
            guard error.kind == .notFound else { throw error }
            return try StagedFiles(in: folder, names: names)
        }
    }

    private init(in folder: String, names: [String]) throws(FileFailure) {
        let name = Self.stagingName
        let path = Self.stagingPath(in: folder)
        let target = try Descriptor(opening: folder, flags: O_RDONLY | O_DIRECTORY)
        guard unsafe mkdirat(target.number, name, 0o700) == 0 || errno == EEXIST else {
            throw FileFailure(path: path, operation: "create", errno: errno)
        }
        let staging = try Self.open(name, in: target, shownAs: path)
        let lock = try LockedFile(path: "\(path)/\(Self.lockName)", until: ContinuousClock.now)
        self.path = path
        self.names = names
        self.target = target
        self.staging = staging
        self.lock = lock
        stagingName = name
        signals = SignalMask()
        removeFiles()
    }

    /// Removes the files that a killed process published only in part, if there are any.
    ///
    /// - Throws: `FileFailure`, of kind `busy` if the other process still runs.
    package static func removeUnpublished(in folder: String, names: [String]) throws(FileFailure) {
        if Folder.exists(stagingPath(in: folder)) { _ = try start(in: folder, names: names) }
    }

    private static func stagingPath(in folder: String) -> String {
        folder.endsWithBytes(of: "/") ? folder + stagingName : "\(folder)/\(stagingName)"
    }

    deinit {
        removeFiles()
        _ = unsafe unlinkat(staging.number, Self.lockName, 0)
        _ = unsafe unlinkat(target.number, stagingName, AT_REMOVEDIR)
        signals.restore()
    }

    /// Gives the files their names, in order.
    ///
    /// - Throws: `FileFailure`, of kind `alreadyExists` if one exists. Then none of them has its
    ///   name.
    package func publish() throws(FileFailure) {
        var published: [String] = []
        do throws(FileFailure) {
            for name in names {
                try publishFile(name)
                published.append(name)
            }
            try target.synchronize()
        } catch {
            for name in published { _ = unsafe unlinkat(target.number, name, 0) }
            throw error
        }
    }

    private func publishFile(_ name: String) throws(FileFailure) {
        if unsafe linkat(staging.number, name, target.number, name, 0) == 0 { return }
        // Renames on a file system without links. A killed process can then leave some files.
        let hasNoLinks = [EPERM, EOPNOTSUPP, ENOSYS, EMLINK].contains(errno)
        guard hasNoLinks,
            SystemCalls.renameWithoutReplacing(
                "\(stagingName)/\(name)", to: name, in: target.number)
        else {
            throw FileFailure(path: target.path + "/" + name, operation: "create", errno: errno)
        }
    }

    /// Removes the staged files. Unless all were published, also removes their names.
    private func removeFiles() {
        let isComplete = if let last = names.last { isPublished(last) } else { false }
        for name in names {
            if !isComplete, isPublished(name) { _ = unsafe unlinkat(target.number, name, 0) }
            _ = unsafe unlinkat(staging.number, name, 0)
        }
        // Temporary files of a killed writer.
        let others = (try? Folder.names(in: staging, limit: 10_000, shownAs: path)) ?? []
        for name in others where name != Self.lockName {
            _ = unsafe unlinkat(staging.number, name, 0)
        }
    }

    /// Whether a staged file has its name.
    private func isPublished(_ name: String) -> Bool {
        let staged = FileIdentity.named(name, in: staging)
        return staged != nil && staged == FileIdentity.named(name, in: target)
    }

    private static func open(
        _ name: String, in target: borrowing Descriptor, shownAs path: String
    ) throws(FileFailure) -> Descriptor {
        let folder = try Descriptor(
            named: name, in: target.number, flags: O_RDONLY | O_DIRECTORY | O_NOFOLLOW,
            shownAs: path)
        let status = try folder.status()
        guard status.st_uid == geteuid(), status.st_mode & 0o077 == 0 else {
            throw FileFailure(
                path: path, operation: "create",
                reason: "it exists, and another user owns it or has access to it; remove it",
                kind: .wrongKind)
        }
        return folder
    }
}
