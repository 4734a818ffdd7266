internal import CSignetOpenSSL

#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Musl)
    internal import Musl
#endif

/// A person's editor on bytes that must not stay anywhere.
///
/// The bytes lie in a folder of the editor's own with mode 0700, in memory where the machine has a
/// place for that, and only while the editor runs. The folder is overwritten and removed with all
/// that the editor left in it, however the editor ends, and also when a signal ends the process.
package struct ScratchEditor: Sendable {
    /// What the person made of the bytes.
    package struct Outcome: Sendable {
        /// The file as the editor left it.
        package let bytes: [UInt8]
        /// The folder of the disk on which the bytes lay; nil where they were only in memory.
        package let diskFolder: String?
    }

    /// The editor: words of `sh`, behind which the file's path is put.
    let line: String
    /// Folders in which the scratch folder may be made. The first that is in memory is taken, else
    /// the last that there is.
    let places: [String]

    /// The editor that the environment names: `$VISUAL`, else `$EDITOR`, else `vi`.
    package static var fromEnvironment: ScratchEditor {
        func named(_ name: String) -> String? {
            Environment[name].flatMap { $0.isEmpty ? nil : $0 }
        }
        return ScratchEditor(
            line: named("VISUAL") ?? named("EDITOR") ?? "vi",
            places: [named("XDG_RUNTIME_DIR"), "/dev/shm", "/tmp", named("TMPDIR")]
                .compactMap(\.self))
    }

    /// Lets the person edit.
    ///
    /// - Parameters:
    ///   - bytes: What the file holds at first.
    ///   - name: The file's name, whose ending tells an editor what it is.
    ///   - limit: The most bytes that are taken back.
    /// - Returns: What the file holds when the editor has ended with status 0.
    /// - Throws: `FileFailure` with operation `edit` where it could not run or ended otherwise.
    package func edit(
        _ bytes: [UInt8], named name: String, limit: Int
    ) throws(FileFailure) -> Outcome {
        guard csignet_edit_begin() == 1 else {
            throw Self.failure(unsafe String(cString: strerror(errno)))
        }
        // Behind everything else: a signal that came while the editor ran ends the process here.
        defer { csignet_edit_end() }
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
            throw Self.failure("\(printable(folder.path)) cannot be removed; remove it by hand")
        }
        return Outcome(bytes: edited, diskFolder: folder.isInMemory ? nil : folder.parentPath)
    }

    private func run(on path: String) throws(FileFailure) {
        guard !line.utf8.contains(0) else {
            throw Self.failure("the editor's name holds a zero byte")
        }
        // What the editor writes elsewhere for a while, it writes there. Where the line is one
        // command, the editor takes the shell's place, and a signal reaches it.
        let isOneCommand =
            line.utf8.allSatisfy { !";&|<>()\n".utf8.contains($0) }
            && !line.prefix { $0 != " " }.utf8.contains(UInt8(ascii: "="))
        let script =
            "TMPDIR=${1%/*}; export TMPDIR; \(isOneCommand ? "exec " : "")\(line) \"$@\""
        var child: pid_t = 0
        let error = unsafe csignet_spawn_editor(script, path, &child)
        guard error == 0 else {
            throw Self.failure(unsafe String(cString: strerror(error)))
        }
        let status = csignet_wait_for_editor(child)
        guard csignet_edit_is_ending() == 0 else { throw Self.failure("a signal came") }
        guard status == 0 else {
            throw Self.failure(
                status < 0
                    ? "the editor's end is unknown" : "the editor ended with status \(status)")
        }
    }

    private static func failure(_ reason: String) -> FileFailure {
        FileFailure(path: "the values", operation: "edit", reason: reason, kind: .system)
    }
}

/// A folder that nobody else can look into, wiped and removed with this value.
private struct ScratchFolder: ~Copyable {
    /// The folders of programs that were killed are known by it.
    private static let prefix = "signet-edit-"

    let parentPath: String
    let name: String
    let isInMemory: Bool
    private let parent: Descriptor
    private let folder: Descriptor

    var path: String { parentPath + "/" + name }

