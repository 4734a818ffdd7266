public import SignetBase
import SignetCrypto
import SignetJSON
import SignetSystem

/// An error of a schema, a configuration input or a sealed dump.
///
/// The message names the key, the input, the file or the versions, and says what was expected. It
/// never contains a value of the configuration, a key or a part of the plaintext.
public struct VaultError: SignetError, Sendable, Hashable, CustomStringConvertible {
    /// The type of `code`.
    public typealias Code = SignetErrorCode

    /// The kind of the error.
    public let code: Code
    /// The problem for people: found, expected and where. Contains no value, key or plaintext.
    public let message: String
    /// The key of the configuration that the error is about, or nil.
    public let key: String?
    /// All problems that were found, if the error is about a configuration or a schema. The first
    /// one has this error's code and key. Empty for other errors.
    public let problems: [VaultError]

    /// Creates an error. `message` must not contain a value of the configuration or a key.
    public init(_ code: Code, _ message: String) {
        self.init(code, message, key: nil)
    }

    init(_ code: Code, _ message: String, key: String?, problems: [VaultError] = []) {
        self.code = code
        self.message = message
        self.key = key
        self.problems = problems
    }

    /// The message.
    public var description: String { message }
}

extension VaultError {
    /// Returns the error for a key that the schema lacks. A name that looks like a secret is not
    /// repeated, because it's probably a secret in the wrong place.
    ///
    /// - Parameter keys: The keys of which the nearest one is named.
    static func unknown(
        _ name: String, in place: String, among keys: [String] = []
    ) -> VaultError {
        let isSecret = SecretDetector.finding(in: .string(name), named: nil) != nil
        let shown = isSecret ? "a name that looks like a secret" : quoted(name)
        return VaultError(
            .unknownConfigKey,
            "\(shown) in \(place): not in the schema"
                + (isSecret ? "" : NearestName.suggestion(for: name, among: keys)),
            key: isSecret ? nil : name)
    }

    /// Returns the error with the file's name before its message; nil or `-` is standard input.
    func naming(_ file: String?) -> VaultError {
        let shown = file.flatMap { $0 == "-" ? nil : $0 } ?? "standard input"
        return VaultError(code, "\(printable(shown)): \(message)", key: key, problems: problems)
    }

    /// Returns a value, or throws a `CryptoFailure` as a `VaultError`.
    static func converting<Value>(
        crypto value: @autoclosure () throws(CryptoFailure) -> Value
    ) throws(VaultError) -> Value {
        do throws(CryptoFailure) {
            return try value()
        } catch {
            throw VaultError(error)
        }
    }

    /// Reads a file or pipe; nil or `-` is standard input.
    ///
    /// - Throws: `unreadable-file`.
    static func reading(_ path: String?, limit: Int) throws(VaultError) -> [UInt8] {
        do {
            return try InputFile.read(path, limit: limit)
        } catch {
            throw VaultError(.unreadableFile, error.message)
        }
    }
}

extension [VaultError] {
    /// Adds the error of some work, if it throws one.
    mutating func collect(_ work: @autoclosure () throws(VaultError) -> Void) {
        do throws(VaultError) {
            try work()
        } catch {
            append(error)
        }
    }

    /// Throws the error that reports all of these, if there are any. Its code is the first one's,
    /// and its message has a line for each.
    func throwJoined() throws(VaultError) {
        guard let first else { return }
        let all = flatMap { $0.problems.isEmpty ? [$0] : $0.problems }
        throw VaultError(
            first.code, all.map(\.message).joined(separator: "\n"), key: first.key, problems: all)
    }
}

extension SignetErrorCode {
    /// The schema isn't a document of the required form, or a rule is invalid.
    public static let malformedSchema = usage("malformed-schema")
    /// An input has a key that the schema lacks.
    public static let unknownConfigKey = usage("unknown-config-key")
    /// A value is of another type than the schema says.
    public static let wrongType = usage("wrong-type")
    /// A whole text doesn't match the schema's pattern.
    public static let patternMismatch = usage("pattern-mismatch")
    /// A value isn't one of those that the schema lists.
    public static let notInList = usage("not-in-list")
    /// An input sets a key that the schema doesn't let it set.
    public static let sourceNotAllowed = usage("source-not-allowed")
    /// A value of a public key looks like a key, a token or a password.
    public static let publicValueLooksSecret = usage("public-value-looks-secret")
    /// A key that the program needs, or that the schema requires, has no value.
    public static let missingValue = usage("missing-value")
    /// A key that the program reads publicly is secret in the schema.
    public static let notPublic = usage("not-public")
    /// A key that the program reads as a secret is public in the schema.
    public static let notSecret = usage("not-secret")
    /// The system doesn't let this process lock the memory for a secret.
    public static let memoryNotLocked = checkFailed("memory-not-locked")
    /// The commitment doesn't match: the key is another one, or the dump's header was changed.
    public static let wrongKey = checkFailed("wrong-key")
    /// The dump is for a newer version than the running one.
    public static let newerVersion = checkFailed("newer-version")
    /// The dump is for an older version, which is not on the list of accepted ones.
    public static let olderVersion = checkFailed("older-version")
    /// The dump is for another version, which is neither newer nor older than the running one.
    public static let otherVersion = checkFailed("other-version")
    /// The dump belongs to another network system.
    public static let wrongSystem = checkFailed("wrong-system")
    /// The bytes aren't a sealed dump.
    public static let malformedDump = usage("malformed-dump")
    /// A passphrase is too short to seal with.
    public static let weakPassphrase = usage("weak-passphrase")
    /// The schema no longer allows a value that was changed in the dump, so sealing would lose
    /// it.
    public static let wouldLoseChanges = checkFailed("would-lose-changes")
    /// The dump has values that the configuration to be sealed lacks, so sealing would lose
    /// them.
    public static let wouldLoseValues = checkFailed("would-lose-values")
    /// A root can't be removed while other dumps are sealed under it.
    public static let locksOutOthers = usage("locks-out-others")
}
