/// The one parser: a loop with a stack of its own, so that no input can exhaust the thread's.
///
/// It validates every byte and records a node for each value and member name down to
/// `recordedDepth`. Values deeper than that are validated all the same.
struct JSONScanner {
    /// One open array or object, or the text itself.
    private struct Frame {
        var isObject: Bool
        /// The index of its node, or -1 where it is too deep to be recorded.
        var node: Int32
        var count: UInt32 = 0
        var names: MemberNames.Scope
        var template = SiblingTemplate()
    }

    /// What an earlier container of the same place says of the one that is open: the elements of one
    /// array are mostly alike.
    private struct SiblingTemplate {
        /// Of an array the node of the element that came last; of an object that of the name which the
        /// template has where the next one is expected, and zero where there is no template.
        ///
        /// As long as an object's names are its template's, in its order, they are not noted elsewhere: they
        /// differ because the template's do.
        var node: UInt32 = 0
        /// Of an object: the node behind its template.
        var end: UInt32 = 0
        /// The node that stands for "no more names".
        static let past = UInt32.max
    }

    private let maximumDepth: Int
    private let recordedDepth: Int
    /// The open containers but the innermost, and below them a frame for the text itself.
    private var outer: [Frame] = []
    private var top: Frame
    private var names = MemberNames()
    /// Where the next value or member name begins.
    private var at = 0

    private init(maximumDepth: Int, recordedDepth: Int) {
        self.maximumDepth = maximumDepth
        self.recordedDepth = recordedDepth
        self.top = Frame(isObject: false, node: -1, names: names.open())
        outer.reserveCapacity(8)
    }

    /// Validates a whole JSON text and gives its nodes, the root first.
    static func nodes(
        of bytes: [UInt8], maximumDepth: Int, recordedDepth: Int, recordedCount: Int = .max
    ) throws(JSONError) -> [JSONNode] {
        let count = bytes.count
        guard count < Int(Int32.max) else {
            throw JSONError(
                code: .tooLarge, message: "the JSON text has \(count) bytes, the limit is 2 GiB")
        }
        do throws(JSONError) {
            return try nodes(bytes, maximumDepth, recordedDepth, recordedCount)
        } catch {
            throw error.located(in: bytes.span)
        }
    }

    @inline(__always)
    private static func nodes(
        _ bytes: [UInt8], _ maximumDepth: Int, _ recordedDepth: Int, _ recordedCount: Int
    ) throws(JSONError) -> [JSONNode] {
        if bytes.starts(with: [0xef, 0xbb, 0xbf]) {
            throw .malformed(at: 0, found: "a byte order mark", wanted: "a JSON value")
        }
        var scanner = JSONScanner(maximumDepth: maximumDepth, recordedDepth: recordedDepth)
        scanner.at = skipSpace(bytes.span, 0)
        // There is always room for a name and its value, so the last step may go over the limit by one.
        let most = min(max(recordedCount, 1), Int(Int32.max)) + 1
        let room = recordedDepth < 3 ? 16 : min(bytes.count / 6 + 8, 1 << 12)
        var isWhole = false
        var nodes: [JSONNode] = []
        try nodes.append(addingCapacity: min(room, most)) {
            (room: inout OutputSpan<JSONNode>) throws(JSONError) in
            isWhole = try scanner.scan(bytes.span, &room)
        }
        while !isWhole {
            let known = nodes
            guard known.count < most - 1 else { throw .tooMany(recordedCount, at: scanner.at) }
            nodes = try [JSONNode](capacity: min(known.count * 2 + 2, most)) {
                (room: inout OutputSpan<JSONNode>) throws(JSONError) in
                for node in known { room.append(node) }
                isWhole = try scanner.scan(bytes.span, &room)
            }
        }
        return nodes
    }