    /// Makes a folder in the first place that is in memory, else in the last that there is.
    init(in places: [String]) throws(FileFailure) {
        for (place, wantsMemory) in places.map({ ($0, true) })
            + places.reversed().map({ ($0, false) })
        {
            guard let parent = try? Descriptor(opening: place, O_RDONLY | O_DIRECTORY) else {
                continue
            }
            let isInMemory = csignet_is_in_memory(parent.number) == 1
            guard isInMemory || !wantsMemory, Self.isSafe(parent) else { continue }
            Self.sweep(parent)
            guard let made = try? Self.make(in: parent, place) else { continue }
            self.parentPath = place
            self.name = made.name
            self.isInMemory = isInMemory
            self.folder = made.folder
            self.parent = parent
            return
        }
        throw FileFailure(
            path: "the values", operation: "edit",
            reason: "no folder can be made in \(places.map(printable).joined(separator: ", "))",
            kind: .system)
    }

    /// Whether nobody but us and root can put another folder in the place of one that we make there.
    private static func isSafe(_ parent: borrowing Descriptor) -> Bool {
        guard let status = try? parent.status() else { return false }
        if status.st_mode & S_ISVTX != 0 { return true }
        return status.st_mode & 0o022 == 0 && (status.st_uid == getuid() || status.st_uid == 0)
    }

    /// A folder and the name it has.
    private struct Made: ~Copyable {
        let name: String
        let folder: Descriptor
    }

    /// Makes a folder whose lock tells that its program lives.
    private static func make(
        in parent: borrowing Descriptor, _ place: String
    ) throws(FileFailure) -> Made {
        while true {
            let suffix: [UInt8]
            do throws(CryptoFailure) {
                suffix = try RandomBytes.bytes(12)
            } catch {
                throw FileFailure(
                    path: place, operation: "create", reason: error.reason, kind: .system)
            }
            let name = prefix + Base64.encode(suffix, as: .url)
            guard unsafe mkdirat(parent.number, name, 0o700) == 0 else {
                throw FileFailure(path: place, operation: "create", errno: errno)
            }
            let folder = try Descriptor(
                at: parent.number, name, flags: O_RDONLY | O_DIRECTORY | O_NOFOLLOW, mode: 0,
                shown: place + "/" + name)
            _ = flock(folder.number, LOCK_EX)
            // Another program may have taken it for one that was left behind, before it was locked.
            let made = try folder.identity()
            if FileIdentity.named(name, in: parent) == made {
                return Made(name: name, folder: folder)
            }
        }
    }

    /// Removes what programs that were killed have left behind, and nothing of those that live.
    private static func sweep(_ parent: borrowing Descriptor) {
        for name in names(in: parent) where name.hasPrefix(prefix) {
            guard
                let folder = try? Descriptor(
                    at: parent.number, name, flags: O_RDONLY | O_DIRECTORY | O_NOFOLLOW, mode: 0,
                    shown: name),
                let status = try? folder.status(), status.st_uid == getuid(),
                flock(folder.number, LOCK_EX | LOCK_NB) == 0
            else { continue }
            _ = unsafe csignet_remove_folder(parent.number, name, folder.number)
        }
    }

    private static func names(in folder: borrowing Descriptor) -> [String] {
        let again = unsafe openat(folder.number, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard again >= 0, let entries = unsafe fdopendir(again) else { return [] }
        defer { unsafe closedir(entries) }
        var names: [String] = []
        while let entry = unsafe readdir(entries) {
            names.append(
                unsafe withUnsafeBytes(of: &entry.pointee.d_name) { bytes in
                    unsafe String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
                })
        }
        return names
    }

    borrowing func write(_ bytes: [UInt8], to name: String) throws(FileFailure) {
        let file = try Descriptor(
            at: folder.number, name, flags: O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, mode: 0o600,
            shown: path + "/" + name)
        try file.writeAll(bytes.span)
    }

    /// Reads what stands under a name now: an editor may have put another file in the first one's
    /// place, but not a link.
    borrowing func read(_ name: String, limit: Int) throws(FileFailure) -> [UInt8] {
        let file = try Descriptor(
            at: folder.number, name, flags: O_RDONLY | O_NOFOLLOW | O_NONBLOCK, mode: 0,
            shown: path + "/" + name)
        guard try file.status().st_mode & S_IFMT == S_IFREG else {
            throw FileFailure(
                path: path + "/" + name, operation: "read", reason: "it is no file",
                kind: .wrongKind)
        }
        return try file.readAll(limit: limit)
    }

    /// Wipes and removes it; again does no harm.
    ///
    /// - Returns: Whether it is gone.
    borrowing func remove() -> Bool {
        unsafe csignet_remove_folder(parent.number, name, folder.number) == 1
    }

    deinit { _ = remove() }
}
