import HTTPTypes
import SignetTransport

/// A parsed response header: the start line and fields, after those of interim responses.
struct ResponseHead {
    let version: EngineResponse.HTTPVersion
    let response: HTTPResponse
    /// The responses of 1xx that came before (RFC 9110, section 15.2).
    let interim: [HTTPResponse]

    /// Parses the lines that libcurl delivered.
    ///
    /// - Returns: `nil` if they aren't a start line and fields of RFC 9110.
    init?(_ bytes: borrowing Span<UInt8>) {
        var position = 0
        var interim: [HTTPResponse] = []
        while true {
            guard let line = ResponseHead.nextLine(of: bytes, from: &position),
                let (version, status) = ResponseHead.startLine(line, of: bytes)
            else { return nil }
            let isInterim = status.kind == .informational
            let end = isInterim ? ResponseHead.blankLine(of: bytes, from: position) : nil
            let lines = bytes.extracting(position..<(end?.lowerBound ?? bytes.count))
            guard let fields = ResponseHead.fields(of: lines) else { return nil }
            let response = HTTPResponse(status: status, headerFields: fields)
            guard let end else {
                (self.version, self.response, self.interim) = (version, response, interim)
                return
            }
            interim.append(response)
            position = end.upperBound
        }
    }

    /// Returns the line that ends a header; nil if none does.
    private static func blankLine(
        of bytes: borrowing Span<UInt8>, from start: Int
    ) -> Range<Int>? {
        var position = start
        while position < bytes.count {
            let first = position
            guard let line = nextLine(of: bytes, from: &position) else { return nil }
            if line.isEmpty { return first..<position }
        }
        return nil
    }

    /// Parses the lines of a header after its start line, or those of trailers.
    ///
    /// - Returns: `nil` if they aren't fields of RFC 9110.
    static func fields(of bytes: borrowing Span<UInt8>) -> HTTPFields? {
        var fields = HTTPFields()
        var position = 0
        while position < bytes.count {
            guard let line = nextLine(of: bytes, from: &position) else { return nil }
            var folded: [UInt8] = []
            while position < bytes.count, isBlank(bytes[position]) {
                guard let more = nextLine(of: bytes, from: &position) else { return nil }
                if folded.isEmpty { append(line, of: bytes, to: &folded) }
                folded.append(UInt8(ascii: " "))
                append(more, of: bytes, to: &folded)
            }
            let field =
                folded.isEmpty
                ? field(line, of: bytes) : field(0..<folded.count, of: folded.span)
            guard let field else { return nil }
            fields.append(field)
        }
        return fields
    }

    /// Appends a line of a folded field without the blanks at its ends, which a space replaces (RFC
    /// 9112, section 5.2). A blank at the start of the first line stays, so that it is refused.
    private static func append(
        _ line: Range<Int>, of bytes: borrowing Span<UInt8>, to folded: inout [UInt8]
    ) {
        var (start, end) = (line.lowerBound, line.upperBound)
        while !folded.isEmpty, start < end, isBlank(bytes[start]) { start += 1 }
        while end > start, isBlank(bytes[end - 1]) { end -= 1 }
        for position in start..<end { folded.append(bytes[position]) }
    }

    private static func nextLine(
        of bytes: borrowing Span<UInt8>, from position: inout Int
    ) -> Range<Int>? {
        let start = position
        while position < bytes.count, bytes[position] != UInt8(ascii: "\n") { position += 1 }
        guard position < bytes.count else { return nil }
        var end = position
        position += 1
        if end > start, bytes[end - 1] == UInt8(ascii: "\r") { end -= 1 }
        return start..<end
    }

    /// Parses a start line such as `HTTP/1.1 200 OK` or `HTTP/2 200`.
    private static func startLine(
        _ line: Range<Int>, of bytes: borrowing Span<UInt8>
    ) -> (EngineResponse.HTTPVersion, HTTPResponse.Status)? {
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
        let phrase = isPrintable(reason, of: bytes) ? text(reason, of: bytes) : ""
        return (
            EngineResponse.HTTPVersion(major: major, minor: minor),
            HTTPResponse.Status(code: first * 100 + second * 10 + third, reasonPhrase: phrase)
        )
    }

    private static func text(_ range: Range<Int>, of bytes: borrowing Span<UInt8>) -> String {
        if range.isEmpty { return "" }
        return unsafe bytes.extracting(range).withUnsafeBufferPointer {
            unsafe String(decoding: $0, as: UTF8.self)
        }
    }

    /// Whether a range contains no control character except tabs.
    private static func isPrintable(_ range: Range<Int>, of bytes: borrowing Span<UInt8>) -> Bool {
        for position in range {
            let byte = bytes[position]
            guard byte >= 0x20 && byte != 0x7F || byte == 0x09 else { return false }
        }
        return true
    }

    private static func field(_ line: Range<Int>, of bytes: borrowing Span<UInt8>) -> HTTPField? {
        var colon = line.lowerBound
        while colon < line.upperBound, bytes[colon] != UInt8(ascii: ":") { colon += 1 }
        guard colon < line.upperBound else { return nil }
        var start = colon + 1
        var end = line.upperBound
        while start < end, isBlank(bytes[start]) { start += 1 }
        while end > start, isBlank(bytes[end - 1]) { end -= 1 }
        guard isPrintable(start..<end, of: bytes) else { return nil }
        // Blanks before the colon are removed (RFC 9112, section 5.1), but not from the fields that
        // libcurl reads for the body's length: it doesn't recognise them.
        var nameEnd = colon
        while nameEnd > line.lowerBound, isBlank(bytes[nameEnd - 1]) { nameEnd -= 1 }
        guard let name = name(line.lowerBound..<nameEnd, of: bytes),
            nameEnd == colon || name != .contentLength && name != .transferEncoding
        else { return nil }
        return unsafe bytes.extracting(start..<end).withUnsafeBufferPointer { value in
            // A value that isn't ASCII may not be UTF-8 either, so it is stored as bytes.
            unsafe value.allSatisfy { $0 < 0x80 }
                ? unsafe HTTPField(name: name, value: String(decoding: value, as: UTF8.self))
                : unsafe HTTPField(name: name, value: value)
        }
    }

    private static func name(
        _ range: Range<Int>, of bytes: borrowing Span<UInt8>
    ) -> HTTPField.Name? {
        // Only ASCII, because == of strings ignores the Unicode form.
        for index in range where bytes[index] >= 0x80 { return nil }
        return HTTPField.Name(text(range, of: bytes))
    }

    private static func isBlank(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x09 }

    private static func digit(_ byte: UInt8) -> Int? {
        (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) ? Int(byte - UInt8(ascii: "0")) : nil
    }
}
