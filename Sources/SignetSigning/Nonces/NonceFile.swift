import SignetBase
import SignetCrypto
import SignetSystem

/// The nonces of a file as one process knows them. The caller holds the file's lock.
struct NonceFile {
    /// A line of the file.
    struct Entry {
        let identity: NonceIdentity
        let expiration: Int64
        let line: [UInt8]

        init(keyID: String, nonce: String, expiration: Int64) {
            identity = NonceIdentity(nonce, of: keyID)
            self.expiration = expiration
            line = NonceFile.line(expiration: expiration, keyID: keyID, nonce: nonce)
        }
    }

    private static let mark = Array("signet-nonces 1 ".utf8)
    private static let nameLength = 16
    private static let headerLength = mark.count + nameLength + 1
    private static let smallSize = 256 * 1024

    private var remembered: [NonceIdentity: Int64] = [:]
    /// The latest expiration of a dropped line.
    private(set) var lastForgotten: Int64?
    /// The first line as it was read. A replaced file has another one.
    private var header: [UInt8] = []
    /// The offset up to which the file was read.
    private var position = 0
    /// The size at which the file is next checked for expired lines.
    private var nextCompaction = NonceFile.smallSize
    /// The time at which a full file last contained no expired lines.
    private var fullSince: Int64?

    func remembers(_ entry: Entry, at now: Int64) -> Bool {
        remembered[entry.identity].map { $0 >= now } ?? false
    }

    /// Reads the lines that were added since the last call.
    ///
    /// - Throws: `SigningError` with `nonce-store-full` for a file over the limit, before
    ///   allocating memory for it.
    mutating func readNewLines(of file: borrowing LockedFile, limit: Int) throws {
        let size = try file.size()
        guard size <= max(limit, Self.headerLength) else {
            throw SigningError(
                .nonceStoreFull,
                "the nonce file has \(size) bytes, expected at most \(limit)")
        }
        let found = try file.read(from: 0, count: min(size, Self.headerLength))
        if found.count < Self.headerLength {
            // The file is new, or its first line is incomplete.
            guard Self.isHeader(found) else { throw Self.malformed }
            self = NonceFile()
            header = try Self.newHeader()
            try file.write(header, at: 0)
            position = header.count
            return
        }
        if header != found || size < position {
            guard Self.isHeader(found) else { throw Self.malformed }
            self = NonceFile()
            header = found
            position = found.count
        }
        guard size > position else { return }
        let bytes = try file.read(from: position, count: size - position)
        var start = 0
        // An incomplete line is left by a crash: its writer never accepted the message.
        while let end = bytes[start...].firstIndex(of: ASCII.lineFeed) {
            try add(line: bytes[start..<end])
            start = end + 1
        }
        position += start
    }

    private mutating func add(line: ArraySlice<UInt8>) throws(SigningError) {
        let parts = line.split(separator: ASCII.space, omittingEmptySubsequences: false)
        guard parts.count == 3, let expiration = Int64(String(decoding: parts[0], as: UTF8.self)),
            let keyID = Base64.decode(Array(parts[1]), from: .url),
            let nonce = Base64.decode(Array(parts[2]), from: .url)
        else { throw Self.malformed }
        if keyID.isEmpty && nonce.isEmpty {
            lastForgotten = max(lastForgotten ?? expiration, expiration)
            return
        }
        let identity = NonceIdentity(
            String(decoding: nonce, as: UTF8.self), of: String(decoding: keyID, as: UTF8.self))
        remembered[identity] = max(expiration, remembered[identity] ?? expiration)
    }

    /// Appends a line, or writes a new file without the expired lines.
    mutating func add(
        _ entry: Entry, to file: borrowing LockedFile, now: Int64, limit: Int, isDurable: Bool
    ) throws {
        let isFull = position + entry.line.count > limit
        if isFull, fullSince.map({ now <= $0 }) ?? false { throw Self.full(limit) }
        if isFull || position > nextCompaction {
            if try compact(file, adding: entry.line, now: now, limit: limit, isFull: isFull) {
                // The next call reads the new file.
                self = NonceFile()
                return
            }
            if isFull {
                fullSince = now
                throw Self.full(limit)
            }
        }
        try file.write(entry.line, at: position, isDurable: isDurable)
        position += entry.line.count
        remembered[entry.identity] = entry.expiration
    }

    /// Replaces a large file if most of it has expired, or a full one if that makes enough room.
    /// Returns whether it did.
    private mutating func compact(
        _ file: borrowing LockedFile, adding line: [UInt8], now: Int64, limit: Int, isFull: Bool
    ) throws -> Bool {
        let start = header.count
        let bytes = try file.read(from: start, count: position - start)
        var kept: [UInt8] = []
        var lastDropped = lastForgotten
        let end = isFull ? now : max(now, .min + nonceGrace) - nonceGrace
        for old in bytes.split(separator: ASCII.lineFeed) {
            let expiration = Int64(
                String(decoding: old.prefix { $0 != ASCII.space }, as: UTF8.self))
            guard let expiration, expiration < end else {
                kept += old + [ASCII.lineFeed]
                continue
            }
            lastDropped = max(lastDropped ?? expiration, expiration)
        }
        guard isFull ? kept.count < limit * 3 / 4 : kept.count < position / 2 else {
            nextCompaction = position * 2
            return false
        }
        let mark = lastDropped.map { Self.line(expiration: $0, keyID: "", nonce: "") } ?? []
        try file.replace(with: try Self.newHeader() + mark + kept + line)
        return true
    }

    private static func line(expiration: Int64, keyID: String, nonce: String) -> [UInt8] {
        let texts = [keyID, nonce].map { Base64.encode(Array($0.utf8), as: .url) }
        return Array("\(expiration) \(texts[0]) \(texts[1])\n".utf8)
    }

    private static func newHeader() throws -> [UInt8] {
        // Inode numbers are reused, so only a random name shows that the file was replaced.
        let name = Base64.encode(try RandomBytes.bytes(nameLength * 3 / 4), as: .url)
        return mark + Array(name.utf8) + [ASCII.lineFeed]
    }

    /// Whether the bytes are a valid first line, or the beginning of one.
    private static func isHeader(_ bytes: [UInt8]) -> Bool {
        let rest = bytes.dropFirst(mark.count)
        return mark.starts(with: bytes.prefix(mark.count))
            && rest.prefix(nameLength).allSatisfy {
                $0.isLetterOrDigit || $0 == ASCII.minus || $0 == 0x5F
            } && [[], [ASCII.lineFeed]].contains(rest.dropFirst(nameLength))
    }

    private static var malformed: SigningError {
        SigningError(.nonceStoreFailed, "the nonce file isn't in the format signet-nonces 1")
    }

    private static func full(_ limit: Int) -> SigningError {
        SigningError(
            .nonceStoreFull, "the nonce file would hold more than \(limit) bytes of live nonces")
    }
}