    /// Goes on to the end of the text, true, or until there may be no room for a node, false.
    ///
    /// What changes with every byte is kept in variables of its own, so that it stays in registers.
    private mutating func scan(
        _ bytes: borrowing Span<UInt8>, _ nodes: inout OutputSpan<JSONNode>
    ) throws(JSONError) -> Bool {
        let count = bytes.count
        var (at, top, depth) = (self.at, self.top, outer.count)
        while true {
            guard nodes.freeCapacity >= 2 else {
                (self.at, self.top) = (at, top)
                return false
            }
            let isRecorded = depth <= recordedDepth
            var template = top.template.node
            if top.isObject {
                let name = at
                var isEscaped = false
                template = 0
                if top.template.node != 0 {
                    template = Self.matchTemplate(bytes, &at, &top.template, nodes)
                }
                if template == 0 {
                    if top.template.node != 0 { leaveTemplate(bytes, &top, nodes) }
                    at = try nameEnd(bytes, name, &top.names, &isEscaped)
                }
                if isRecorded {
                    nodes.append(JSONNode(.string, name, at, isEscaped: isEscaped))
                }
                at = try Self.colonEnd(bytes, at)
            }
            guard at < count else { throw .malformed(bytes, at, wanted: "a JSON value") }
            let start = at
            let byte = bytes[start]
            top.count &+= 1
            if byte == ASCII.openBrace || byte == ASCII.openBracket {
                guard depth < maximumDepth else { throw .tooDeep(maximumDepth, at: start) }
                let isObject = byte == ASCII.openBrace
                outer.append(top)
                depth &+= 1
                top = Frame(
                    isObject: isObject,
                    node: isRecorded ? Int32(truncatingIfNeeded: nodes.count) : -1,
                    names: names.open())
                if isRecorded {
                    if template != 0 {
                        top.template = Self.template(Int(template), isObject, nodes)
                    }
                    nodes.append(JSONNode(isObject ? .object : .array, start, start))
                }
                at = Self.skipSpace(bytes, start &+ 1)
                guard
                    at < count,
                    bytes[at] == (isObject ? ASCII.closeBrace : ASCII.closeBracket)
                else { continue }
            } else {
                var isEscaped = false
                let kind: JSONNode.Kind
                switch byte {
                case ASCII.quote:
                    kind = .string
                    at = try Self.stringEnd(bytes, start, &isEscaped)
                case ASCII.minus, ASCII.zero...ASCII.nine:
                    kind = .number
                    at = try Self.numberEnd(bytes, start)
                case 0x74:
                    kind = .true
                    at = try Self.literalEnd(bytes, start, "true", last: 0x6575_7274)
                case 0x66:
                    kind = .false
                    at = try Self.literalEnd(bytes, start, "false", last: 0x6573_6c61)
                case 0x6e:
                    kind = .null
                    at = try Self.literalEnd(bytes, start, "null", last: 0x6c6c_756e)
                default:
                    throw .malformed(bytes, start, wanted: "a JSON value")
                }
                if isRecorded { nodes.append(JSONNode(kind, start, at, isEscaped: isEscaped)) }
                at = Self.skipSpace(bytes, at)
            }
            // Behind a value, or at the end of an empty container: to the next value.
            while depth > 0 {
                let byte = at < count ? bytes[at] : 0
                if byte == ASCII.comma { break }
                guard byte == (top.isObject ? ASCII.closeBrace : ASCII.closeBracket) else {
                    throw .malformed(
                        bytes, at, wanted: top.isObject ? "\",\" or \"}\"" : "\",\" or \"]\"")
                }
                at &+= 1
                if top.isObject { names.close(top.names) }
                if top.node >= 0 {
                    let node = Int(top.node)
                    nodes[node].end = UInt32(truncatingIfNeeded: at)
                    nodes[node].count = top.count
                    nodes[node].size = UInt32(truncatingIfNeeded: nodes.count &- node)
                }
                let closed = top.node
                top = outer.removeLast()
                depth &-= 1
                if !top.isObject, closed > 0 {
                    top.template.node = UInt32(truncatingIfNeeded: closed)
                }
                at = Self.skipSpace(bytes, at)
            }
            guard depth > 0 else {
                guard at == count else {
                    throw .malformed(bytes, at, wanted: "the end of the text")
                }
                return true
            }
            at = Self.skipSpace(bytes, at &+ 1)
            if !top.isObject, at < count, bytes[at] == ASCII.closeBracket {
                throw .malformed(at: at, found: "\"]\" behind a comma", wanted: "a JSON value")
            }
        }
    }

    // MARK: Sibling templates

    /// What is expected of a container whose template is a node, if that is one of its kind.
    private static func template(
        _ node: Int, _ isObject: Bool, _ nodes: borrowing OutputSpan<JSONNode>
    ) -> SiblingTemplate {
        let template = nodes[node]
        guard template.kind == (isObject ? .object : .array), template.size > 1 else {
            return SiblingTemplate()
        }
        let first = UInt32(truncatingIfNeeded: node &+ 1)
        return SiblingTemplate(node: first, end: first &+ template.size &- 1)
    }

    /// Goes behind a name that is the one expected, and gives the node of its value in the template, or zero.
    @inline(__always)
    private static func matchTemplate(
        _ bytes: borrowing Span<UInt8>, _ at: inout Int, _ template: inout SiblingTemplate,
        _ nodes: borrowing OutputSpan<JSONNode>
    ) -> UInt32 {
        guard template.node != SiblingTemplate.past else { return 0 }
        let name = nodes[Int(template.node)]
        let length = Int(name.end &- name.start)
        guard !name.isEscaped, isRepeated(bytes, Int(name.start), at, length) else { return 0 }
        at &+= length
        let value = template.node &+ 1
        let next = value &+ nodes[Int(value)].size
        template.node = next < template.end ? next : SiblingTemplate.past
        return value
    }

