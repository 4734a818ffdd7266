import SignetBase

/// Reads the values of a stream one at a time, from chunks of any size, in bounded memory.
///
/// ```swift
/// var reader = JSONRecordReader(.lines)
/// var values: [JSONValue] = []
/// for chunk in ["{\"id\": 1}\n{\"i", "d\": 2}\n"] {
///     reader.append(chunk.utf8)
///     while let record = try reader.next() { values.append(record.value) }
/// }
/// reader.finish()
/// while let record = try reader.next() { values.append(record.value) }
/// ```
///
/// The reader keeps at most a chunk and a record. It validates each record as strictly as
/// `JSONReader` validates a text. If a record is defective, `next()` throws, and the next call
/// continues with the following record; an array ends at its first error.
public struct JSONRecordReader: Sendable {
    private let format: JSONStreamFormat.Value
    private let maximumSize: Int
    private let maximumDepth: Int

    private var buffer: [UInt8] = []
    /// The start of the current record, and the position up to which its end was searched.
    private var start = 0
    private var searched = 0
    /// The offset of the buffer's first byte in the stream.
    private var base = 0
    private var number = 0
    private var isFinished = false
    private var phase = Phase.between
    private var nesting = JSONNesting()
    /// Whether the last byte was a sequence's separator, so that another one adds nothing.
    private var isAfterSeparator = false
    /// Whether a byte order mark may begin the stream, until its first bytes are known.
    private var mayBeginWithMark: Bool

    private enum Phase {
        /// Before a record: in a sequence before its separator, in an array before its bracket.
        case between
        /// In a record.
        case record
        /// At an array's first element, or at its end if it is empty.
        case firstElement
        /// In bytes that are skipped up to the next record.
        case skipping
        /// After the array.
        case after
        /// After the last record or error of the stream.
        case ended
    }

    /// Creates a reader.
    ///
    /// - Parameters:
    ///   - format: The format of the stream.
    ///   - maximumRecordSize: The maximum size of a record in bytes; more is `too-large`.
    ///   - maximumDepth: The deepest nesting of arrays and objects in a record, in 0...512.
    ///   - skipsByteOrderMark: Whether one byte order mark at the beginning of the stream is
    ///     skipped, as in a server's response (RFC 8259, section 8.1). Else it is malformed.
    public init(
        _ format: JSONStreamFormat, maximumRecordSize: Int = 1 << 20,
        maximumDepth: Int = JSONReader.maximumDepth, skipsByteOrderMark: Bool = false
    ) {
        self.mayBeginWithMark = skipsByteOrderMark
        self.format = format.value
        self.maximumSize = max(1, maximumRecordSize)
        self.maximumDepth = maximumDepth
        if format == .lines { self.phase = .record }
    }

    /// The number of bytes that the reader keeps for records it has not returned yet.
    public var pendingCount: Int { buffer.count - start }

    /// Adds the next bytes of the stream. Does nothing after `finish()`.
    public mutating func append(_ bytes: some Sequence<UInt8>) {
        guard !isFinished, phase != .ended else { return }
        if start > 0 {
            buffer.removeFirst(start)
            base += start
            searched -= start
            start = 0
        }
        buffer.append(contentsOf: bytes)
    }

    /// Marks the end of the stream, so that `next()` returns the last record even without a line
    /// feed.
    public mutating func finish() { isFinished = true }

    /// Returns the next record, or nil if it needs more bytes or the stream has ended.
    ///
    /// - Throws: `JSONError` with the record's number and the offset in the stream: an error of
    ///   `JSONReader`, `too-large`, or `truncated` if the stream or the record ends within a value.
    public mutating func next() throws(JSONError) -> JSONRecord? {
        if mayBeginWithMark {
            let mark = ByteOrderMark.bytes
            if !isFinished, buffer.count < mark.count, mark.starts(with: buffer) { return nil }
            mayBeginWithMark = false
            if buffer.hasByteOrderMark { advance(to: mark.count) }
        }
        return switch format {
        case .lines: try nextLine()
        case .sequence: try nextOfSequence()
        case .array: try nextElement()
        }
    }

    // MARK: JSON Lines

