/// The fields that a scheme signs, sorted by name, with the lines of one name combined into one.
struct SignedFields {
    /// `name:value` and a line feed for each field.
    private(set) var lines: [UInt8] = []
    /// The names, separated by semicolons.
    private(set) var names: [UInt8] = []
    /// The ranges of each field's name and value in `lines`.
    private var ranges: [(name: Range<Int>, value: Range<Int>)] = []

    /// A field line of the message.
    private struct Line {
        /// The range of the lowercase name in a buffer of all names.
        let name: Range<Int>
        /// The index of the field; `nil` for the request's authority, which replaces Host.
        let field: Int?
    }

    /// Collects the fields of a message.
    ///
    /// - Parameters:
    ///   - message: The message.
    ///   - rule: Selects the fields and says how their lines are written.
    ///   - received: The sorted names that a received signature lists, or `nil` if the rule selects
    ///     the fields.
    ///   - scheme: The scheme's name, for errors.
    /// - Throws: `missing-component` for a missing field that is listed or required,
    ///   `malformed-message` for more than 256 fields.
    init(
        of message: SignableMessage, by rule: CompiledScheme.HeaderRule, received: [[UInt8]]?,
        scheme: String
    ) throws(SigningError) {
        var buffer: [UInt8] = []
        let found = Self.lines(
            of: message, by: received == nil ? rule : nil, names: &buffer)
        lines.reserveCapacity(512)
        names.reserveCapacity(128)
        ranges.reserveCapacity(found.count)
        var next = 0
        var position = 0
        while position < found.count || next < (received?.count ?? 0) {
            if let received {
                // Both are sorted: skip fields that are not listed; listed fields must be present.
                guard next < received.count else { break }
                while position < found.count,
                    buffer.bytes(in: found[position].name, precede: received[next])
                { position += 1 }
                guard position < found.count,
                    buffer.bytes(in: found[position].name, equal: received[next])
                else { throw SchemeEvaluator.missing(received[next]) }
                next += 1
            }
            let first = position
            repeat {
                position += 1
            } while position < found.count
                && buffer.bytes(in: found[position].name, equalBytesIn: found[first].name)
            append(found[first..<position], names: buffer, of: message, by: rule)
            guard ranges.count <= ReceivedSchemeSignature.maximumNames else {
                throw SigningError(
                    .malformedMessage,
                    "\(scheme) would sign more than \(ReceivedSchemeSignature.maximumNames) fields"
                )
            }
        }
        for name in rule.required
        where !ranges.contains(where: { lines.bytes(in: $0.name, equal: name) }) {
            throw SchemeEvaluator.missing(name)
        }
    }

    /// Returns the lines that a rule selects, or all lines without a rule, sorted by name. Lines
    /// with the same name keep their order.
    private static func lines(
        of message: SignableMessage, by rule: CompiledScheme.HeaderRule?,
        names buffer: inout [UInt8]
    ) -> [Line] {
        var found: [Line] = []
        found.reserveCapacity(message.fields.count + 1)
        buffer.reserveCapacity(message.fields.count * 16 + 16)
        func add(_ name: some Sequence<UInt8>, field: Int?, names buffer: inout [UInt8]) {
            let start = buffer.count
            buffer.append(contentsOf: name)
            let range = start..<buffer.count
            var letters = buffer.mutableSpan
            for index in range { letters[index] = letters[index].lowercased }
            // The request's authority replaces the field Host.
            let isHost = buffer.bytes(in: range, equal: SignableMessage.host)
            guard isHost == (field == nil), rule?.selects(nameIn: buffer, at: range) ?? true else {
                return buffer.removeLast(range.count)
            }
            found.append(Line(name: range, field: field))
        }
        if message.request?.authority != nil {
            add(SignableMessage.host, field: nil, names: &buffer)
        }
        for index in message.fields.indices {
            add(message.fields[index].name.utf8, field: index, names: &buffer)
        }
        found.sort { left, right in
            let order = buffer.order(of: left.name, and: right.name)
            return order == 0 ? left.name.lowerBound < right.name.lowerBound : order < 0
        }
        return found
    }

