/// Reads the values of a stream one at a time, from chunks of any size, in bounded memory.
///
/// ```swift
/// var reader = JSONRecordReader(.lines)
/// reader.append(chunk)
/// while let record = try reader.next() { … }
/// reader.finish()  // and once more `next()` until it gives nil
/// ```
///
/// What is kept is a chunk and a record, never more. Each record is read as strictly as a text of its
/// own (`JSONReader`). `next()` throws for a record that does not fit and goes on with the following one
/// when it is called again; of an array nothing follows a defect.
public struct JSONRecordReader: Sendable {
    private let format: JSONStreamFormat.Value
    private let maximumSize: Int
    private let maximumDepth: Int

    private var buffer: [UInt8] = []
    /// Where the record that is being read begins, and how far its end has been searched.
    private var start = 0
    private var searched = 0
    /// The offset of the buffer's first byte in the stream.
    private var base = 0
    private var number = 0
    private var isFinished = false
    private var phase = Phase.between
    private var structure = JSONStructure()
    /// Whether nothing has come since a sequence's separator, so that one more is the same.
    private var isBehindSeparator = false

    private enum Phase {
        /// Before a record: of a sequence before its separator, of an array before its bracket.
        case between
        /// In a record.
        case record
        /// In an array's first place, where its end may come at once.
        case firstElement
        /// In what is skipped up to the next record.
        case skipping
        /// Behind the array.
        case behind
        /// Where nothing more comes.
        case ended
    }

    /// Makes a reader.
    ///
    /// - Parameters:
    ///   - format: How values follow one another.
    ///   - maximumRecordSize: How many bytes one record may have; more is `too-large`.
    ///   - maximumDepth: How deep arrays and objects in a record may be nested, in 0...512.
    public init(
        _ format: JSONStreamFormat, maximumRecordSize: Int = 1 << 20,
        maximumDepth: Int = JSONReader.maximumDepth
    ) {
        self.format = format.value
        self.maximumSize = max(1, maximumRecordSize)
        self.maximumDepth = maximumDepth
        if format == .lines { self.phase = .record }
    }

    /// How many bytes are kept for records that are not whole or have not been taken.
    public var pendingCount: Int { buffer.count - start }

    /// Adds the next bytes of the stream; nothing after `finish()`.
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

    /// Says that the stream has ended, so that the last record counts without its end.
    public mutating func finish() { isFinished = true }

    /// The next record, or nil where more bytes are wanted, or none come after `finish()`.
    ///
    /// - Throws: `JSONError` with the record's number and the offset in the stream: what `JSONReader`
    ///   refuses, `too-large`, or `truncated` where the stream or the record ends within a value.
    public mutating func next() throws(JSONError) -> JSONRecord? {
        switch format {
        case .lines: try nextLine()
        case .sequence: try nextOfSequence()
        case .array: try nextElement()
        }
    }

    // MARK: JSON Lines

    private mutating func nextLine() throws(JSONError) -> JSONRecord? {
        while true {
            let end = buffer.span.firstIndex(of: ASCII.lineFeed, from: searched)
            if phase == .skipping {
                guard let end else { return dropAll() }
                take(end + 1)
                phase = .record
                continue
            }
            guard let end = end ?? (isFinished ? buffer.count : nil) else {
                searched = buffer.count
                try requireSize(buffer.count, .skipping)
                return nil
            }
            let isLast = end == buffer.count
            try requireSize(end, .skipping)
            let range = start..<end
            take(isLast ? end : end + 1)
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
            case .between, .firstElement, .behind:
                // Behind a record's line feed: white space, then a separator.
                let at = JSONScanner.skipSpace(buffer.span, start)
                take(at)
                guard at < buffer.count else { return nil }
                guard buffer[at] == Self.separator else {
                    phase = .skipping
                    throw defect(at, wanted: "a record separator")
                }
                phase = .record
                take(at + 1)
                isBehindSeparator = true
            case .skipping:
                guard
                    let at = buffer.span.firstIndex(of: Self.separator, from: searched)
                else { return dropAll() }
                take(at)
                phase = .between
            case .record:
                while isBehindSeparator, start < buffer.count, buffer[start] == Self.separator {
                    take(start + 1)
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
            take(at + 1)
            isBehindSeparator = false
        }
        guard let end = found ?? (isFinished ? buffer.count : nil) else {
            searched = buffer.count
            try requireSize(buffer.count, .skipping)
            return nil
        }
        let isLine = end < buffer.count && buffer[end] == ASCII.lineFeed
        try requireSize(end, .skipping)
        let range = start..<end
        take(isLine ? end + 1 : end)
        phase = isFinished && end == buffer.count ? .ended : .between
        guard let content = trimmed(range) else {
            number += 1
            throw truncated(
                at: range.upperBound, "found no value behind a record separator, wanted one")
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
                "found no white space behind a number or literal, which may be cut off")
        }
        return record
    }

    // MARK: One array