    private mutating func nextLine() throws(JSONError) -> JSONRecord? {
        while true {
            let end = buffer[searched...].firstIndex(of: ASCII.lineFeed)
            if phase == .skipping {
                guard let end else { return dropAll() }
                advance(to: end + 1)
                phase = .record
                continue
            }
            guard let end = try checkedEnd(end ?? lastEnd, orContinueWith: .skipping) else {
                return nil
            }
            let isLast = end == buffer.count
            let range = start..<end
            advance(to: isLast ? end : end + 1)
            if let content = trimmed(range) {
                return try record(content, mayBeCutOff: isLast)
            }
            if isLast { return nil }
        }
    }

    // MARK: RFC 7464

    private static let separator: UInt8 = 0x1e

    private mutating func nextOfSequence() throws(JSONError) -> JSONRecord? {
        while true {
            switch phase {
            case .between, .firstElement, .after:
                // After a record's line feed: white space, then a separator.
                let at = JSONScanner.skipSpace(buffer.span, from: start)
                advance(to: at)
                guard at < buffer.count else { return nil }
                guard buffer[at] == Self.separator else {
                    phase = .skipping
                    throw malformed(at: at, expected: "a record separator")
                }
                phase = .record
                advance(to: at + 1)
                isAfterSeparator = true
            case .skipping:
                guard
                    let at = buffer[searched...].firstIndex(of: Self.separator)
                else { return dropAll() }
                advance(to: at)
                phase = .between
            case .record:
                while isAfterSeparator, start < buffer.count, buffer[start] == Self.separator {
                    advance(to: start + 1)
                }
                return try recordOfSequence()
            case .ended: return nil
            }
        }
    }

    private mutating func recordOfSequence() throws(JSONError) -> JSONRecord? {
        var found: Int?
        while true {
            found = search { byte, isOutside in
                byte == Self.separator || isOutside && byte == ASCII.lineFeed
            }
            // A line feed before the value is white space.
            guard let at = found, buffer[at] == ASCII.lineFeed, trimmed(start..<at) == nil else {
                break
            }
            advance(to: at + 1)
            isAfterSeparator = false
        }
        guard let end = try checkedEnd(found ?? lastEnd, orContinueWith: .skipping) else {
            return nil
        }
        let isLine = end < buffer.count && buffer[end] == ASCII.lineFeed
        let range = start..<end
        advance(to: isLine ? end + 1 : end)
        phase = isFinished && end == buffer.count ? .ended : .between
        guard let content = trimmed(range) else {
            number += 1
            throw truncated(
                at: range.upperBound, "found no value after a record separator, expected one")
        }
        let record = try record(content, mayBeCutOff: !isLine)
        let isDelimited =
            switch record.reader.root.kind {
            case .string, .array, .object: true
            case .null, .bool, .number: isLine || content.upperBound < range.upperBound
            }
        guard isDelimited else {
            throw truncated(
                at: range.upperBound,
                "found no white space after a number or literal, so it may be cut off")
        }
        return record
    }

    // MARK: One array

    private mutating func nextElement() throws(JSONError) -> JSONRecord? {
        if phase == .between {
            advance(to: JSONScanner.skipSpace(buffer.span, from: start))
            guard start < buffer.count else { return try requireMore() }
            guard buffer[start] == ASCII.leftBracket else {
                phase = .ended
                throw malformed(at: start, expected: "\"[\"")
            }
            advance(to: start + 1)
            phase = .firstElement
        }
        if phase == .record || phase == .firstElement {
            let found = search { byte, isOutside in
                isOutside && (byte == ASCII.comma || byte == ASCII.rightBracket)
            }
            guard let end = try checkedEnd(found, orContinueWith: .ended) else {
                return try requireMore()
            }
            let content = trimmed(start..<end)
            let isLast = buffer[end] == ASCII.rightBracket
            let mayBeEmpty = isLast && phase == .firstElement
            phase = .ended  // unless the element is valid
            guard content != nil || mayBeEmpty else {
                throw malformed(at: end, expected: "a JSON value")
            }
            advance(to: end + 1)
            var record: JSONRecord?
            if let content { record = try self.record(content, mayBeCutOff: false) }
            phase = isLast ? .after : .record
            if let record { return record }
        }
        if phase == .after {
            advance(to: JSONScanner.skipSpace(buffer.span, from: start))
            if start < buffer.count {
                phase = .ended
                throw malformed(at: start, expected: "the end of the stream")
            }
        }
        return nil
    }

    /// Returns nil if more bytes can follow; otherwise throws.
    private mutating func requireMore() throws(JSONError) -> JSONRecord? {
        guard isFinished else { return nil }
        phase = .ended
        number += 1
        throw truncated(
            at: buffer.count, "found the end of the stream, expected the end of the array")
    }

