/// The one parser: a loop with a stack of its own, so that no input can exhaust the thread's.
///
/// It validates every byte and records a node for each value and member name down to
/// `recordedDepth`. Values deeper than that are validated all the same.
struct JSONScanner {
    /// One open array or object.
    struct Frame {
        var isObject: Bool
        /// The index of its node, or -1 where it is too deep to be recorded.
        var node: Int
        var count: UInt32
        var names: MemberNames.Scope
    }

    private let maximumDepth: Int
    private let recordedDepth: Int
    private(set) var nodes: [JSONNode]
    /// The open containers but the innermost, and below them a frame for the text itself.
    private var outer: [Frame] = []
    private var top: Frame
    private var names = MemberNames()

    private init(maximumDepth: Int, recordedDepth: Int, size: Int) {
        self.maximumDepth = maximumDepth
        self.recordedDepth = recordedDepth
        self.nodes = []
        self.top = Frame(isObject: false, node: -1, count: 0, names: names.open())
        nodes.reserveCapacity(recordedDepth < 3 ? 16 : min(size / 12 + 4, 1 << 10))
    }

    /// Validates a whole JSON text and gives its nodes, the root first.
    static func nodes(
        of bytes: borrowing Span<UInt8>, maximumDepth: Int, recordedDepth: Int
    ) throws(JSONError) -> [JSONNode] {
        guard bytes.count < Int(Int32.max) else {
            throw JSONError(
                code: .tooLarge,
                message: "the JSON text has \(bytes.count) bytes, the limit is 2 GiB")
        }
        var scanner = JSONScanner(
            maximumDepth: maximumDepth, recordedDepth: recordedDepth, size: bytes.count)
        try scanner.scan(bytes)
        return scanner.nodes
    }

    private mutating func scan(_ bytes: borrowing Span<UInt8>) throws(JSONError) {
        let count = bytes.count
        if count >= 3, bytes[0] == 0xef, bytes[1] == 0xbb, bytes[2] == 0xbf {
            throw .malformed(at: 0, found: "a byte order mark", wanted: "a JSON value")
        }
        var at = Self.skipSpace(bytes, 0)
        while true {
            guard at < count else { throw .malformed(bytes, at, wanted: "a JSON value") }
            switch bytes[at] {
            case ASCII.quote:
                var isEscaped = false
                let end = try Self.stringEnd(bytes, at, &isEscaped)
                record(.string, at, end, isEscaped: isEscaped)
                at = end
            case ASCII.openBrace:
                try open(at, isObject: true)
                at = Self.skipSpace(bytes, at + 1)
                if at < count, bytes[at] == ASCII.closeBrace {
                    at += 1
                    close(at)
                } else {
                    at = try memberName(bytes, at)
                    continue
                }
            case ASCII.openBracket:
                try open(at, isObject: false)
                at = Self.skipSpace(bytes, at + 1)
                if at < count, bytes[at] == ASCII.closeBracket {
                    at += 1
                    close(at)
                } else {
                    continue
                }
            case ASCII.minus, ASCII.zero...ASCII.nine:
                let end = try Self.numberEnd(bytes, at)
                record(.number, at, end)
                at = end
            case 0x74:
                let end = try Self.literalEnd(bytes, at, "true")
                record(.true, at, end)
                at = end
            case 0x66:
                let end = try Self.literalEnd(bytes, at, "false")
                record(.false, at, end)
                at = end
            case 0x6e:
                let end = try Self.literalEnd(bytes, at, "null")
                record(.null, at, end)
                at = end
            default:
                throw .malformed(bytes, at, wanted: "a JSON value")
            }
            guard let next = try afterValue(bytes, at) else { return }
            at = next
        }
    }

    /// Goes on behind a value: to the next value's first byte, or nil at the end of the text.
    @inline(__always)
    private mutating func afterValue(
        _ bytes: borrowing Span<UInt8>, _ position: Int
    ) throws(JSONError) -> Int? {
        let count = bytes.count
        var at = Self.skipSpace(bytes, position)
        while !outer.isEmpty {
            let isObject = top.isObject
            let byte = at < count ? bytes[at] : 0
            if byte == ASCII.comma {
                at = Self.skipSpace(bytes, at + 1)
                if isObject { return try memberName(bytes, at) }
                if at < count, bytes[at] == ASCII.closeBracket {
                    throw .malformed(at: at, found: "\"]\" behind a comma", wanted: "a JSON value")
                }
                return at
            }
            guard byte == (isObject ? ASCII.closeBrace : ASCII.closeBracket) else {
                throw .malformed(
                    bytes, at, wanted: isObject ? "\",\" or \"}\"" : "\",\" or \"]\"")
            }
            at += 1
            close(at)
            at = Self.skipSpace(bytes, at)
        }
        guard at == count else { throw .malformed(bytes, at, wanted: "the end of the text") }
        return nil
    }

    /// Reads `"name" :` and gives the position of the member's value.
    @inline(__always)
    private mutating func memberName(
        _ bytes: borrowing Span<UInt8>, _ start: Int
    ) throws(JSONError) -> Int {
        guard start < bytes.count, bytes[start] == ASCII.quote else {
            throw .malformed(bytes, start, wanted: "a member name")
        }
        var isEscaped = false
        let end = try Self.stringEnd(bytes, start, &isEscaped)
        guard
            names.insert(
                bytes, from: start + 1, to: end - 1, isEscaped: isEscaped, in: &top.names)
        else {
            throw .duplicateMember(at: start)
        }
        if outer.count <= recordedDepth {
            nodes.append(
                JSONNode(
                    kind: .string, isEscaped: isEscaped, start: UInt32(truncatingIfNeeded: start),
                    end: UInt32(truncatingIfNeeded: end)))
        }
        let colon = Self.skipSpace(bytes, end)
        guard colon < bytes.count, bytes[colon] == ASCII.colon else {
            throw .malformed(bytes, colon, wanted: "\":\"")
        }
        return Self.skipSpace(bytes, colon + 1)
    }

    // MARK: Nodes

    @inline(__always)
    private mutating func record(
        _ kind: JSONNode.Kind, _ start: Int, _ end: Int, isEscaped: Bool = false
    ) {
        top.count &+= 1
        guard outer.count <= recordedDepth else { return }
        nodes.append(
            JSONNode(
                kind: kind, isEscaped: isEscaped, start: UInt32(truncatingIfNeeded: start),
                end: UInt32(truncatingIfNeeded: end)))
    }

    private mutating func open(_ start: Int, isObject: Bool) throws(JSONError) {
        guard outer.count < maximumDepth else {
            throw JSONError(
                code: .tooDeep,
                message: "at byte \(start): arrays and objects nested deeper than \(maximumDepth)",
                offset: start)
        }
        let index = outer.count <= recordedDepth ? nodes.count : -1
        record(isObject ? .object : .array, start, start)
        if outer.isEmpty { outer.reserveCapacity(8) }
        outer.append(top)
        top = Frame(isObject: isObject, node: index, count: 0, names: names.open())
    }

    private mutating func close(_ end: Int) {
        let frame = top
        if frame.isObject { names.close(frame.names) }
        top = outer.removeLast()
        guard frame.node >= 0 else { return }
        nodes[frame.node].end = UInt32(truncatingIfNeeded: end)
        nodes[frame.node].count = frame.count
        nodes[frame.node].size = UInt32(truncatingIfNeeded: nodes.count - frame.node)
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

    var range: Range<Int> { Int(start)..<Int(end) }
    /// The bytes between a string's quotation marks.
    var inner: Range<Int> { Int(start) + 1..<Int(end) - 1 }
}
