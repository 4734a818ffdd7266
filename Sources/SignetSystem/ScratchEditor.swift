import CSignetSystem
import Glibc
import SignetBase

/// Opens secret bytes in the user's editor without leaving a copy.
///
/// While the editor runs, the bytes are in a temporary folder with mode 0700, in memory if the
/// machine has such a file system. The folder and everything in it is overwritten and removed,
/// however the editor ends and even if a signal ends the process.
package struct ScratchEditor: Sendable {
    /// The result of an edit.
    package struct Outcome: Sendable {
        /// The file as the editor left it.
        package let bytes: [UInt8]
        /// The folder on disk that contained the bytes, or nil if they were only in memory.
        package let diskFolder: String?
    }

    /// The editor's command line for `sh`, to which the file's path is appended.
    let line: String
    /// Candidates for the scratch folder's parent. The first that is in memory is used, else the
    /// last that exists.
    let places: [String]

    /// The user's editor: `$VISUAL`, else `$EDITOR`, else `vi`.
    ///
    /// - Throws: `FileFailure` if a variable isn't UTF-8.
    package static func fromEnvironment() throws(FileFailure) -> ScratchEditor {
        func variable(_ name: String) throws(FileFailure) -> String? {
            try Environment[name].flatMap { $0.isEmpty ? nil : $0 }
        }
        let (visual, editor) = (try variable("VISUAL"), try variable("EDITOR"))
        let places = [try variable("XDG_RUNTIME_DIR"), "/dev/shm", "/tmp", try variable("TMPDIR")]
        return ScratchEditor(line: visual ?? editor ?? "vi", places: places.compactMap(\.self))
    }

    /// Runs the editor and waits until it ends.
    ///
    /// - Parameters:
    ///   - bytes: The file's initial contents.
    ///   - name: The file's name. Its extension shows the editor the format.
    ///   - limit: The maximum number of bytes in the result.
    /// - Returns: The file's contents after the editor has ended with status 0.
    /// - Throws: `FileFailure` with operation `edit` if the editor cannot run or ends with another
    ///   status.
    package func edit(
        _ bytes: [UInt8], named name: String, limit: Int
    ) throws(FileFailure) -> Outcome {
        guard signet_editor_catch_signals() == 1 else {
            throw Self.failure(unsafe String(cString: strerror(errno)))
        }
        // Runs last, because a signal that arrived while the editor ran ends the process here.
        defer { signet_editor_release_signals() }
        return try editInScratch(bytes, named: name, limit: limit)
    }

    private func editInScratch(
        _ bytes: [UInt8], named name: String, limit: Int
    ) throws(FileFailure) -> Outcome {
        let folder = try ScratchFolder(in: places)
        try folder.write(bytes, to: name)
        try run(on: folder.path + "/" + name)
        let edited = try folder.read(name, limit: limit)
        guard folder.remove() else {
            throw Self.failure("\(printable(folder.path)) cannot be removed; remove it yourself")
        }
        return Outcome(bytes: edited, diskFolder: folder.isInMemory ? nil : folder.parentPath)
    }

    private func run(on path: String) throws(FileFailure) {
        guard !line.utf8.contains(0) else {
            throw Self.failure("the editor's command contains a zero byte")
        }
        // The editor puts its own temporary files in the scratch folder too. If the line is a
        // single command, `exec` replaces the shell, so that signals reach the editor.
        let isOneCommand =
            line.utf8.allSatisfy { !";&|<>()\n".utf8.contains($0) }
            && !line.prefix { $0 != " " }.utf8.contains(UInt8(ascii: "="))
        let script =
            "TMPDIR=${1%/*}; export TMPDIR; \(isOneCommand ? "exec " : "")\(line) \"$@\""
        var child: pid_t = 0
        let error = unsafe signet_editor_spawn(script, path, &child)
        guard error == 0 else {
            throw Self.failure(unsafe String(cString: strerror(error)))
        }
        let status = signet_editor_wait(child)
        guard signet_editor_is_ending() == 0 else { throw Self.failure("a signal was received") }
        guard status == 0 else {
            throw Self.failure(
                status < 0
                    ? "the editor's exit status is unknown"
                    : "the editor ended with status \(status)")
        }
    }

    fileprivate static func failure(_ reason: String) -> FileFailure {
        FileFailure(path: "the values", operation: "edit", reason: reason, kind: .system)
    }
}