    /// Whether some bytes, at least two, stand in the text once more; false may still be yes at its end.
    @inline(__always)
    private static func isRepeated(
        _ bytes: borrowing Span<UInt8>, _ start: Int, _ second: Int, _ length: Int
    ) -> Bool {
        guard let first = word(bytes, at: start), let other = word(bytes, at: second) else {
            return false
        }
        if length <= 8 {
            return (first ^ other) &<< UInt64(truncatingIfNeeded: 64 &- 8 &* length) == 0
        }
        guard first == other, second <= bytes.count &- length else { return false }
        var offset = 8
        while offset < length &- 8 {
            guard word(bytes, at: start &+ offset) == word(bytes, at: second &+ offset) else {
                return false
            }
            offset &+= 8
        }
        return word(bytes, at: start &+ length &- 8) == word(bytes, at: second &+ length &- 8)
    }

    /// Notes the names that an object had in common with its template, because the next one differs.
    @inline(never)
    private mutating func leaveTemplate(
        _ bytes: borrowing Span<UInt8>, _ object: inout Frame,
        _ nodes: borrowing OutputSpan<JSONNode>
    ) {
        object.template = SiblingTemplate()
        var name = Int(object.node) &+ 1
        for _ in 0..<object.count {
            let inner = nodes[name].inner
            _ = names.insert(
                bytes, from: inner.lowerBound, to: inner.upperBound, isEscaped: false,
                in: &object.names)
            name &+= 1 &+ Int(nodes[name &+ 1].size)
        }
    }

    // MARK: Names

    /// The position behind a member name that is new in its object.
    @inline(__always)
    private mutating func nameEnd(
        _ bytes: borrowing Span<UInt8>, _ start: Int, _ scope: inout MemberNames.Scope,
        _ isEscaped: inout Bool
    ) throws(JSONError) -> Int {
        guard start < bytes.count, bytes[start] == ASCII.quote else {
            throw .malformed(bytes, start, wanted: "a member name")
        }
        // Most names have fewer than eight bytes: one word says where they end and is their fingerprint.
        if let word = word(bytes, at: start &+ 1) {
            let special = specialBytes(word)
            let length = special.trailingZeroBitCount &>> 3
            if special != 0, bytes[start &+ 1 &+ length] == ASCII.quote {
                let end = start &+ 2 &+ length
                guard names.insertShort(word, length, bytes, at: start &+ 1, in: &scope) else {
                    throw .duplicateMember(at: start)
                }
                return end
            }
        }
        let end = try Self.stringEnd(bytes, start, &isEscaped)
        guard
            names.insert(
                bytes, from: start &+ 1, to: end &- 1, isEscaped: isEscaped, in: &scope)
        else { throw .duplicateMember(at: start) }
        return end
    }

    /// The position of the value behind a member name's colon.
    @inline(__always)
    private static func colonEnd(
        _ bytes: borrowing Span<UInt8>, _ start: Int
    ) throws(JSONError) -> Int {
        let colon = skipSpace(bytes, start)
        guard colon < bytes.count, bytes[colon] == ASCII.colon else {
            throw .malformed(bytes, colon, wanted: "\":\"")
        }
        return skipSpace(bytes, colon &+ 1)
    }
}

/// One value or member name of a text: its place, and for a container how much it holds.
struct JSONNode: Sendable, Hashable {
    enum Kind: UInt8, Sendable { case null, `true`, `false`, number, string, array, object }

    var kind: Kind
    /// Whether a string holds a backslash.
    var isEscaped: Bool
    /// The first byte; of a string the quotation mark.
    var start: UInt32
    /// The byte behind the last.
    var end: UInt32
    /// How many values an array or members an object holds.
    var count: UInt32 = 0
    /// How many nodes belong to it, itself included.
    var size: UInt32 = 1

    @inline(__always)
    init(_ kind: Kind, _ start: Int, _ end: Int, isEscaped: Bool = false) {
        self.kind = kind
        self.isEscaped = isEscaped
        self.start = UInt32(truncatingIfNeeded: start)
        self.end = UInt32(truncatingIfNeeded: end)
    }

    var range: Range<Int> { Int(start)..<Int(end) }
    /// The bytes between a string's quotation marks.
    var inner: Range<Int> { Int(start) &+ 1..<Int(end) &- 1 }
}
