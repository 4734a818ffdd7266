import SignetBase
import SignetSystem

/// The origin of a program's keys or of a passphrase.
///
/// ```swift
/// let mine = try KeySource.file("/etc/orders/keys.json").load()  // Refused unless it is private.
/// let theirs = try KeySource("env:PARTNER_KEYS").load()  // The text of the option `--keys`.
/// print(mine.keys.map(\.id), theirs.isPrivate)
/// ```
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

    /// A file. If it contains secrets, it must belong to the process's effective user or root, and
    /// others must have no access to it. Links are followed.
    public static func file(_ path: String) -> KeySource { KeySource(value: .file(path)) }

    /// An environment variable.
    public static func environment(_ name: String) -> KeySource {
        KeySource(value: .environment(name))
    }

    /// A file or pipe that the process inherited open. It can be read once.
    public static func descriptor(_ number: Int32) -> KeySource {
        KeySource(value: .descriptor(number))
    }

    /// The output of a command that `sh` runs, which must exit with status 0.
    public static func command(_ line: String) -> KeySource { KeySource(value: .command(line)) }

    /// A file in the folder `$CREDENTIALS_DIRECTORY`, as systemd provides it.
    public static func credential(_ name: String) -> KeySource {
        KeySource(value: .credential(name))
    }

    private init(value: Value) { self.value = value }

    /// Creates a source from the value of the tool's option `--keys`: `env:NAME`, `fd:N`,
    /// `command:LINE`, `credential:NAME`, or the path of a file.
    public init(_ text: String) {
        let (prefix, rest) = Self.split(text)
        switch prefix {
        case "env": value = .environment(rest)
        case "command": value = .command(rest)
        case "credential": value = .credential(rest)
        case "fd":
            let isPlain = !rest.isEmpty && rest.utf8.allSatisfy(\.isDigit)
            value = Int32(rest).map { isPlain ? .descriptor($0) : .broken(text) } ?? .broken(text)
        default: value = .file(text)
        }
    }

    /// The kind of a source.
    package enum Kind: Sendable, Hashable {
        case file, environment, descriptor, command, credential
        /// A text that begins as a descriptor does, without a valid number.
        case broken
    }

    /// The kind, by which a program decides which sources it accepts from a file of another user.
    package var kind: Kind {
        switch value {
        case .file: .file
        case .environment: .environment
        case .descriptor: .descriptor
        case .command: .command
        case .credential: .credential
        case .broken: .broken
        }
    }

    /// The name of the variable, if the source is one.
    package var variable: String? {
        if case .environment(let name) = value { name } else { nil }
    }

    /// The path, if the source is a file.
    package var filePath: String? {
        if case .file(let path) = value { path } else { nil }
    }

    private static func split(_ text: String) -> (prefix: String, rest: String) {
        guard let colon = text.utf8.firstIndex(of: UInt8(ascii: ":")) else { return ("", text) }
        return (String(text[..<colon]), String(text[text.utf8.index(after: colon)...]))
    }

    /// Reads the keys. If all of them are public, any user may own the file or read it.
    ///
    /// - Throws: `KeyError` with `unreadable`, `malformedKeys`, or `keyFilePermissions`, whose
    ///   message contains the `chmod 600` or `chown` command that fixes it.
    public func load() throws(KeyError) -> KeySet { try loadText().set }

    /// Reads the keys and their text, which is wiped when it is destroyed.
    ///
    /// - Parameter identity: Opens a shared key set; nil refuses it.
    /// - Throws: `KeyError`, as `load`.
    func loadText(
        identity: KeySource? = nil
    ) throws(KeyError) -> (set: KeySet, text: KeyFileText) {
        let (bytes, refusal) = try read(limit: KeySet.maximumByteCount)
        if let text = try openIfShared(bytes, with: identity) {
            var set = try KeySet(parsing: text.bytes, source: description)
            set.isShared = true
            return (set, text)
        }
        // The text is the only owner of the bytes, so that it wipes them and not a copy.
        let text = KeyFileText(consume bytes)
        let set = try KeySet(parsing: text.bytes, source: description)
        if let refusal, set.isPrivate { throw Self.permissions(refusal) }
        return (set, text)
    }

    /// Reads a passphrase of one byte or more. Removes one final newline, unless it comes from an
    /// environment variable.
    ///
    /// - Throws: `KeyError` as `load` does, and with `malformedKeys` for an empty passphrase.
    package func loadPassphrase() throws(KeyError) -> SecretBytes {
        try loadSecret("passphrase", limit: 65_536)
    }

    /// Reads a secret, as `loadPassphrase` does.
    ///
    /// - Parameters:
    ///   - name: The secret's name in errors.
    ///   - limit: The maximum number of bytes.
    package func loadSecret(_ name: String, limit: Int) throws(KeyError) -> SecretBytes {
        var (bytes, refusal) = try read(limit: limit)
        defer { wipe(&bytes) }
        if let refusal { throw Self.permissions(refusal) }
        var count = bytes.count
        if case .environment = value {
        } else if bytes.last == UInt8(ascii: "\n") {
            count -= 1
        }
        guard count > 0 else {
            throw KeyError(.malformedKeys, "\(description): the \(name) is empty")
        }
        return SecretBytes(copying: bytes.span.extracting(first: count))
    }

    /// Reads a key in another program's format, which the caller wipes.
    ///
    /// - Returns: The bytes, and the command that protects the file if others have access to it.
    package func loadForeignKey() throws(KeyError) -> (bytes: [UInt8], warning: String?) {
        let (bytes, refusal) = try read(limit: KeySet.maximumByteCount)
        return (bytes, refusal.map { "\(printable($0.path)): \($0.reason)" })
    }

    /// The source as in `--keys`, but without a command's line, which may contain a secret.
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

    /// Returns the bytes. If others have access to the file, also returns a refusal, to throw if
    /// the bytes are secret.
    func read(limit: Int) throws(KeyError) -> (bytes: [UInt8], refusal: FileFailure?) {
        do throws(FileFailure) {
            switch value {
            case .file(let path):
                return try PrivateFile.readAllowingUnsafePermissions(path, limit: limit)
            case .environment(let name):
                return (try environment(name, limit: limit), nil)
            case .descriptor(let number):
                return try PrivateFile.readInherited(number, limit: limit, shownAs: description)
            case .command(let line):
                return (try ShellCommand.output(of: line, limit: limit), nil)
            case .credential(let name):
                return try credential(name, limit: limit)
            case .broken:
                throw failure("expected fd: and a number")
            }
        } catch {
            throw KeyError(.unreadableKeys, error.message)
        }
    }

    private func environment(_ name: String, limit: Int) throws(FileFailure) -> [UInt8] {
        guard !name.isEmpty, !name.utf8.contains(0), !name.utf8.contains(UInt8(ascii: "=")) else {
            throw failure("expected env: and the name of a variable")
        }
        guard let text = try Environment[name] else { throw failure("the variable is not set") }
        let bytes = Array(text.utf8)
        guard bytes.count <= limit else {
            throw failure("found \(bytes.count) bytes, expected at most \(limit)")
        }
        return bytes
    }

    private func credential(
        _ name: String, limit: Int
    ) throws(FileFailure) -> (bytes: [UInt8], refusal: FileFailure?) {
        guard !name.isEmpty, name != ".", name != "..", !name.utf8.contains(UInt8(ascii: "/")),
            !name.utf8.contains(0)
        else { throw failure("expected credential: and a plain file name") }
        guard let folder = try Environment["CREDENTIALS_DIRECTORY"], !folder.isEmpty else {
            throw failure("CREDENTIALS_DIRECTORY is not set")
        }
        return try PrivateFile.readAllowingUnsafePermissions(
            folder + "/" + name, limit: limit, tolerating: 0o040)
    }

    private static func permissions(_ refusal: FileFailure) -> KeyError {
        KeyError(.keyFilePermissions, refusal.message)
    }

    private func failure(_ reason: String) -> FileFailure {
        FileFailure(path: description, operation: "read", reason: reason, kind: .system)
    }
}
