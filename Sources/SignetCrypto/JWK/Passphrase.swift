import SignetSystem
import Synchronization

/// A passphrase from which a vault's root key is derived, instead of a key file. It is never
/// printed.
///
/// ```swift
/// let passphrase = try Passphrase(.descriptor(3))  // Or a file, a variable or a command.
/// print(passphrase)  // Passphrase(redacted)
/// ```
public final class Passphrase: Sendable, CustomStringConvertible, CustomReflectable {
    /// The fixed scrypt parameters (RFC 7914, section 2): N = 2^17, r = 8, p = 1. A dump cannot
    /// change them.
    private static let logCost = 17

    /// A root and the salt from which it was derived.
    private final class Derived: Sendable {
        let salt: [UInt8]
        let root: SecretBytes

        init(salt: [UInt8], root: consuming SecretBytes) {
            self.salt = salt
            self.root = root
        }
    }

    private let bytes: SecretBytes
    /// Caches the last derived roots, newest last, because each derivation is slow.
    private let recent = Mutex<[Derived]>([])
    private static let recentLimit = 8

    /// Reads a passphrase of one byte or more. Removes one final newline, unless it comes from an
    /// environment variable.
    ///
    /// - Throws: `KeyError` like ``KeySource/load()``, and with `malformedKeys` if the passphrase
    ///   is empty.
    public init(_ source: KeySource) throws(KeyError) {
        self.bytes = try source.loadPassphrase()
    }

    /// The passphrase's length in bytes.
    package var byteCount: Int { bytes.count }

    /// Returns a copy of the bytes, which the caller wipes.
    package func copy() -> [UInt8] {
        Self.lend(bytes) { bytes in unsafe bytes.withUnsafeBytes { unsafe Array($0) } }
    }

    /// Creates a passphrase from bytes. The caller wipes its own copy.
    package init(copying bytes: Span<UInt8>) {
        self.bytes = SecretBytes(copying: bytes)
    }

    /// Calls `body` with the root for a salt: 32 bytes of scrypt, derived in half a second or
    /// cached.
    ///
    /// - Parameters:
    ///   - salt: The 32 random bytes of a dump.
    ///   - body: Receives the root and must not keep it.
    /// - Throws: `KeyError` with `crypto-failed` if OpenSSL fails, and what `body` throws.
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
        // Holds the lock, so that two threads don't derive the same root.
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
                throw KeyError(error)
            }
        }
    }

    /// A redacted description.
    public var description: String { "Passphrase(redacted)" }
    /// No children, so that reflection and `dump` show only the description.
    public var customMirror: Mirror { Mirror(self, children: []) }
}
