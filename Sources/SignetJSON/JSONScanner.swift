import SignetBase

/// The parser: a loop with its own stack, so that no input can exhaust the thread's stack.
///
/// It validates every byte, and records a node for each value and member name down to
/// `recordedDepth`.
struct JSONScanner {
    /// One open array or object, or the text itself.
    private struct Frame {
        var isObject: Bool
        /// The index of its node, or -1 if it is too deep to be recorded.
        var node: Int32
        var count: UInt32 = 0
        var names: MemberNames.Scope
    }

    private let maximumDepth: Int
    private let recordedDepth: Int
    /// The open containers except the innermost, after a frame for the text itself.
    private var outer: [Frame] = []
    private var top: Frame
    private var names = MemberNames()
    /// The start of the next value or member name.
    private var at = 0

    private init(maximumDepth: Int, recordedDepth: Int) {
        self.maximumDepth = maximumDepth
        self.recordedDepth = recordedDepth
        self.top = Frame(isObject: false, node: -1, names: names.open())
    }

    /// Validates a whole JSON text and returns its nodes, the root first.
    static func nodes(
        of bytes: [UInt8], maximumDepth: Int, recordedDepth: Int, recordedCount: Int = .max
    ) throws(JSONError) -> [JSONNode] {
        let count = bytes.count
        guard count < Int(Int32.max) else {
            throw JSONError(.tooLargeJSON, "the JSON text has \(count) bytes, the limit is 2 GiB")
        }
        do throws(JSONError) {
            return try scannedNodes(
                of: bytes, maximumDepth: maximumDepth, recordedDepth: recordedDepth,
                recordedCount: recordedCount)
        } catch {
            throw error.located(in: bytes.span)
        }
    }

    @inline(__always)
    private static func scannedNodes(
        of bytes: [UInt8], maximumDepth: Int, recordedDepth: Int, recordedCount: Int
    ) throws(JSONError) -> [JSONNode] {
        if bytes.count >= 3, bytes[0] == 0xef, bytes[1] == 0xbb, bytes[2] == 0xbf {
            throw .malformed(at: 0, found: "a byte order mark", expected: "a JSON value")
        }
        var scanner = JSONScanner(maximumDepth: maximumDepth, recordedDepth: recordedDepth)
        scanner.at = skipSpace(bytes.span, from: 0)
        // A step adds up to two nodes, a name and its value, so the last one can exceed the limit
        // by one.
        let most = min(max(recordedCount, 1), Int(Int32.max)) + 1
        let room = recordedDepth < 3 ? 16 : min(bytes.count / 6 + 8, 1 << 12)
        var isWhole = false
        var nodes: [JSONNode] = []
        try nodes.append(addingCapacity: min(room, most)) {
            (room: inout OutputSpan<JSONNode>) throws(JSONError) in
            isWhole = try scanner.scan(bytes.span, into: &room)
        }
        while !isWhole {
            let known = nodes
            guard known.count < most - 1 else {
                throw JSONError(
                    .tooLargeJSON,
                    "more values and member names than the limit of \(recordedCount)",
                    offset: scanner.at)
            }
            nodes = try [JSONNode](capacity: min(known.count * 2 + 2, most)) {
                (room: inout OutputSpan<JSONNode>) throws(JSONError) in
                for node in known { room.append(node) }
                isWhole = try scanner.scan(bytes.span, into: &room)
            }
        }
        return nodes
    }