/// A folder that only this user can read, wiped and removed with this value.
private struct ScratchFolder: ~Copyable {
    /// Identifies the folders of killed programs.
    private static let prefix = "signet-edit-"

    let parentPath: String
    let name: String
    let isInMemory: Bool
    private let parent: Descriptor
    private let folder: Descriptor

    var path: String { parentPath + "/" + name }

    /// Creates a folder in the first place that is in memory, else in the last one that exists.
    init(in places: [String]) throws(FileFailure) {
        for (place, wantsMemory) in places.map({ ($0, true) })
            + places.reversed().map({ ($0, false) })
        {
            guard let parent = try? Descriptor(opening: place, flags: O_RDONLY | O_DIRECTORY) else {
                continue
            }
            let isInMemory = signet_is_in_memory(parent.number) == 1
            guard isInMemory || !wantsMemory, Self.isSafe(parent) else { continue }
            Self.sweep(parent)
            guard let made = try? Self.create(in: parent, at: place) else { continue }
            self.parentPath = place
            self.name = made.name
            self.isInMemory = isInMemory
            self.folder = made.folder
            self.parent = parent
            return
        }
        throw ScratchEditor.failure(
            "cannot create a folder in \(places.map(printable).joined(separator: ", "))")
    }

    /// Returns whether only this user and root can replace a folder that is created here.
    private static func isSafe(_ parent: borrowing Descriptor) -> Bool {
        guard let status = try? parent.status() else { return false }
        if status.st_mode & S_ISVTX != 0 { return true }
        return status.st_mode & 0o022 == 0 && (status.st_uid == getuid() || status.st_uid == 0)
    }

    /// A folder and its name.
    private struct Made: ~Copyable {
        let name: String
        let folder: Descriptor
    }

    /// Creates a folder and locks it, which shows that its program is alive.
    private static func create(
        in parent: borrowing Descriptor, at place: String
    ) throws(FileFailure) -> Made {
        while true {
            let name = prefix + TemporaryName.suffix()
            guard unsafe mkdirat(parent.number, name, 0o700) == 0 else {
                throw FileFailure(path: place, operation: "create", errno: errno)
            }
            let folder = try Descriptor(
                named: name, in: parent.number, flags: O_RDONLY | O_DIRECTORY | O_NOFOLLOW,
                shownAs: place + "/" + name)
            _ = flock(folder.number, LOCK_EX)
            // Another program may have removed it as a leftover before it was locked.
            let made = try folder.identity()
            if FileIdentity.named(name, in: parent) == made {
                return Made(name: name, folder: folder)
            }
        }
    }

    /// Removes the folders of killed programs. Those of running programs are locked.
    private static func sweep(_ parent: borrowing Descriptor) {
        let names = (try? Folder.names(in: parent, shownAs: ".")) ?? []
        for name in names where name.startsWithBytes(of: prefix) {
            guard
                let folder = try? Descriptor(
                    named: name, in: parent.number, flags: O_RDONLY | O_DIRECTORY | O_NOFOLLOW,
                    shownAs: name),
                let status = try? folder.status(), status.st_uid == getuid(),
                flock(folder.number, LOCK_EX | LOCK_NB) == 0
            else { continue }
            _ = unsafe signet_remove_folder(parent.number, name, folder.number)
        }
    }

    borrowing func write(_ bytes: [UInt8], to name: String) throws(FileFailure) {
        let file = try Descriptor(
            named: name, in: folder.number, flags: O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW,
            mode: 0o600, shownAs: path + "/" + name)
        try file.writeAll(bytes.span)
    }

    /// Reads a file that the editor may have replaced, but not with a link.
    borrowing func read(_ name: String, limit: Int) throws(FileFailure) -> [UInt8] {
        let file = try Descriptor(
            named: name, in: folder.number, flags: O_RDONLY | O_NOFOLLOW | O_NONBLOCK,
            shownAs: path + "/" + name)
        guard try file.status().st_mode & S_IFMT == S_IFREG else {
            throw FileFailure(
                path: path + "/" + name, operation: "read", reason: "it is not a regular file",
                kind: .wrongKind)
        }
        return try file.readAll(limit: limit)
    }

    /// Wipes and removes the folder. Can be called twice.
    ///
    /// - Returns: Whether the folder no longer exists.
    borrowing func remove() -> Bool {
        unsafe signet_remove_folder(parent.number, name, folder.number) == 1
    }

    deinit { _ = remove() }
}
