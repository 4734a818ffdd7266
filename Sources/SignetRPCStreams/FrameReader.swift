import SignetBase
import SignetRPC

/// Splits a stream of bytes into messages. The bytes may arrive in pieces of any size; each is
/// inspected once.
struct FrameReader {
    private let framing: RPCFraming
    private let maximumHeaderSize: Int
    private let maximumMessageSize: Int
    private var buffer: [UInt8] = []
    /// The index of the first byte not yet returned.
    private var start = 0
    /// The index from which to search for the end of a line.
    private var position = 0
    /// The message's length, once its header is complete.
    private var length: Int?
    private var header = FrameHeader()
    /// Whether a byte order mark may come before the first header.
    private var mayBeginWithMark = true

    private static let mark = ByteOrderMark.bytes

    init(_ framing: RPCFraming, maximumHeaderSize: Int, maximumMessageSize: Int) {
        self.framing = framing
        self.maximumHeaderSize = maximumHeaderSize
        self.maximumMessageSize = maximumMessageSize
    }

    /// Whether the last message is incomplete.
    var isWithinMessage: Bool { start < buffer.count || length != nil || header.isBegun }

    mutating func push(_ bytes: [UInt8]) {
        if start > 0, start == buffer.count || start > buffer.count / 2 {
            buffer.removeSubrange(..<start)
            position -= start
            start = 0
        }
        buffer += bytes
    }

    /// Returns the next complete message; nil if more bytes are needed.
    ///
    /// - Throws: `PayloadError` with code `malformed-frame` or `message-too-large`. No later
    ///   message can be read.
    mutating func next() throws(PayloadError) -> [UInt8]? {
        let message =
            switch framing.value {
            case .lines: try nextLine()
            case .contentLength: try skipMark() ? nextOfLength() : nil
            }
        guard let message, message.hasByteOrderMark else { return message }
        return Array(message.dropFirst(Self.mark.count))
    }

    /// Removes a byte order mark before the first header. Returns false if more bytes are needed.
    private mutating func skipMark() -> Bool {
        guard mayBeginWithMark else { return true }
        guard buffer.count >= Self.mark.count || !Self.mark.starts(with: buffer) else {
            return false
        }
        mayBeginWithMark = false
        if buffer.hasByteOrderMark { _ = remove(upTo: Self.mark.count, skipping: 0) }
        return true
    }

    private mutating func nextLine() throws(PayloadError) -> [UInt8]? {
        while let end = endOfLine() {
            guard end - start <= maximumMessageSize else { throw tooLarge }
            let line = remove(upTo: end, skipping: 1)
            let message = line.last == 0x0D ? Array(line.dropLast()) : line
            if !message.isEmpty { return message }
        }
        guard buffer.count - start <= maximumMessageSize else { throw tooLarge }
        return nil
    }

    private mutating func nextOfLength() throws(PayloadError) -> [UInt8]? {
        while length == nil {
            guard let end = endOfLine() else {
                guard header.size + buffer.count - start <= maximumHeaderSize else {
                    throw headerTooLarge
                }
                return nil
            }
            let line = remove(upTo: end, skipping: 1)
            guard header.size + line.count + 1 <= maximumHeaderSize else { throw headerTooLarge }
            length = try header.receive(line)
            if let length, length > maximumMessageSize { throw tooLarge }
        }
        guard let length, buffer.count - start >= length else { return nil }
        self.length = nil
        header = FrameHeader()
        return remove(upTo: start + length, skipping: 0)
    }

    /// Returns the index of the line's LF.
    private mutating func endOfLine() -> Int? {
        guard let end = buffer[position...].firstIndex(of: 0x0A) else {
            position = buffer.count
            return nil
        }
        position = end
        return end
    }

    private mutating func remove(upTo end: Int, skipping: Int) -> [UInt8] {
        let bytes = Array(buffer[start..<end])
        start = end + skipping
        position = start
        return bytes
    }

    private var tooLarge: PayloadError {
        PayloadError(
            .messageTooLarge,
            "the peer's message is longer than the limit of \(maximumMessageSize) bytes")
    }

    private var headerTooLarge: PayloadError {
        PayloadError(
            .malformedFrame,
            "a frame's header is longer than the limit of \(maximumHeaderSize) bytes")
    }
}

/// The header of one message, parsed line by line.
struct FrameHeader {
    /// The number of bytes so far.
    private(set) var size = 0
    private var length: Int?
    private var hasType = false

    var isBegun: Bool { size > 0 }

    /// Parses a line without its LF; returns the message's length at the header's end.
    mutating func receive(_ line: [UInt8]) throws(PayloadError) -> Int? {
        size += line.count + 1
        guard line.last == 0x0D else { throw Self.malformed("a line that does not end with CR LF") }
        let line = line.dropLast()
        if line.isEmpty {
            guard let length else { throw Self.malformed("no Content-Length") }
            return length
        }
        guard line.allSatisfy({ $0.isVisible || $0.isBlank }) else {
            throw Self.malformed("a byte that is not printable ASCII")
        }
        guard let colon = line.firstIndex(of: 0x3A), colon > line.startIndex,
            line[..<colon].allSatisfy(\.isToken)
        else { throw Self.malformed("a line that is not a field") }
        let value = line[(colon + 1)...].trimmingBlanks()
        switch String(decoding: line[..<colon], as: UTF8.self).lowercased() {
        case "content-length":
            guard length == nil else { throw Self.malformed("a second Content-Length") }
            // Eighteen digits fit into an Int.
            guard (1...18).contains(value.count), value.allSatisfy(\.isDigit)
            else { throw Self.malformed("a Content-Length that is not a length") }
            length = value.reduce(0) { $0 * 10 + Int($1 - 0x30) }
        case "content-type":
            guard !hasType else { throw Self.malformed("a second Content-Type") }
            hasType = true
            guard Self.isUTF8(value) else {
                throw Self.malformed("a Content-Type whose charset is not UTF-8")
            }
        default: break
        }
        return nil
    }

    private static func malformed(_ found: String) -> PayloadError {
        PayloadError(
            .malformedFrame,
            "found \(found) in a frame's header, expected \"Content-Length: \" and a number")
    }

    /// Returns whether the charset, if there is one, is UTF-8, which older programs write as
    /// `utf8`.
    private static func isUTF8(_ value: ArraySlice<UInt8>) -> Bool {
        let parameters = value.split(separator: 0x3B, omittingEmptySubsequences: false).dropFirst()
        return parameters.allSatisfy { parameter in
            let text = String(decoding: parameter.trimmingBlanks(), as: UTF8.self).lowercased()
            guard text.utf8.starts(with: "charset".utf8) else { return true }
            return ["charset=utf-8", "charset=utf8", "charset=\"utf-8\"", "charset=\"utf8\""]
                .contains(text)
        }
    }
}
