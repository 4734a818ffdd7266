internal import Dispatch
internal import SignetCrypto
internal import Synchronization

/// Nonces in a file that several processes of one machine share, under its lock.
///
/// The file begins with the line `signet-nonces 1 ID`, where ID is a random name of this very file;
/// each line after it is an expiration in seconds since 1970, a key id and a nonce, the two in base64url.
/// What has expired is dropped now and then, by writing a new file and renaming it; a line with
/// neither key id nor nonce then tells up to which second anything was dropped. A file that is not
/// readable, not writable or not of this form refuses every message, and so does one whose lock
/// another process keeps. What a kill, a full disk or a crash cut short was never taken: the next
/// call writes over it. The file must be a regular one of this user's or root's that gives nobody else
/// any rights (mode 0600), since whoever can write it can let replays pass.
///
/// The lines are written, not brought to the disk one by one, unless `isDurable` says so: a power cut
/// may lose the last ones, and what they remembered can be replayed for the rest of its window.
public final class FileNonceStore: NonceStore {
    private let path: String
    private let lockTimeout: Duration
    private let isDurable: Bool
    private let limit: Int
    private let state = Mutex(NonceFile())
    /// Where tasks let the file be waited for.
    private let queue = DispatchQueue(label: "signet.nonces")

    /// Names the file; it is made at the first nonce, with mode 0600.
    ///
    /// - Parameters:
    ///   - path: Links are followed.
    ///   - lockTimeout: The longest wait for the lock; then the message is refused.
    ///   - limit: The most bytes of the file, about 80 for a nonce; a full one refuses. A file that is
    ///     larger is refused before it is read.
    ///   - isDurable: Whether to wait, at each nonce, until the disk has it.
    public init(
        path: String, lockTimeout: Duration = .seconds(10), limit: Int = 64 << 20,
        isDurable: Bool = false
    ) {
        self.path = path
        self.lockTimeout = lockTimeout
        self.limit = limit
        self.isDurable = isDurable
    }

    /// Remembers a key's nonce unless it is remembered already, in one step. It blocks the thread
    /// while another process has the file.
    ///
    /// - Parameters:
    ///   - nonce: 1 to 256 bytes of ASCII.
    ///   - keyID: The key's id.
    ///   - expiration: The last second at which the signature could be taken again.
    ///   - now: The time, in seconds since 1970.
    /// - Throws: `SigningError` with `replayed-nonce`, `nonce-store-full` or `nonce-store-failed`.
    public func remember(
        _ nonce: String, of keyID: String, expiration: Int64, now: Int64
    ) throws(SigningError) {
        let entry = NonceFile.Entry(keyID: keyID, nonce: nonce, expiration: expiration)
        try remember(entry, now: now, deadline: .now + lockTimeout)
    }

    /// The same, for a task, which is suspended meanwhile.
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

    /// - Parameter deadline: Counted from the call, so that callers who stand in line for one another
    ///   do not add up their lockTimeout.
    private func remember(
        _ entry: NonceFile.Entry, now: Int64, deadline: ContinuousClock.Instant
    ) throws(SigningError) {
        try state.withLock { (state) throws(SigningError) in
            // What is known needs no file.
            guard !state.remembers(entry, at: now) else { throw SigningError.replayed }
            do {
                let file = try LockedFile(path: path, until: deadline, requirePrivate: true)
                try state.readNewLines(of: file, limit: limit)
                guard !state.remembers(entry, at: now) else { throw SigningError.replayed }
                try state.requireNothingForgotten(at: now)
                try state.add(entry, to: file, now: now, limit: limit, isDurable: isDurable)
            } catch let error as SigningError {
                throw error
            } catch let error as FileFailure {
                // Nobody knows how far it came.
                state = NonceFile()
                throw SigningError(.nonceStoreFailed, error.message)
            } catch {
                state = NonceFile()
                throw SigningError(.nonceStoreFailed, "cannot use \(printable(path))")
            }
        }
    }
}
