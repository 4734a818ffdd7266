internal import SignetCrypto
internal import Synchronization

/// Nonces in a file that several processes of one machine share, under its lock.
///
/// The file begins with the line `signet-nonces 1`; each line after it is an expiry in seconds since
/// 1970, a key id and a nonce, the two in base64url. What has expired is dropped now and then, by
/// writing a new file and renaming it. A file that is not readable, not writable or not of this
/// form refuses every message.
public final class FileNonceStore: NonceStore {
    private struct State {
        var remembered: [NonceIdentity: Int64] = [:]
        /// Which file `remembered` was read from, and how far.
        var file: LockedFile.Identity?
        var position = 0
        /// At which size to look next whether enough has expired.
        var nextLook = FileNonceStore.smallSize
    }

    private static let smallSize = 256 * 1024

    private static let header = Array("signet-nonces 1\n".utf8)
    private static let maximumSize = 256 << 20

    private let path: String
    private let state = Mutex(State())

    /// Names the file; it is made at the first nonce, with mode 0600.
    public init(path: String) { self.path = path }

    /// Remembers a key's nonce unless it is remembered already, in one step.
    ///
    /// - Parameters:
    ///   - nonce: 1 to 256 bytes of ASCII.
    ///   - keyID: The key's id.
    ///   - expiry: The last second at which the signature could be taken again.
    ///   - now: The time, in seconds since 1970.
    /// - Throws: `SigningError` with `replayed-nonce`, `nonce-store-full` or `nonce-store-failed`.
    public func remember(
        _ nonce: String, of keyID: String, until expiry: Int64, now: Int64
    ) throws(SigningError) {
        let path = path
        try state.withLock { (state) throws(SigningError) in
            do {
                let file = try LockedFile(path: path)
                try Self.catchUp(&state, file)
                let identity = NonceIdentity(nonce, of: keyID)
                if let known = state.remembered[identity], known >= now {
                    throw SigningError.replayed
                }
                let line = Self.line(expiry, keyID, nonce)
                if try Self.compact(&state, file, adding: line, now: now) {
                    // The next call reads the new file.
                    state = State()
                    return
                }
                try file.write(line, at: state.position)
                state.position += line.count
                state.remembered[identity] = expiry
            } catch let error as SigningError {
                state = State()
                throw error
            } catch let error as FileFailure {
                state = State()
                throw SigningError(.nonceStoreFailed, error.message)
            } catch {
                state = State()
                throw SigningError(.nonceStoreFailed, "cannot use \(path)")
            }
        }
    }

    /// Reads what was written to the file since it was last looked at.
    private static func catchUp(_ state: inout State, _ file: borrowing LockedFile) throws {
        if state.file != file.identity { state = State() }
        let size = try file.size()
        guard size <= maximumSize else {
            throw SigningError(.nonceStoreFull, "the nonce file holds more than 256 MiB")
        }
        if size < state.position { state = State() }
        state.file = file.identity
        let bytes = try file.read(from: state.position, count: size - state.position)
        var position = 0
        if state.position == 0 {
            guard !bytes.isEmpty else {
                try file.write(header, at: 0)
                state.position = header.count
                return
            }
            guard bytes.starts(with: header) else { throw malformed }
            position = header.count
        }
        // A line without its end was cut short by a crash: its writer never took the message.
        while let end = bytes[position...].firstIndex(of: ASCII.lineFeed) {
            let parts = bytes[position..<end].split(
                separator: ASCII.space, omittingEmptySubsequences: false)
            guard parts.count == 3, let expiry = Int64(String(decoding: parts[0], as: UTF8.self)),
                let keyID = Base64.decode(Array(parts[1]), .url),
                let nonce = Base64.decode(Array(parts[2]), .url)
            else { throw malformed }
            let identity = NonceIdentity(
                String(decoding: nonce, as: UTF8.self), of: String(decoding: keyID, as: UTF8.self))
            state.remembered[identity] = max(expiry, state.remembered[identity] ?? expiry)
            position = end + 1
        }
        state.position += position
    }

    /// Writes a new file where most of a large one has expired; tells whether it did.
    private static func compact(
        _ state: inout State, _ file: borrowing LockedFile, adding line: [UInt8], now: Int64
    ) throws -> Bool {
        guard state.position > state.nextLook else { return false }
        let bytes = try file.read(from: 0, count: state.position)
        var kept = header
        for old in bytes.dropFirst(header.count).split(separator: ASCII.lineFeed) {
            let expiry = Int64(String(decoding: old.prefix { $0 != ASCII.space }, as: UTF8.self))
            if let expiry, expiry >= now { kept += old + [ASCII.lineFeed] }
        }
        guard kept.count < state.position / 2 else {
            state.nextLook = state.position * 2
            return false
        }
        try file.replace(with: kept + line)
        return true
    }

    private static func line(_ expiry: Int64, _ keyID: String, _ nonce: String) -> [UInt8] {
        var line: [UInt8] = []
        line.append(decimal: expiry)
        line.append(ASCII.space)
        line.append(Base64.encode(Array(keyID.utf8), .url))
        line.append(ASCII.space)
        line.append(Base64.encode(Array(nonce.utf8), .url))
        line.append(ASCII.lineFeed)
        return line
    }

    private static var malformed: SigningError {
        SigningError(.nonceStoreFailed, "the nonce file is none of signet's")
    }
}