    // MARK: Records

    /// Continues at a position.
    private mutating func advance(to end: Int) {
        start = end
        searched = end
        nesting = JSONNesting()
    }

    /// Returns the first position from `searched` on at which a record may end.
    @inline(__always)
    private mutating func search(
        where isEnd: (_ byte: UInt8, _ isOutside: Bool) -> Bool
    ) -> Int? {
        var nesting = nesting
        defer { self.nesting = nesting }
        return nesting.search(buffer.span, from: searched, where: isEnd)
    }

    /// The end of the last record, if the stream has ended.
    private var lastEnd: Int? { isFinished ? buffer.count : nil }

    private mutating func dropAll() -> JSONRecord? {
        advance(to: buffer.count)
        return nil
    }

    /// Checks the size of the current record, and returns its end; nil if the record needs more
    /// bytes.
    ///
    /// - Parameters:
    ///   - end: The position at which the record ends, if known.
    ///   - next: The phase after an error.
    private mutating func checkedEnd(
        _ end: Int?, orContinueWith next: Phase
    ) throws(JSONError) -> Int? {
        let known = end ?? buffer.count
        guard known - start > maximumSize else {
            if end == nil { searched = known }
            return end
        }
        number += 1
        phase = next
        let begin = base + start
        advance(to: min(start + maximumSize, known))
        throw JSONError(
            .tooLargeJSON,
            "record \(number), which begins at byte \(begin): longer than the limit of "
                + "\(maximumSize) bytes",
            offset: begin, record: number)
    }

    /// Returns a range without the white space at its ends, or nil if it holds nothing else.
    private func trimmed(_ range: Range<Int>) -> Range<Int>? {
        let bytes = buffer.span.extracting(..<range.upperBound)
        let first = JSONScanner.skipSpace(bytes, from: range.lowerBound)
        guard first < range.upperBound else { return nil }
        var end = range.upperBound
        while JSONScanner.skipSpace(bytes, from: end - 1) == end { end -= 1 }
        return first..<end
    }

    private mutating func record(
        _ range: Range<Int>, mayBeCutOff: Bool
    ) throws(JSONError) -> JSONRecord {
        number += 1
        let offset = base + range.lowerBound
        do {
            let reader = try JSONReader(Array(buffer[range]), maximumDepth: maximumDepth)
            return JSONRecord(number: number, offset: offset, reader: reader)
        } catch {
            let isCutOff =
                mayBeCutOff && error.code == .malformedJSON && error.offset == range.count
            throw error.inRecord(number, at: offset, code: isCutOff ? .truncatedJSON : nil)
        }
    }

    private mutating func malformed(at position: Int, expected: String) -> JSONError {
        number += 1
        return JSONError.malformed(
            buffer.span.extracting(position..<position + 1), at: 0, expected: expected
        ).inRecord(number, at: base + position)
    }

    private func truncated(at end: Int, _ problem: String) -> JSONError {
        JSONError(
            .truncatedJSON, "record \(number), at byte \(base + end): \(problem)",
            offset: base + end, record: number)
    }
}

/// Tracks brackets and strings, to find where a value may end. `JSONReader` validates it
/// afterwards.
struct JSONNesting: Sendable {
    private var depth = 0
    private var isInString = false
    private var isAfterBackslash = false

    /// Returns the first position for which `isEnd` returns true, or nil after all bytes.
    ///
    /// - Parameter isEnd: Receives a byte, and whether it is outside all brackets and strings.
    @inline(__always)
    mutating func search(
        _ bytes: borrowing Span<UInt8>, from start: Int,
        where isEnd: (_ byte: UInt8, _ isOutside: Bool) -> Bool
    ) -> Int? {
        var at = start
        while at < bytes.count {
            let byte = bytes[at]
            if isEnd(byte, depth <= 0 && !isInString) { return at }
            if isInString {
                if isAfterBackslash {
                    isAfterBackslash = false
                } else if byte == ASCII.backslash {
                    isAfterBackslash = true
                } else if byte == ASCII.quote {
                    isInString = false
                }
            } else if byte == ASCII.quote {
                isInString = true
            } else if byte == ASCII.leftBracket || byte == ASCII.leftBrace {
                depth += 1
            } else if byte == ASCII.rightBracket || byte == ASCII.rightBrace {
                depth -= 1
            }
            at &+= 1
        }
        return nil
    }
}
