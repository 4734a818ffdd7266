/// The fields that a scheme signs: sorted by name, the lines of one name as one, as the text has them.
struct SignedFields {
    /// `name:value`, each with its LF.
    private(set) var lines: [UInt8] = []
    /// The names, with semicolons between them.
    private(set) var names: [UInt8] = []
    /// Where each field's name and value lie in the lines.
    private var ranges: [(name: Range<Int>, value: Range<Int>)] = []

    /// A field line of the message; its name in lower case lies in a buffer of all names.
    private struct Line {
        let name: Range<Int>
        /// The line's number; nil is the request's authority, which stands for Host.
        let field: Int?
    }

    /// Collects the fields of a message.
    ///
    /// - Parameters:
    ///   - rule: Which are taken, and how they look.
    ///   - received: The names that a signature names, sorted; nil where the rule selects them.
    ///   - scheme: The scheme's name, for errors.
    /// - Throws: `missing-component` for one that is named or required and absent, `malformed-message`
    ///   for more than 256.
    init(
        of message: SignableMessage, _ rule: CompiledScheme.HeaderRule, received: [[UInt8]]?,
        scheme: String
    ) throws(SigningError) {
        var buffer: [UInt8] = []
        let found = Self.lines(of: message, received == nil ? rule : nil, &buffer)
        lines.reserveCapacity(512)
        names.reserveCapacity(128)
        ranges.reserveCapacity(found.count)
        var next = 0
        var position = 0
        while position < found.count || next < (received?.count ?? 0) {
            if let received {
                // Both are sorted: what is not named is passed over, what is named must be there.
                guard next < received.count else { break }
                while position < found.count,
                    buffer.precedes(found[position].name, received[next])
                { position += 1 }
                guard position < found.count, buffer.equals(found[position].name, received[next])
                else { throw SchemeEvaluator.missing(received[next]) }
                next += 1
            }
            let first = position
            repeat {
                position += 1
            } while position < found.count
                && buffer.equals(found[position].name, found[first].name)
            append(found[first..<position], buffer, message, rule)
            guard ranges.count <= ReceivedSchemeSignature.maximumNames else {
                throw SigningError(
                    .malformedMessage,
                    "\(scheme) would sign more than \(ReceivedSchemeSignature.maximumNames) fields")
            }
        }
        for name in rule.required
        where !ranges.contains(where: { lines.equals($0.name, name) }) {
            throw SchemeEvaluator.missing(name)
        }
    }

    /// The lines that a rule selects, or all of them, sorted by name; those of one name as they came.
    private static func lines(
        of message: SignableMessage, _ rule: CompiledScheme.HeaderRule?, _ buffer: inout [UInt8]
    ) -> [Line] {
        var found: [Line] = []
        found.reserveCapacity(message.fields.count + 1)
        buffer.reserveCapacity(message.fields.count * 16 + 16)
        func add(_ name: some Sequence<UInt8>, _ field: Int?, _ buffer: inout [UInt8]) {
            let start = buffer.count
            buffer.append(contentsOf: name)
            let range = start..<buffer.count
            var letters = buffer.mutableSpan
            for index in range { letters[index] = letters[index].lowercased }
            // Host is what the request's authority says.
            let isHost = buffer.equals(range, SignableMessage.host)
            guard isHost == (field == nil), rule?.selects(buffer, range) ?? true else {
                return buffer.removeLast(range.count)
            }
            found.append(Line(name: range, field: field))
        }
        if message.request?.authority != nil { add(SignableMessage.host, nil, &buffer) }
        for index in message.fields.indices {
            add(message.fields[index].name.utf8, index, &buffer)
        }
        found.sort { left, right in
            let order = buffer.order(left.name, right.name)
            return order == 0 ? left.name.lowerBound < right.name.lowerBound : order < 0
        }
        return found
    }

    private mutating func append(
        _ group: ArraySlice<Line>, _ buffer: [UInt8], _ message: SignableMessage,
        _ rule: CompiledScheme.HeaderRule
    ) {
        let name = group[group.startIndex].name
        if !names.isEmpty { names.append(ASCII.semicolon) }
        names.append(contentsOf: buffer[name])
        let start = lines.count
        lines.append(contentsOf: buffer[name])
        let end = lines.count
        lines.append(ASCII.colon)
        if group.count > 1, rule.sortsValues {
            var values = group.map { Self.value($0, message) }
            if rule.collapsesSpaces { values = values.map(Self.collapsed) }
            values.sort { $0.lexicographicallyPrecedes($1) }
            lines.append(contentsOf: values.joined(separator: [ASCII.comma]))
        } else {
            for index in group.indices {
                if index > group.startIndex { lines.append(ASCII.comma) }
                let value = Self.value(group[index], message)
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

    private static func value(_ line: Line, _ message: SignableMessage) -> [UInt8] {
        guard let field = line.field else { return message.request?.authority ?? [] }
        return message.fields[field].value
    }

    /// Each run of spaces and tabs as one space.
    private static func appendCollapsed(_ value: [UInt8], to target: inout [UInt8]) {
        var wasBlank = false
        var isAsItIs = true
        for byte in value {
            let isBlank = byte == ASCII.space || byte == ASCII.tab
            if byte == ASCII.tab || (isBlank && wasBlank) { isAsItIs = false }
            wasBlank = isBlank
        }
        guard !isAsItIs else { return target.append(contentsOf: value) }
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
    /// Whether the field is signed whose name in lower case lies there.
    func selects(_ buffer: [UInt8], _ name: Range<Int>) -> Bool {
        for other in except where buffer.equals(name, other) { return false }
        if selectsAll { return true }
        for other in names where buffer.equals(name, other) { return true }
        return prefixes.contains { buffer[name].starts(with: $0) }
    }
}

extension [UInt8] {
    /// Whether the bytes of a range are others.
    fileprivate func equals(_ range: Range<Int>, _ other: [UInt8]) -> Bool {
        guard range.count == other.count else { return false }
        let (bytes, others) = (span, other.span)
        for index in others.indices where bytes[range.lowerBound + index] != others[index] {
            return false
        }
        return true
    }

    fileprivate func equals(_ left: Range<Int>, _ right: Range<Int>) -> Bool {
        left.count == right.count && order(left, right) == 0
    }

    /// Whether the bytes of a range come before others.
    fileprivate func precedes(_ range: Range<Int>, _ other: [UInt8]) -> Bool {
        let bytes = span
        for index in 0..<Swift.min(range.count, other.count) {
            let byte = bytes[range.lowerBound + index]
            if byte != other[index] { return byte < other[index] }
        }
        return range.count < other.count
    }

    /// Below zero where the bytes of the left range come first, 0 where both are the same.
    fileprivate func order(_ left: Range<Int>, _ right: Range<Int>) -> Int {
        let bytes = span
        for index in 0..<Swift.min(left.count, right.count) {
            let (a, b) = (bytes[left.lowerBound + index], bytes[right.lowerBound + index])
            if a != b { return a < b ? -1 : 1 }
        }
        return left.count - right.count
    }
}