    private mutating func append(
        _ group: ArraySlice<Line>, names buffer: [UInt8], of message: SignableMessage,
        by rule: CompiledScheme.HeaderRule
    ) {
        let name = group[group.startIndex].name
        if !names.isEmpty { names.append(ASCII.semicolon) }
        names.append(contentsOf: buffer[name])
        let start = lines.count
        lines.append(contentsOf: buffer[name])
        let end = lines.count
        lines.append(ASCII.colon)
        if group.count > 1, rule.sortsValues {
            var values = group.map { Self.value(of: $0, in: message) }
            if rule.collapsesSpaces { values = values.map(Self.collapsed) }
            values.sort { $0.lexicographicallyPrecedes($1) }
            lines.append(contentsOf: values.joined(separator: [ASCII.comma]))
        } else {
            for index in group.indices {
                if index > group.startIndex { lines.append(ASCII.comma) }
                let value = Self.value(of: group[index], in: message)
                if rule.collapsesSpaces {
                    Self.appendCollapsed(value, to: &lines)
                } else {
                    lines.append(contentsOf: value)
                }
            }
        }
        ranges.append((start..<end, (end + 1)..<lines.count))
        lines.append(ASCII.lineFeed)
    }

    private static func value(of line: Line, in message: SignableMessage) -> [UInt8] {
        guard let field = line.field else { return message.request?.authority ?? [] }
        return message.fields[field].value
    }

    /// Appends a value with each run of spaces and tabs as one space.
    private static func appendCollapsed(_ value: [UInt8], to target: inout [UInt8]) {
        var wasBlank = false
        var isCollapsed = true
        for byte in value {
            let isBlank = byte == ASCII.space || byte == ASCII.tab
            if byte == ASCII.tab || (isBlank && wasBlank) { isCollapsed = false }
            wasBlank = isBlank
        }
        guard !isCollapsed else { return target.append(contentsOf: value) }
        wasBlank = false
        for byte in value {
            let isBlank = byte == ASCII.space || byte == ASCII.tab
            if !(isBlank && wasBlank) { target.append(isBlank ? ASCII.space : byte) }
            wasBlank = isBlank
        }
    }

    private static func collapsed(_ value: [UInt8]) -> [UInt8] {
        var result: [UInt8] = []
        appendCollapsed(value, to: &result)
        return result
    }

    /// Each field's name and value.
    var pairs: [(name: [UInt8], value: [UInt8])] {
        ranges.map { (Array(lines[$0.name]), Array(lines[$0.value])) }
    }
}

extension CompiledScheme.HeaderRule {
    /// Whether the rule selects the field whose lowercase name is in a range of a buffer.
    fileprivate func selects(nameIn buffer: [UInt8], at name: Range<Int>) -> Bool {
        for other in except where buffer.bytes(in: name, equal: other) { return false }
        if selectsAll { return true }
        for other in names where buffer.bytes(in: name, equal: other) { return true }
        return prefixes.contains { buffer[name].starts(with: $0) }
    }
}

extension [UInt8] {
    fileprivate func bytes(in range: Range<Int>, equal other: [UInt8]) -> Bool {
        guard range.count == other.count else { return false }
        let (bytes, others) = (span, other.span)
        for index in others.indices where bytes[range.lowerBound + index] != others[index] {
            return false
        }
        return true
    }

    fileprivate func bytes(in left: Range<Int>, equalBytesIn right: Range<Int>) -> Bool {
        left.count == right.count && order(of: left, and: right) == 0
    }

    /// Whether the bytes in a range come before others.
    fileprivate func bytes(in range: Range<Int>, precede other: [UInt8]) -> Bool {
        let bytes = span
        for index in 0..<Swift.min(range.count, other.count) {
            let byte = bytes[range.lowerBound + index]
            if byte != other[index] { return byte < other[index] }
        }
        return range.count < other.count
    }

    /// Returns a negative number if the bytes of the left range come first, 0 if both are equal.
    fileprivate func order(of left: Range<Int>, and right: Range<Int>) -> Int {
        let bytes = span
        for index in 0..<Swift.min(left.count, right.count) {
            let (a, b) = (bytes[left.lowerBound + index], bytes[right.lowerBound + index])
            if a != b { return a < b ? -1 : 1 }
        }
        return left.count - right.count
    }
}
