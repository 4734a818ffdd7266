internal import SignetCrypto

/// The newest signed policy that a program has taken, kept in a file, so that no older one is taken
/// after a restart.
///
/// The file is the signed document itself, as it was served. Its signature is checked again whenever it is
/// read, so whoever can write it cannot forge a policy; who can remove it, or put an older document there,
/// takes the program back to that document, or to its own pins.
///
/// A document's time says how long it may be taken, and not how long it is used: what was taken stays in use
/// until a newer one comes, across restarts too. Were an expired one dropped, whoever keeps newer ones back
/// would bring the pins back that it took away. A program that carries newer pins itself says so by
/// `builtInSerial`.
public struct PinUpdateStore: Sendable {
    /// The file's path.
    public let path: String
    /// The serial number up to which the program's own pins are as new: no document is used that is not above it.
    public let builtInSerial: Int64
    private let verifier: PinUpdateVerifier

    /// Names the file; nothing is read yet.
    public init(path: String, verifier: PinUpdateVerifier, builtInSerial: Int64 = 0) {
        self.path = path
        self.verifier = verifier
        self.builtInSerial = builtInSerial
    }

    /// The policy that was taken last, also where its time is over.
    ///
    /// - Returns: nil where none was ever taken, or the program's own pins are as new.
    /// - Throws: `PinError`: `state-tampered` for a file that is no document of the keys, `unknown-key` or
    ///   `key-revoked` for one of a key that the program no longer carries or has revoked, `unreadable-file`.
    public func current() throws(PinError) -> VerifiedPinPolicy? {
        guard let bytes = try read() else { return nil }
        guard try known(bytes).serial > builtInSerial else { return nil }
        // At its last moment: the signature and the key must hold then, whatever the time is now.
        let last = try verifier.verifySignature(bytes, now: nil).signed.expires - 1
        return try verifier.verify(bytes, now: last)
    }

    /// Takes a document, unless a newer one was taken before, and keeps it before it is handed back.
    ///
    /// The document that was taken last is taken again. Another one of the same serial number is refused.
    /// Processes that share the file take turns.
    ///
    /// - Parameters:
    ///   - bytes: The document, as it was served.
    ///   - now: Unix time in seconds.
    /// - Throws: `PinError`: what `PinUpdateVerifier.verify` throws, `rolled-back`, `state-tampered`,
    ///   `unreadable-file`, `unwritable-file`, `file-busy`. Then the file is as it was.
    public func accept(_ bytes: [UInt8], now: Int64) throws(PinError) -> VerifiedPinPolicy {
        let new = try verifier.verify(bytes, now: now)
        guard new.serial > builtInSerial else {
            throw PinError(
                code: .rolledBack,
                message: "the pin policy \(new.serial) is no newer than the program's own,"
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
                let known = try known(old)
                if known.serial == new.serial, known.digest == new.digest { return new }
                guard known.serial < new.serial else { throw Self.rolledBack(new, known.serial) }
            }
            do throws(FileFailure) {
                try lock.write(bytes)
                return new
            } catch {
                // Another process made it meanwhile: begin again with what it kept.
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
            default: throw PinError(code: .unreadableFile, message: error.message)
            }
        }
    }

    /// What number the file holds, whatever the time: an expired document still says which was the last.
    /// So does one of a key that the program no longer carries, though its policy is not used.
    private func known(_ bytes: [UInt8]) throws(PinError) -> (serial: Int64, digest: [UInt8]?) {
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
            code: .stateTampered,
            message:
                "\(printable(path)): \(what); when you know why, remove this file: then any signed"
                + " policy that has not expired is taken once more")
    }

    private static func rolledBack(_ new: VerifiedPinPolicy, _ known: Int64) -> PinError {
        PinError(
            code: .rolledBack,
            message: new.serial == known
                ? "another pin policy of the serial number \(new.serial) was taken before: give the"
                    + " next one a higher number"
                : "the pin policy \(new.serial) is older than the one in use, \(known)")
    }

    private static func unwritable(_ failure: FileFailure) -> PinError {
        PinError(
            code: failure.kind == .busy ? .fileBusy : .unwritableFile, message: failure.message)
    }
}