    private mutating func nextElement() throws(JSONError) -> JSONRecord? {
        if phase == .between {
            take(JSONScanner.skipSpace(buffer.span, start))
            guard start < buffer.count else { return try wantMore() }
            guard buffer[start] == ASCII.openBracket else {
                phase = .ended
                throw defect(start, wanted: "\"[\"")
            }
            take(start + 1)
            phase = .firstElement
        }
        if phase == .record || phase == .firstElement {
            let found = search { byte, isOutside in
                isOutside && (byte == ASCII.comma || byte == ASCII.closeBracket)
            }
            guard let end = found else {
                searched = buffer.count
                try requireSize(buffer.count, .ended)
                return try wantMore()
            }
            try requireSize(end, .ended)
            let range = start..<end
            let isLast = buffer[end] == ASCII.closeBracket
            let content = trimmed(range)
            guard content != nil || isLast && phase == .firstElement else {
                phase = .ended
                throw defect(end, wanted: "a JSON value")
            }
            take(end + 1)
            phase = isLast ? .behind : .record
            if let content {
                do {
                    return try record(content, mayBeCutOff: false)
                } catch {
                    phase = .ended
                    throw error
                }
            }
        }
        if phase == .behind {
            take(JSONScanner.skipSpace(buffer.span, start))
            if start < buffer.count {
                phase = .ended
                throw defect(start, wanted: "the end of the stream")
            }
        }
        return nil
    }

    /// Nil, or an error where no more bytes come.
    private mutating func wantMore() throws(JSONError) -> JSONRecord? {
        guard isFinished else { return nil }
        phase = .ended
        number += 1
        throw truncated(
            at: buffer.count, "found the end of the stream, wanted the end of the array")
    }

    // MARK: Records

    /// Goes on behind some bytes.
    private mutating func take(_ end: Int) {
        start = end
        searched = end
        structure = JSONStructure()
    }

    /// The first position from `searched` on at which a record may end.
    @inline(__always)
    private mutating func search(
        _ isEnd: (_ byte: UInt8, _ isOutside: Bool) -> Bool
    ) -> Int? {
        var structure = structure
        defer { self.structure = structure }
        return structure.search(buffer.span, from: searched, isEnd)
    }

    private mutating func dropAll() -> JSONRecord? {
        take(buffer.count)
        return nil
    }

    private mutating func requireSize(_ end: Int, _ next: Phase) throws(JSONError) {
        guard end - start > maximumSize else { return }
        number += 1
        phase = next
        let begin = base + start
        take(min(start + maximumSize, end))
        throw JSONError(
            code: .tooLarge,
            message: "record \(number), which begins at byte \(begin): longer than the limit of "
                + "\(maximumSize) bytes",
            offset: begin, record: number)
    }

    /// A range without the white space at its ends, or nil where there is nothing else.
    private func trimmed(_ range: Range<Int>) -> Range<Int>? {
        let bytes = buffer.span.extracting(..<range.upperBound)
        let first = JSONScanner.skipSpace(bytes, range.lowerBound)
        guard first < range.upperBound else { return nil }
        var end = range.upperBound
        while JSONScanner.skipSpace(bytes, end - 1) == end { end -= 1 }
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
            let isCutOff = mayBeCutOff && error.code == .malformed && error.offset == range.count
            throw error.inRecord(number, at: offset, code: isCutOff ? .truncated : nil)
        }
    }

    private mutating func defect(_ at: Int, wanted: String) -> JSONError {
        number += 1
        return JSONError.malformed(buffer.span.extracting(at..<at + 1), 0, wanted: wanted)
            .inRecord(number, at: base + at)
    }

    private func truncated(at end: Int, _ what: String) -> JSONError {
        JSONError(
            code: .truncated, message: "record \(number), at byte \(base + end): \(what)",
            offset: base + end, record: number)
    }
}

/// How deep a byte stands in brackets and whether it is in a string; enough to find where a value may
/// end. Whether it is one is for `JSONReader` to say.
struct JSONStructure: Sendable {
    private var depth = 0
    private var isInString = false
    private var isBehindBackslash = false

    /// The first position that is wanted, or nil after all bytes.
    ///
    /// - Parameter isEnd: Told a byte and whether it is outside all brackets and strings.
    @inline(__always)
    mutating func search(
        _ bytes: borrowing Span<UInt8>, from start: Int,
        _ isEnd: (_ byte: UInt8, _ isOutside: Bool) -> Bool
    ) -> Int? {
        var at = start
        while at < bytes.count {
            let byte = bytes[at]
            if isEnd(byte, depth <= 0 && !isInString) { return at }
            if isInString {
                if isBehindBackslash {
                    isBehindBackslash = false
                } else if byte == ASCII.backslash {
                    isBehindBackslash = true
                } else if byte == ASCII.quote {
                    isInString = false
                }
            } else if byte == ASCII.quote {
                isInString = true
            } else if byte == ASCII.openBracket || byte == ASCII.openBrace {
                depth += 1
            } else if byte == ASCII.closeBracket || byte == ASCII.closeBrace {
                depth -= 1
            }
            at &+= 1
        }
        return nil
    }
}

extension Span<UInt8> {
    /// The first position of a byte, or nil.
    func firstIndex(of wanted: UInt8, from start: Int) -> Int? {
        var at = start
        let pattern = 0x0101_0101_0101_0101 &* UInt64(wanted)
        while let next = word(self, at: at) {
            let difference = next ^ pattern
            let found =
                (difference &- 0x0101_0101_0101_0101) & ~difference & 0x8080_8080_8080_8080
            if found != 0 { return at &+ found.trailingZeroBitCount &>> 3 }
            at &+= 8
        }
        while at < count {
            if self[at] == wanted { return at }
            at &+= 1
        }
        return nil
    }
}
