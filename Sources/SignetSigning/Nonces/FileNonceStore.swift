import Dispatch
import SignetBase
import SignetCrypto
import SignetSystem
import Synchronization

/// A nonce store in a file that several processes of one machine share.
///
/// The file starts with the line `signet-nonces 1 ID`, where ID is a random name of this file. Each
/// other line holds an expiration in seconds since 1970, a key id and a nonce, the last two in
/// base64url. To drop expired lines, the store replaces the file. A line with an empty key id and
/// an empty nonce then holds the latest expiration of the dropped lines. An incomplete line, left
/// by a crash or a full disk, is overwritten: its message was never accepted.
///
/// The store refuses every message if the file isn't readable, writable or of this form, or if
/// another process holds its lock too long. The file must be a regular file that only its owner can
/// access (mode 0600), this user or root: anyone who can write it can allow replays.
///
/// Without `isDurable`, a power failure may lose the last lines. Their messages can then be
/// replayed until they expire.
public final class FileNonceStore: NonceStore {
    private let path: String
    private let lockTimeout: Duration
    private let isDurable: Bool
    private let limit: Int
    private let state = Mutex(NonceFile())
    /// Runs the blocking file access of tasks.
    private let queue = DispatchQueue(label: "signet.nonces")

    /// Creates a store. The file is created with the first nonce, with mode 0600.
    ///
    /// - Parameters:
    ///   - path: The file's path. Symbolic links are followed.
    ///   - lockTimeout: The longest wait for the file's lock. After it the message is refused.
    ///   - limit: The largest size of the file in bytes; a nonce takes about 80. A full file
    ///     refuses messages. A larger file is refused before it is read.
    ///   - isDurable: Whether to wait until the disk has each nonce.
    public init(
        path: String, lockTimeout: Duration = .seconds(10), limit: Int = 64 << 20,
        isDurable: Bool = false
    ) {
        self.path = path
        self.lockTimeout = lockTimeout
        self.limit = limit
        self.isDurable = isDurable
    }

    /// Stores a key's nonce in one step, unless it is stored already. Blocks the thread while
    /// another process holds the file's lock.
    ///
    /// - Parameters:
    ///   - nonce: 1 to 256 bytes of ASCII.
    ///   - keyID: The key's id.
    ///   - expiration: The last second since 1970 at which the signature could be accepted again.
    ///   - now: The time, in seconds since 1970.
    /// - Throws: `SigningError` with `replayed-nonce`, `nonce-store-full` or `nonce-store-failed`.
    public func remember(
        _ nonce: String, of keyID: String, expiration: Int64, now: Int64
    ) throws(SigningError) {
        let entry = NonceFile.Entry(keyID: keyID, nonce: nonce, expiration: expiration)
        try remember(entry, now: now, deadline: .now + lockTimeout)
    }

    /// Stores a key's nonce as the other method does. Suspends the task meanwhile.
    public func remember(
        _ nonce: String, of keyID: String, expiration: Int64, now: Int64
    ) async throws(SigningError) {
        let deadline = ContinuousClock.now + lockTimeout
        let entry = NonceFile.Entry(keyID: keyID, nonce: nonce, expiration: expiration)
        let outcome = await withCheckedContinuation { continuation in
            queue.async {
                continuation.resume(
                    returning: Result { () throws(SigningError) in
                        try self.remember(entry, now: now, deadline: deadline)
                    })
            }
        }
        try outcome.get()
    }

    /// - Parameter deadline: The end of the wait for the file's lock. The caller sets it before it
    ///   queues, so that the waits of queued callers don't add up.
    private func remember(
        _ entry: NonceFile.Entry, now: Int64, deadline: ContinuousClock.Instant
    ) throws(SigningError) {
        try state.withLock { (state) throws(SigningError) in
            // A known nonce is refused without reading the file.
            guard !state.remembers(entry, at: now) else { throw SigningError.replayed }
            do {
                let file = try LockedFile(path: path, until: deadline, requirePrivate: true)
                try state.readNewLines(of: file, limit: limit)
                guard !state.remembers(entry, at: now) else { throw SigningError.replayed }
                try SigningError.requireNothingForgotten(
                    at: now, lastForgotten: state.lastForgotten)
                try state.add(entry, to: file, now: now, limit: limit, isDurable: isDurable)
            } catch let error as SigningError {
                guard [.nonceStoreFull, .nonceStoreFailed].contains(error.code) else { throw error }
                throw SigningError(error.code, "\(printable(path)): \(error.message)")
            } catch let error as FileFailure {
                // The state after a failure is unknown.
                state = NonceFile()
                throw SigningError(.nonceStoreFailed, error.message)
            } catch {
                state = NonceFile()
                throw SigningError(.nonceStoreFailed, "cannot use \(printable(path))")
            }
        }
    }
}
