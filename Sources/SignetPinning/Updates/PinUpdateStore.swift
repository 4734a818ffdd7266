import SignetBase
import SignetSystem

/// Keeps the newest signed policy in a file, so that a program doesn't accept an older one after a
/// restart.
///
/// ```swift
/// import SignetCrypto
///
/// let keys = """
///     {"keys": [{"kty": "OKP", "crv": "Ed25519", "kid": "pins-2026",
///                "x": "11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo"}]}
///     """
/// let verifier = try PinUpdateVerifier(
///     keys: KeySet(parsing: Array(keys.utf8), source: "built-in keys"))
/// let store = PinUpdateStore(path: "/var/lib/shop/pins.json", verifier: verifier)
///
/// func policy(acceptingUpdate document: [UInt8], now: Int64) throws -> PinPolicy {
///     try store.accept(document, now: now).policy
/// }
/// if let kept = try store.current() { print("policy \(kept.serial) is in use") }
/// ```
///
/// The file is the signed document as it was served. Its signature is checked at every read, so an
/// attacker who can write the file can't forge a policy. An attacker who can delete the file, or
/// replace it by an older document, can take the program back to that document or to its built-in
/// pins.
///
/// A document's expiration limits how long it can be accepted, not how long it is used. An accepted
/// policy stays in use until a newer one is accepted, also after a restart. If expired policies
/// were dropped, an attacker who withholds newer documents could bring back the pins that those
/// policies removed. A program with newer built-in pins sets `builtInSerial`.
public struct PinUpdateStore: Sendable {
    /// The file's path.
    public let path: String
    /// The serial number that the program's built-in pins correspond to. Documents up to it aren't
    /// used.
    public let builtInSerial: Int64
    private let verifier: PinUpdateVerifier

    /// Creates a store without reading the file.
    public init(path: String, verifier: PinUpdateVerifier, builtInSerial: Int64 = 0) {
        self.path = path
        self.verifier = verifier
        self.builtInSerial = builtInSerial
    }

    /// Returns the policy that was accepted last, even if it has expired.
    ///
    /// - Returns: nil if none was ever accepted, or if the program's built-in pins are as new.
    /// - Throws: `PinError` with code `state-tampered` if the file isn't a document of the keys,
    ///   `unknown-key` or `key-revoked` if the program no longer has its key or has revoked it, or
    ///   `unreadable-file`.
    public func current() throws(PinError) -> VerifiedPinPolicy? {
        guard let bytes = try read() else { return nil }
        guard try inspect(bytes).serial > builtInSerial else { return nil }
        // Verifies as of the document's last second, because it stays in use after its expiration.
        let last = try verifier.verifySignature(bytes, now: nil).signed.expires - 1
        return try verifier.verify(bytes, now: last)
    }

    /// Accepts a document that isn't older than the last one, and stores it before returning.
    ///
    /// Accepts the last document again, but refuses another one with the same serial number.
    /// Several processes can share the file.
    ///
    /// - Parameters:
    ///   - bytes: The document as it was served.
    ///   - now: Unix time in seconds; nil means now.
    /// - Throws: `PinError` with a code of ``PinUpdateVerifier/verify(_:now:)``, or `rolled-back`,
    ///   `state-tampered`, `unreadable-file`, `unwritable-file` or `file-busy`. The file is then
    ///   unchanged.
    public func accept(_ bytes: [UInt8], now: Int64? = nil) throws(PinError) -> VerifiedPinPolicy {
        let new = try verifier.verify(bytes, now: now)
        guard new.serial > builtInSerial else {
            throw PinError(
                .rolledBack,
                "the pin policy \(new.serial) isn't newer than the built-in one,"
                    + " \(builtInSerial)")
        }
        while true {
            var lock: FileLock
            do throws(FileFailure) {
                lock = try FileLock(guarding: path)
            } catch {
                throw Self.unwritable(error)
            }
            if let old = try read() {
                let known = try inspect(old)
                if known.serial == new.serial, known.digest == new.digest { return new }
                guard known.serial < new.serial else {
                    throw Self.rolledBack(new, knownSerial: known.serial)
                }
            }
            do throws(FileFailure) {
                try lock.write(bytes)
                return new
            } catch {
                // Another process created the file meanwhile: start again with its document.
                guard lock.hasNoFile, error.kind == .alreadyExists else {
                    throw Self.unwritable(error)
                }
            }
        }
    }

    private func read() throws(PinError) -> [UInt8]? {
        do throws(FileFailure) {
            return try PrivateFile.read(
                path, limit: SignedPinPolicy.maximumByteCount, requirePrivate: false)
        } catch {
            switch error.kind {
            case .notFound: return nil
            case .tooLarge: throw tampered("it is larger than a signed policy can be")
            default: throw PinError(.unreadableFile, error.message)
            }
        }
    }

    /// Returns the serial number and digest of the file's document, which may have expired.
    ///
    /// A document of a key that the program no longer has still gives the last serial number,
    /// although its policy isn't used.
    private func inspect(_ bytes: [UInt8]) throws(PinError) -> (serial: Int64, digest: [UInt8]?) {
        do throws(PinError) {
            do throws(PinError) {
                let kept = try verifier.verifySignature(bytes, now: nil)
                return (kept.serial, kept.digest)
            } catch {
                guard error.code == .unknownKey else { throw error }
                return (try PinUpdateVerifier.claimedSerial(bytes), nil)
            }
        } catch {
            throw tampered(error.message)
        }
    }

    private func tampered(_ what: String) -> PinError {
        PinError(
            .stateTampered,
            "\(printable(path)): \(what); find out why, then remove this file, after which"
                + " any signed policy that hasn't expired is accepted again")
    }

    private static func rolledBack(_ new: VerifiedPinPolicy, knownSerial known: Int64) -> PinError {
        PinError(
            .rolledBack,
            new.serial == known
                ? "another pin policy with the serial number \(new.serial) was accepted before:"
                    + " give the next one a higher number"
                : "the pin policy \(new.serial) is older than the one in use, \(known): serve that"
                    + " one, or sign one with a higher number")
    }

    private static func unwritable(_ failure: FileFailure) -> PinError {
        PinError(failure.kind == .busy ? .fileBusy : .unwritableFile, failure.message)
    }
}
