#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Musl)
    internal import Musl
#endif

/// Where a program gets its keys or a passphrase from.
public struct KeySource: Sendable, Hashable, CustomStringConvertible {
    private enum Value: Sendable, Hashable {
        case file(String)
        case environment(String)
        case descriptor(Int32)
        case command(String)
        case credential(String)
        case broken(String)
    }
    private let value: Value

    /// A file that nobody but its owner may read, who is the process's effective user or root; links
    /// are followed.
    public static func file(_ path: String) -> KeySource { KeySource(value: .file(path)) }

    /// A variable of the environment.
    public static func environment(_ name: String) -> KeySource {
        KeySource(value: .environment(name))
    }

    /// A file or pipe that the process was given open; it can be read once.
    public static func descriptor(_ number: Int32) -> KeySource {
        KeySource(value: .descriptor(number))
    }

    /// What a command prints that `sh` runs; it must end with status 0.
    public static func command(_ line: String) -> KeySource { KeySource(value: .command(line)) }

    /// A file of that plain name in the folder `$CREDENTIALS_DIRECTORY`, as systemd gives them.
    public static func credential(_ name: String) -> KeySource {
        KeySource(value: .credential(name))
    }

    private init(value: Value) { self.value = value }

    /// Reads the words of `--keys`: `env:NAME`, `fd:N`, `command:LINE`, `credential:NAME`, or the
    /// path of a file.
    public init(_ text: String) {
        let (prefix, rest) = Self.split(text)
        switch prefix {
        case "env": value = .environment(rest)
        case "command": value = .command(rest)
        case "credential": value = .credential(rest)
        case "fd":
            let isPlain = !rest.isEmpty && rest.utf8.allSatisfy { (48...57).contains($0) }
            value = Int32(rest).map { isPlain ? .descriptor($0) : .broken(text) } ?? .broken(text)
        default: value = .file(text)
        }
    }

    /// The file's path, where the keys are in a file.
    package var filePath: String? {
        if case .file(let path) = value { path } else { nil }
    }

    private static func split(_ text: String) -> (prefix: String, rest: String) {
        guard let colon = text.utf8.firstIndex(of: UInt8(ascii: ":")) else { return ("", text) }
        return (String(text[..<colon]), String(text[text.utf8.index(after: colon)...]))
    }

    /// Reads the keys.
    ///
    /// A set of public keys only may lie in a file of anybody's that others can read.
    ///
    /// - Returns: The whole set.
    /// - Throws: `KeyError` with `unreadable`, `keyFilePermissions` (the message holds `chmod 600`
    ///   or `chown` and the path) or `malformedKeys`.
    public func load() throws(KeyError) -> KeySet {
        var (bytes, refusal) = try read(limit: KeySet.maximumByteCount)
        defer { wipe(&bytes) }
        let set = try KeySet(parsing: bytes, source: description)
        if let refusal, set.isPrivate { throw Self.permissions(refusal) }
        return set
    }

    /// Reads a passphrase: the bytes as they are, without one final newline (not from `env:`).
    ///
    /// - Returns: One byte or more.
    /// - Throws: `KeyError` as `load` does; an empty passphrase is `malformedKeys`.
    package func loadPassphrase() throws(KeyError) -> SecretBytes {
        try loadSecret("passphrase", limit: 65_536)
    }

    /// Reads a secret, as a passphrase is read.
    ///
    /// - Parameters:
    ///   - what: What an error calls it.
    ///   - limit: The most bytes of it.
    package func loadSecret(_ what: String, limit: Int) throws(KeyError) -> SecretBytes {
        var (bytes, refusal) = try read(limit: limit)
        defer { wipe(&bytes) }
        if let refusal { throw Self.permissions(refusal) }
        var count = bytes.count
        if case .environment = value {
        } else if bytes.last == UInt8(ascii: "\n") {
            count -= 1
        }
        guard count > 0 else {
            throw KeyError(code: .malformedKeys, message: "\(description): an empty \(what)")
        }
        return SecretBytes(copying: bytes.span.extracting(first: count))
    }

