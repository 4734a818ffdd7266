#if Storage
import SignetBase
import SignetCache
import SignetCrypto
import SignetSystem

/// The form of contents in files: blocks of 64 KiB, each protected for its place.
enum ContentFile {
    static let blockSize = 65_536

    /// The name of a content's file.
    static func name(of contentID: [UInt8]) -> String { digits(of: contentID) + ".body" }

    /// The name of a file that is being written.
    static func temporaryName(of contentID: [UInt8]) -> String { digits(of: contentID) + ".tmp" }

    private static func digits(of contentID: [UInt8]) -> String {
        String(decoding: contentID.hexadecimal(), as: UTF8.self)
    }

    static func isName(_ name: String) -> Bool { has(".body", at: name) }

    static func isTemporaryName(_ name: String) -> Bool { has(".tmp", at: name) }

    private static func has(_ ending: String, at name: String) -> Bool {
        let bytes = Array(name.utf8)
        return bytes.count == 32 + ending.utf8.count
            && bytes.suffix(ending.utf8.count)
                .elementsEqual(ending.utf8)
            && bytes.prefix(32).allSatisfy { $0.isHexDigit && !$0.isUppercaseLetter }
    }

    /// The place of a block.
    static func context(of block: Int64, in contentID: [UInt8]) -> [UInt8] {
        Array("block".utf8) + contentID
            + (0..<8).map { UInt8(truncatingIfNeeded: block >> Int64(56 - 8 * $0)) }
    }

    /// The place of a content in the database.
    static func context(ofRow contentID: [UInt8]) -> [UInt8] { Array("content".utf8) + contentID }

    /// The size of a file.
    static func size(of length: Int64, under seal: StoreSeal) -> Int64 {
        let blocks = (length + Int64(blockSize) - 1) / Int64(blockSize)
        return length + blocks * Int64(seal.overhead)
    }
}

/// Reads a content from its file.
final class ContentFileReader: CacheContentReader {
    private let folder: StoreFolder
    private let seal: StoreSeal
    private let contentID: [UInt8]
    private let length: Int64
    private let damaged: @Sendable () -> Void
    private let file: StoreFile?

    /// Opens the file, so that the content stays if the response is removed.
    ///
    /// - Parameter damaged: Called if the content can't be read.
    init(
        _ contentID: [UInt8], length: Int64, in folder: StoreFolder, under seal: StoreSeal,
        damaged: @escaping @Sendable () -> Void
    ) {
        (self.contentID, self.length, self.folder) = (contentID, length, folder)
        (self.seal, self.damaged) = (seal, damaged)
        file = try? folder.open(ContentFile.name(of: contentID))
    }

    func isIntact() async -> Bool {
        var isIntact = file?.size == ContentFile.size(of: length, under: seal)
        var position: Int64 = 0
        while isIntact, position < length {
            let block = block(at: position)
            isIntact = block != nil
            position += Int64(ContentFile.blockSize)
        }
        if !isIntact { damaged() }
        return isIntact
    }

    func piece(in range: Range<Int64>) async -> [UInt8]? {
        guard range.lowerBound >= 0, range.upperBound <= length, !range.isEmpty else { return nil }
        guard let block = block(at: range.lowerBound) else {
            damaged()
            return nil
        }
        let start = Int(range.lowerBound % Int64(ContentFile.blockSize))
        let end = min(Int64(block.count), Int64(start) + Int64(range.count))
        return start == 0 && Int(end) == block.count ? block : Array(block[start..<Int(end)])
    }

    /// The block that has a position; nil if it is damaged.
    private func block(at position: Int64) -> [UInt8]? {
        let size = Int64(ContentFile.blockSize)
        let index = position / size
        let count = Int(min(size, length - index * size))
        let protected = try? file?.read(
            at: index * (size + Int64(seal.overhead)), count: count + seal.overhead)
        guard let protected,
            let block = seal.open(protected, in: ContentFile.context(of: index, in: contentID)),
            block.count == count
        else { return nil }
        return block
    }
}

/// Takes a content piece by piece: a small one stays in memory, a larger one goes into a file.
struct ContentBuffer {
    /// The place of the whole content.
    enum Place {
        case row([UInt8])
        case file(NewStoreFile, size: Int64)
    }

    let contentID: [UInt8]
    private(set) var length: Int64 = 0
    private let folder: StoreFolder
    private let seal: StoreSeal
    private var pending: [UInt8] = []
    private var file: NewStoreFile?
    private var blocks: Int64 = 0

    /// - Returns: Nil if there are no random bytes.
    init?(in folder: StoreFolder, under seal: StoreSeal) {
        guard let id = try? RandomBytes.bytes(16) else { return nil }
        (contentID, self.folder, self.seal) = (id, folder, seal)
    }

    /// Adds bytes.
    ///
    /// - Returns: Whether they could be kept.
    mutating func append(_ bytes: [UInt8]) -> Bool {
        length += Int64(bytes.count)
        pending += bytes
        guard pending.count > ContentFile.blockSize else { return true }
        if file == nil {
            file = try? folder.create(ContentFile.temporaryName(of: contentID))
            guard file != nil else { return false }
        }
        var start = 0
        while pending.count - start >= ContentFile.blockSize {
            guard write(Array(pending[start..<start + ContentFile.blockSize])) else { return false }
            start += ContentFile.blockSize
        }
        pending.removeFirst(start)
        return true
    }

    private mutating func write(_ block: [UInt8]) -> Bool {
        let context = ContentFile.context(of: blocks, in: contentID)
        guard let protected = seal.protect(block, in: context),
            (try? file?.append(protected)) != nil
        else { return false }
        blocks += 1
        return true
    }

    /// Ends the content, and waits until the disk has its file.
    ///
    /// - Returns: Nil if it couldn't be kept.
    mutating func finish() -> Place? {
        guard let file else {
            return seal.protect(pending, in: ContentFile.context(ofRow: contentID))
                .map { .row($0) }
        }
        if !pending.isEmpty, !write(pending) { return nil }
        guard (try? file.synchronize()) != nil else { return nil }
        return .file(file, size: ContentFile.size(of: length, under: seal))
    }
}
#endif
