internal import SignetSystem
internal import Synchronization

/// A passphrase that takes the place of a vault's root: read once, never shown.
public final class Passphrase: Sendable, CustomStringConvertible, CustomReflectable {
    /// scrypt's costs (RFC 7914, section 2), which no dump can change: N = 2^17, r = 8, p = 1.
    private static let logCost = 17

    /// A root and the salt that it was derived with.
    private final class Derived: Sendable {
        let salt: [UInt8]
        let root: SecretBytes

        init(salt: [UInt8], root: consuming SecretBytes) {
            self.salt = salt
            self.root = root
        }
    }

    private let bytes: SecretBytes
    /// The roots that were asked for last, the newest at the end: each salt costs one scrypt.
    private let recent = Mutex<[Derived]>([])
    private static let recentLimit = 8

    /// Reads a passphrase, one byte or more; one final newline is dropped, but not from a variable.
    ///
    /// - Throws: `KeyError`, as `KeySource.load`; an empty passphrase is `malformed-keys`.
    public init(_ source: KeySource) throws(KeyError) {
        self.bytes = try source.loadPassphrase()
    }

    /// The passphrase's length in bytes.
    package var byteCount: Int { bytes.count }

    /// A copy of the bytes, which is the caller's to wipe.
    package func copy() -> [UInt8] {
        Self.copy(bytes)
    }

    private static func copy(_ secret: borrowing SecretBytes) -> [UInt8] {
        let bytes = secret.bytes
        var copy: [UInt8] = []
        copy.reserveCapacity(bytes.count)
        for index in bytes.indices { copy.append(bytes[index]) }
        return copy
    }

    /// Takes a passphrase's bytes as they are. The caller's copy is the caller's to wipe.
    package init(copying bytes: Span<UInt8>) {
        self.bytes = SecretBytes(copying: bytes)
    }

    /// Lends the root of a salt, 32 bytes of scrypt: half a second, unless it was asked for lately.
    ///
    /// - Parameters:
    ///   - salt: A dump's own 32 random bytes.
    ///   - body: Gets the root; must not keep it.
    /// - Throws: What `body` throws, or a `CryptoFailure` as `KeyError`.
    package func withRoot<Result: ~Copyable>(
        salt: [UInt8], _ body: (Span<UInt8>) throws(KeyError) -> Result
    ) throws(KeyError) -> Result {
        let derived = try derive(salt)
        return try Self.lend(derived.root, to: body)
    }

    private static func lend<Result: ~Copyable, Failure: Error>(
        _ secret: borrowing SecretBytes, to body: (Span<UInt8>) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try body(secret.bytes)
    }

    private func derive(_ salt: [UInt8]) throws(KeyError) -> Derived {
        // Under the lock, so that two threads with one salt do not both do the work.
        try recent.withLock { recent throws(KeyError) in
            if let known = recent.first(where: { $0.salt == salt }) { return known }
            do throws(CryptoFailure) {
                let root = try Self.lend(bytes) { passphrase throws(CryptoFailure) in
                    try Scrypt.derive(
                        passphrase: passphrase, salt: salt.span, logCost: Self.logCost)
                }
                let derived = Derived(salt: salt, root: root)
                if recent.count == Self.recentLimit { recent.removeFirst() }
                recent.append(derived)
                return derived
            } catch {
                throw KeyError(code: .cryptography, message: error.description)
            }
        }
    }

    /// That it is a passphrase, and nothing of it.
    public var description: String { "Passphrase(redacted)" }
    /// Without children.
    public var customMirror: Mirror { Mirror(self, children: []) }
}
