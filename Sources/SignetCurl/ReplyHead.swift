internal import HTTPTypes
internal import SignetTransport

/// A reply's start line and fields, as libcurl hands them over line by line.
struct ReplyHead {
    let version: EngineResponse.HTTPVersion
    let response: HTTPResponse

    /// Reads the lines.
    ///
    /// - Returns: nil for anything but a start line and fields of RFC 9110.
    init?(_ bytes: borrowing Span<UInt8>) {
        var (position, lineCount) = (0, 0)
        for index in 0..<bytes.count where bytes[index] == UInt8(ascii: "\n") { lineCount += 1 }
        guard let line = ReplyHead.line(bytes, &position),
            let (version, status) = ReplyHead.startLine(bytes, line)
        else { return nil }
        var fields = HTTPFields()
        fields.reserveCapacity(lineCount)
        while position < bytes.count {
            guard let line = ReplyHead.line(bytes, &position),
                let field = ReplyHead.field(bytes, line)
            else { return nil }
            fields.append(field)
        }
        self.version = version
        self.response = HTTPResponse(status: status, headerFields: fields)
    }

    private static func line(_ bytes: borrowing Span<UInt8>, _ position: inout Int) -> Range<Int>? {
        let start = position
        while position < bytes.count, bytes[position] != UInt8(ascii: "\n") { position += 1 }
        guard position < bytes.count else { return nil }
        var end = position
        position += 1
        if end > start, bytes[end - 1] == UInt8(ascii: "\r") { end -= 1 }
        return start..<end
    }

    private static func startLine(_ bytes: borrowing Span<UInt8>, _ line: Range<Int>)
        -> (EngineResponse.HTTPVersion, HTTPResponse.Status)?
    {
        // HTTP/1.1 200 OK, HTTP/2 200
        guard line.count >= 10 else { return nil }
        for (offset, byte) in "HTTP/".utf8.enumerated() {
            guard bytes[line.lowerBound + offset] == byte else { return nil }
        }
        var index = line.lowerBound + 5
        guard let major = digit(bytes[index]) else { return nil }
        var minor = 0
        index += 1
        if bytes[index] == UInt8(ascii: ".") {
            guard let number = digit(bytes[index + 1]) else { return nil }
            minor = number
            index += 2
        }
        guard index + 4 <= line.upperBound, bytes[index] == UInt8(ascii: " "),
            let first = digit(bytes[index + 1]), let second = digit(bytes[index + 2]),
            let third = digit(bytes[index + 3]), (1...9).contains(first)
        else { return nil }
        let reason = min(index + 5, line.upperBound)..<line.upperBound
        let phrase = isPlain(bytes, reason) ? reasonPhrase(bytes, reason) : ""
        return (
            EngineResponse.HTTPVersion(major: major, minor: minor),
            HTTPResponse.Status(
                code: first * 100 + second * 10 + third, reasonPhrase: phrase)
        )
    }

    private static func reasonPhrase(_ bytes: borrowing Span<UInt8>, _ range: Range<Int>) -> String
    {
        if range.isEmpty { return "" }
        return unsafe bytes.extracting(range).withUnsafeBufferPointer {
            unsafe String(decoding: $0, as: UTF8.self)
        }
    }

    /// Whether bytes hold no control character but the tab.
    private static func isPlain(_ bytes: borrowing Span<UInt8>, _ range: Range<Int>) -> Bool {
        for position in range {
            let byte = bytes[position]
            guard byte >= 0x20 && byte != 0x7F || byte == 0x09 else { return false }
        }
        return true
    }

    private static func field(_ bytes: borrowing Span<UInt8>, _ line: Range<Int>) -> HTTPField? {
        var colon = line.lowerBound
        while colon < line.upperBound, bytes[colon] != UInt8(ascii: ":") { colon += 1 }
        guard colon < line.upperBound else { return nil }
        var start = colon + 1
        var end = line.upperBound
        while start < end, isBlank(bytes[start]) { start += 1 }
        while end > start, isBlank(bytes[end - 1]) { end -= 1 }
        guard isPlain(bytes, start..<end) else { return nil }
        guard let name = name(bytes, line.lowerBound..<colon) else { return nil }
        return unsafe bytes.extracting(start..<end).withUnsafeBufferPointer { value in
            // What is no ASCII may be no UTF-8 either: then it stays what it is, bytes.
            unsafe value.allSatisfy { $0 < 0x80 }
                ? unsafe HTTPField(name: name, value: String(decoding: value, as: UTF8.self))
                : unsafe HTTPField(name: name, value: value)
        }
    }

    private static func name(_ bytes: borrowing Span<UInt8>, _ range: Range<Int>)
        -> HTTPField.Name?
    {
        if range.count < common.count {
            for known in common[range.count] where known.isAt(range.lowerBound, bytes) {
                return known.name
            }
        }
        var isASCII = true
        for index in range where bytes[index] >= 0x80 { isASCII = false }
        // String's own ==, which takes two Unicode forms for one, sees ASCII only.
        guard isASCII else { return nil }
        return unsafe bytes.extracting(range).withUnsafeBufferPointer {
            unsafe HTTPField.Name(String(decoding: $0, as: UTF8.self))
        }
    }

    /// A name that most replies hold, checked and made lower case once.
    private struct KnownName {
        let bytes: [UInt8]
        let name: HTTPField.Name

        /// Whether it stands at a place of a header, for which a name of its length is there.
        func isAt(_ position: Int, _ header: borrowing Span<UInt8>) -> Bool {
            for offset in bytes.indices where bytes[offset] != header[position + offset] {
                return false
            }
            return true
        }
    }

    /// The known names by their length.
    private static let common: [[KnownName]] = {
        var byLength: [[KnownName]] = []
        for text in [
            "Server", "Date", "Content-Type", "Content-Length", "Connection", "Cache-Control",
            "ETag", "Last-Modified", "Vary", "Set-Cookie", "Transfer-Encoding", "Location", "Age",
            "Expires", "Accept-Ranges", "Strict-Transport-Security", "Keep-Alive", "Via",
        ] {
            for spelling in [text, text.lowercased()] {
                guard let name = HTTPField.Name(spelling) else { continue }
                let bytes = Array(spelling.utf8)
                while byLength.count <= bytes.count { byLength.append([]) }
                byLength[bytes.count].append(KnownName(bytes: bytes, name: name))
            }
        }
        return byLength
    }()

    private static func isBlank(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x09 }

    private static func digit(_ byte: UInt8) -> Int? {
        (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) ? Int(byte - UInt8(ascii: "0")) : nil
    }
}