    /// Scans to the end of the text and returns true, or returns false before the nodes run out of
    /// room.
    ///
    /// Keeps the state that changes with every byte in local variables, so that it stays in
    /// registers.
    private mutating func scan(
        _ bytes: borrowing Span<UInt8>, into nodes: inout OutputSpan<JSONNode>
    ) throws(JSONError) -> Bool {
        let count = bytes.count
        var (at, top, depth) = (self.at, self.top, outer.count)
        while true {
            guard nodes.freeCapacity >= 2 else {
                (self.at, self.top) = (at, top)
                return false
            }
            let isRecorded = depth <= recordedDepth
            if top.isObject {
                let name = at
                var isEscaped = false
                at = try nameEnd(
                    bytes, from: name, scope: &top.names, isEscaped: &isEscaped)
                if isRecorded {
                    nodes.append(JSONNode(.string, from: name, to: at, isEscaped: isEscaped))
                }
                at = try Self.colonEnd(bytes, from: at)
            }
            guard at < count else { throw .malformed(bytes, at: at, expected: "a JSON value") }
            let start = at
            let byte = bytes[start]
            top.count &+= 1
            if byte == ASCII.leftBrace || byte == ASCII.leftBracket {
                guard depth < maximumDepth else { throw .tooDeep(maximumDepth, at: start) }
                let isObject = byte == ASCII.leftBrace
                if outer.isEmpty { outer.reserveCapacity(8) }
                outer.append(top)
                depth &+= 1
                top = Frame(
                    isObject: isObject,
                    node: isRecorded ? Int32(truncatingIfNeeded: nodes.count) : -1,
                    names: names.open())
                if isRecorded {
                    nodes.append(JSONNode(isObject ? .object : .array, from: start, to: start))
                }
                at = Self.skipSpace(bytes, from: start &+ 1)
                guard
                    at < count,
                    bytes[at] == (isObject ? ASCII.rightBrace : ASCII.rightBracket)
                else { continue }
            } else {
                var isEscaped = false
                let kind: JSONNode.Kind
                switch byte {
                case ASCII.quote:
                    kind = .string
                    at = try Self.stringEnd(bytes, from: start, isEscaped: &isEscaped)
                case ASCII.minus, ASCII.zero...ASCII.nine:
                    kind = .number
                    at = try Self.numberEnd(bytes, from: start)
                case 0x74:
                    kind = .true
                    at = try Self.literalEnd(bytes, from: start, of: "true", last: 0x6575_7274)
                case 0x66:
                    kind = .false
                    at = try Self.literalEnd(bytes, from: start, of: "false", last: 0x6573_6c61)
                case 0x6e:
                    kind = .null
                    at = try Self.literalEnd(bytes, from: start, of: "null", last: 0x6c6c_756e)
                default:
                    throw .malformed(bytes, at: start, expected: "a JSON value")
                }
                if isRecorded {
                    nodes.append(JSONNode(kind, from: start, to: at, isEscaped: isEscaped))
                }
                at = Self.skipSpace(bytes, from: at)
            }
            // After a value, or in an empty container: go to the next value.
            while depth > 0 {
                let byte = at < count ? bytes[at] : 0
                if byte == ASCII.comma { break }
                guard byte == (top.isObject ? ASCII.rightBrace : ASCII.rightBracket) else {
                    throw .malformed(
                        bytes, at: at, expected: top.isObject ? "\",\" or \"}\"" : "\",\" or \"]\"")
                }
                at &+= 1
                if top.isObject { names.close(top.names) }
                if top.node >= 0 {
                    let node = Int(top.node)
                    nodes[node].end = UInt32(truncatingIfNeeded: at)
                    nodes[node].count = top.count
                    nodes[node].size = UInt32(truncatingIfNeeded: nodes.count &- node)
                }
                top = outer.removeLast()
                depth &-= 1
                at = Self.skipSpace(bytes, from: at)
            }
            guard depth > 0 else {
                guard at == count else {
                    throw .malformed(bytes, at: at, expected: "the end of the text")
                }
                return true
            }
            at = Self.skipSpace(bytes, from: at &+ 1)
            if !top.isObject, at < count, bytes[at] == ASCII.rightBracket {
                throw .malformed(at: at, found: "\"]\" after a comma", expected: "a JSON value")
            }
        }
    }

    // MARK: Names

    /// Returns the position after a member name. Throws if the object already holds the name.
    @inline(__always)
    private mutating func nameEnd(
        _ bytes: borrowing Span<UInt8>, from start: Int, scope: inout MemberNames.Scope,
        isEscaped: inout Bool
    ) throws(JSONError) -> Int {
        guard start < bytes.count, bytes[start] == ASCII.quote else {
            throw .malformed(bytes, at: start, expected: "a member name")
        }
        let end = try Self.stringEnd(bytes, from: start, isEscaped: &isEscaped)
        guard
            names.insert(bytes, from: start &+ 1, to: end &- 1, isEscaped: isEscaped, in: &scope)
        else { throw JSONError(.duplicateMember, "duplicate member name", offset: start) }
        return end
    }

    /// Returns the position of the value after a member name's colon.
    @inline(__always)
    private static func colonEnd(
        _ bytes: borrowing Span<UInt8>, from start: Int
    ) throws(JSONError) -> Int {
        let colon = skipSpace(bytes, from: start)
        guard colon < bytes.count, bytes[colon] == ASCII.colon else {
            throw .malformed(bytes, at: colon, expected: "\":\"")
        }
        return skipSpace(bytes, from: colon &+ 1)
    }
}

/// A value or member name of a text, with its position and, for a container, its size.
struct JSONNode: Sendable, Hashable {
    enum Kind: UInt8, Sendable { case null, `true`, `false`, number, string, array, object }

    var kind: Kind
    /// Whether a string has escapes.
    var isEscaped: Bool
    /// The first byte; for a string, the quotation mark.
    var start: UInt32
    /// The position after the last byte.
    var end: UInt32
    /// The number of an array's values or an object's members.
    var count: UInt32 = 0
    /// The number of its nodes, including itself.
    var size: UInt32 = 1

    @inline(__always)
    init(_ kind: Kind, from start: Int, to end: Int, isEscaped: Bool = false) {
        self.kind = kind
        self.isEscaped = isEscaped
        self.start = UInt32(truncatingIfNeeded: start)
        self.end = UInt32(truncatingIfNeeded: end)
    }

    var range: Range<Int> { Int(start)..<Int(end) }
    /// The bytes between a string's quotation marks.
    var inner: Range<Int> { Int(start) &+ 1..<Int(end) &- 1 }
}