    /// The source without what may be secret: a command's line is left out.
    public var description: String {
        switch value {
        case .file(let path): printable(path)
        case .environment(let name): "env:\(printable(name))"
        case .descriptor(let number): "fd:\(number)"
        case .command: "command:…"
        case .credential(let name): "credential:\(printable(name))"
        case .broken(let text): printable(text)
        }
    }

    /// The bytes, and why they may not be a secret: a file that others have rights on.
    private func read(limit: Int) throws(KeyError) -> (bytes: [UInt8], refusal: FileFailure?) {
        do throws(FileFailure) {
            switch value {
            case .file(let path):
                return try PrivateFile.readAllowingUnsafePermissions(path, limit: limit)
            case .environment(let name):
                return (try environment(name, limit: limit), nil)
            case .descriptor(let number):
                return try descriptor(number, limit: limit)
            case .command(let line):
                return (try ShellCommand.output(of: line, limit: limit), nil)
            case .credential(let name):
                return try credential(name, limit: limit)
            case .broken:
                throw failure("wanted fd: and a number")
            }
        } catch {
            throw KeyError(code: .unreadable, message: error.message)
        }
    }

    private func environment(_ name: String, limit: Int) throws(FileFailure) -> [UInt8] {
        guard !name.isEmpty, !name.utf8.contains(0), !name.utf8.contains(UInt8(ascii: "=")) else {
            throw failure("wanted env: and a variable's name")
        }
        guard let text = Environment[name] else { throw failure("the variable is not set") }
        let bytes = Array(text.utf8)
        guard bytes.count <= limit else { throw failure("it holds more than \(limit) bytes") }
        return bytes
    }

    private func descriptor(
        _ number: Int32, limit: Int
    ) throws(FileFailure) -> (bytes: [UInt8], refusal: FileFailure?) {
        // Read through a copy: the number itself stays open, so that no other file can get it and
        // be taken for the keys by a second reading, which finds nothing.
        let copy = fcntl(number, F_DUPFD_CLOEXEC, 3)
        guard copy >= 0 else {
            throw FileFailure(path: description, operation: "read", errno: errno)
        }
        let file = Descriptor(adopting: copy, path: description)
        let status = try file.status()
        guard status.st_mode & S_IFMT != S_IFDIR else { throw failure("it is a folder") }
        let bytes = try file.readAll(limit: limit)
        guard !bytes.isEmpty else { throw failure("it holds nothing; it can be read only once") }
        guard status.st_mode & S_IFMT == S_IFREG else { return (bytes, nil) }
        // Whoever opened it chose it, so that its owner may be any.
        return (
            bytes,
            PrivateFile.refusal(
                of: description, owner: status.st_uid, mode: status.st_mode, user: status.st_uid)
        )
    }

    private func credential(
        _ name: String, limit: Int
    ) throws(FileFailure) -> (bytes: [UInt8], refusal: FileFailure?) {
        guard !name.isEmpty, name != ".", name != "..", !name.utf8.contains(UInt8(ascii: "/")),
            !name.utf8.contains(0)
        else { throw failure("wanted credential: and a plain file name") }
        guard let folder = Environment["CREDENTIALS_DIRECTORY"], !folder.isEmpty else {
            throw failure("CREDENTIALS_DIRECTORY is not set")
        }
        return try PrivateFile.readAllowingUnsafePermissions(
            folder + "/" + name, limit: limit, tolerating: 0o040)
    }

    private static func permissions(_ refusal: FileFailure) -> KeyError {
        KeyError(code: .keyFilePermissions, message: refusal.message)
    }

    private func failure(_ reason: String) -> FileFailure {
        FileFailure(path: description, operation: "read", reason: reason, kind: .system)
    }
}
