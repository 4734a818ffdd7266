internal import SignetBase

/// A JSON text that has been validated once (RFC 8259, strictly), and where its values stand.
///
/// The reader yields byte ranges and builds no tree; a tree, a string or a number is made of an
/// element when it is asked for. What is refused, each with its byte offset: a byte order mark,
/// trailing commas, comments, invalid UTF-8, lone surrogates, control characters in strings, numbers
/// outside the grammar, text behind the value, duplicate member names (compared as bytes, escapes
/// undone) and nesting deeper than the limit.
public struct JSONReader: Sendable, CustomStringConvertible, CustomReflectable {
    /// A JSON value's type.
    public enum Kind: Sendable, Hashable {
        case null, bool, number, string, array, object

        /// The type's name for messages, as `JSONValue.typeName`.
        package var name: String { self == .bool ? "boolean" : "\(self)" }
    }

    /// One value of the text: its type and the range of its bytes.
    public struct Element: Sendable, Hashable {
        /// The value's type.
        public let kind: Kind
        /// The value's bytes in the text; of a string with both quotation marks.
        public let range: Range<Int>
        let index: Int
    }

    /// The deepest nesting that any reader here takes.
    public static let maximumDepth = 512

    /// The text, as it was given.
    public let bytes: [UInt8]
    let nodes: [JSONNode]
    /// Whether every value has a node, however deep.
    let isComplete: Bool

    /// Validates a text.
    ///
    /// - Parameters:
    ///   - bytes: The whole text, UTF-8.
    ///   - maximumDepth: How deep arrays and objects may be nested, in 0...512; more counts as 512.
    ///   - recordedDepth: How deep the reader remembers where values stand; deeper ones are
    ///     validated only. 0 is the root alone, 1 its members or elements too.
    ///   - recordedCount: After how many values and member names that it remembers the reader refuses
    ///     to go on, `too-large`. Each takes 20 bytes, and of a text two at least: without a limit a
    ///     text may take many times its size.
    /// - Throws: `JSONError` with path and offset of the first byte that does not fit.
    public init(
        _ bytes: [UInt8], maximumDepth: Int = JSONReader.maximumDepth, recordedDepth: Int = .max,
        recordedCount: Int = .max
    ) throws(JSONError) {
        self.nodes = try JSONScanner.nodes(
            of: bytes, maximumDepth: min(maximumDepth, Self.maximumDepth),
            recordedDepth: recordedDepth, recordedCount: recordedCount)
        self.bytes = bytes
        self.isComplete = recordedDepth >= Self.maximumDepth
    }

    /// Validates a copy of a text; otherwise as `init(_:maximumDepth:recordedDepth:)`.
    public init(
        copying bytes: Span<UInt8>, maximumDepth: Int = JSONReader.maximumDepth,
        recordedDepth: Int = .max
    ) throws(JSONError) {
        try self.init(
            bytes.copied(0..<bytes.count), maximumDepth: maximumDepth,
            recordedDepth: recordedDepth)
    }

    /// A text that is known to be valid, and its nodes.
    init(_ bytes: [UInt8], nodes: [JSONNode]) {
        self.bytes = bytes
        self.nodes = nodes
        self.isComplete = true
    }

    /// The text's length; never the text itself.
    public var description: String { "JSONReader(\(bytes.count) bytes)" }

    /// The description: a dump shows nothing of the text.
    public var customMirror: Mirror { Mirror(self, children: ["bytes": bytes.count]) }

    /// The text's one value.
    public var root: Element { element(0) }

    /// An array's elements, in their order; of another value none.
    public func elements(of element: Element) -> [Element] {
        guard element.kind == .array, isRecorded(element) else { return [] }
        var index = element.index + 1
        return (0..<nodes[element.index].count).map { _ in
            defer { index += Int(nodes[index].size) }
            return self.element(index)
        }
    }

    /// An object's members, in their order; of another value none.
    public func members(of element: Element) -> [(name: Element, value: Element)] {
        guard element.kind == .object, isRecorded(element) else { return [] }
        var index = element.index + 1
        return (0..<nodes[element.index].count).map { _ in
            defer { index += 1 + Int(nodes[index + 1].size) }
            return (self.element(index), self.element(index + 1))
        }
    }

    /// Goes through an object's members in their order, until `body` gives false; of another value
    /// there are none.
    ///
    /// - Returns: Whether `body` never gave false.
    package func allMembers(
        of element: Element, _ body: (_ name: Element, _ value: Element) -> Bool
    ) -> Bool {
        guard element.kind == .object, isRecorded(element) else { return true }
        var index = element.index + 1
        for _ in 0..<nodes[element.index].count {
            guard body(self.element(index), self.element(index + 1)) else { return false }
            index += 1 + Int(nodes[index + 1].size)
        }
        return true
    }

    /// How many members an object has; another value has none.
    package func memberCount(of element: Element) -> Int {
        element.kind == .object ? Int(nodes[element.index].count) : 0
    }

    /// Whether two objects have the same member names in the same order, spelled alike; false may
    /// still be the same names with other escapes.
    package func haveSameNames(_ left: Element, _ right: Element) -> Bool {
        guard left.kind == .object, right.kind == .object, isRecorded(left), isRecorded(right),
            nodes[left.index].count == nodes[right.index].count
        else { return false }
        var one = left.index + 1
        var two = right.index + 1
        let span = bytes.span
        for _ in 0..<nodes[left.index].count {
            guard isSame(span, nodes[one].inner, span.extracting(nodes[two].inner)) else {
                return false
            }
            one += 1 + Int(nodes[one + 1].size)
            two += 1 + Int(nodes[two + 1].size)
        }
        return true
    }

    /// A string element's text with its escapes undone; of another value nil.
    public func string(_ element: Element) -> String? {
        element.kind == .string ? string(at: element.index) : nil
    }

    /// Returns a string element's bytes with its escapes undone; empty for any other type.
    ///
    /// It makes no other copy, so the caller can wipe the text.
    package func contents(of element: Element) -> [UInt8] {
        guard element.kind == .string else { return [] }
        let inner = nodes[element.index].inner
        var copy: [UInt8] = []
        copy.reserveCapacity(inner.count)
        JSONScanner.unescape(bytes.span, inner, into: &copy)
        return copy
    }

    /// A number element with its text as it stands; of another value nil.
    public func number(_ element: Element) -> JSONNumber? {
        element.kind == .number ? number(at: element.index) : nil
    }

    /// A boolean element's value; of another value nil.
    public func bool(_ element: Element) -> Bool? {
        element.kind == .bool ? nodes[element.index].kind == .true : nil
    }

    /// Whether a string element's text, escapes undone, is the given one byte for byte.
    public func isString(_ element: Element, _ text: StaticString) -> Bool {
        guard element.kind == .string else { return false }
        let node = nodes[element.index]
        guard node.isEscaped || node.inner.count == text.utf8CodeUnitCount else { return false }
        return isString(at: element.index, text.description)
    }

    /// Whether a string element's text, escapes undone, is the given one byte for byte.
    public func isString(_ element: Element, _ text: String) -> Bool {
        element.kind == .string && isString(at: element.index, text)
    }

    /// The tree of an element.
    public func value(_ element: Element) -> JSONValue {
        if isComplete {
            var index = element.index
            return value(at: &index)
        }
        guard let reader = try? JSONReader(copying: bytes.span.extracting(element.range)) else {
            return .null  // validated before, so it is valid again
        }
        return reader.value(reader.root)
    }

    /// The bytes of an element.
    public func bytes(of element: Element) -> [UInt8] {
        element.range.count == bytes.count ? bytes : Array(bytes[element.range])
    }

    // MARK: By node

    func element(_ index: Int) -> Element {
        let node = nodes[index]
        let kind: Kind =
            switch node.kind {
            case .null: .null
            case .true, .false: .bool
            case .number: .number
            case .string: .string
            case .array: .array
            case .object: .object
            }
        return Element(kind: kind, range: node.range, index: index)
    }

    /// Whether everything an element holds has nodes.
    private func isRecorded(_ element: Element) -> Bool {
        let node = nodes[element.index]
        return node.count == 0 || node.size > node.count
    }

    func string(at index: Int) -> String {
        let node = nodes[index]
        guard node.isEscaped else { return String(decoding: bytes[node.inner], as: UTF8.self) }
        var text: [UInt8] = []
        text.reserveCapacity(node.inner.count)
        JSONScanner.unescape(bytes.span, node.inner, into: &text)
        return String(decoding: text, as: UTF8.self)
    }

    func number(at index: Int) -> JSONNumber {
        JSONNumber(validText: String(decoding: bytes[nodes[index].range], as: UTF8.self))
    }

    func isString(at index: Int, _ text: String) -> Bool {
        let node = nodes[index]
        if node.isEscaped { return sameBytes(string(at: index), text) }
        return isSame(bytes.span, node.inner, text.utf8.span)
    }

    /// Whether a name's node holds no escape and is the given name.
    @inline(__always)
    func isName(at index: Int, _ name: String) -> Bool {
        let node = nodes[index]
        return !node.isEscaped && isSame(bytes.span, node.inner, name.utf8.span)
    }

    /// The node of a member's value, or nil; the search begins at a name's node and goes once around.
    @inline(never)
    func find(_ name: String, in object: Int, from start: Int) -> Int? {
        let nodes = nodes.span
        let bytes = bytes.span
        let text = name.utf8.span
        let end = object &+ Int(nodes[object].size)
        guard start < end else { return nil }
        var at = start
        repeat {
            let node = nodes[at]
            if node.isEscaped {
                if sameBytes(string(at: at), name) { return at &+ 1 }
            } else if isSame(bytes, node.inner, text) {
                return at &+ 1
            }
            at &+= 1 &+ Int(nodes[at &+ 1].size)
            if at >= end { at = object &+ 1 }
        } while at != start
        return nil
    }

    func value(at index: inout Int) -> JSONValue {
        let node = nodes[index]
        index += 1
        switch node.kind {
        case .null: return .null
        case .true: return .bool(true)
        case .false: return .bool(false)
        case .number: return .number(number(at: index - 1))
        case .string: return .string(string(at: index - 1))
        case .array:
            var values: [JSONValue] = []
            values.reserveCapacity(Int(node.count))
            for _ in 0..<node.count { values.append(value(at: &index)) }
            return .array(values)
        case .object:
            var object = JSONObject(reserving: Int(node.count))
            for _ in 0..<node.count {
                let name = string(at: index)
                index += 1
                object.appendUnique(name, value(at: &index))
            }
            return .object(object)
        }
    }
}

extension Span<UInt8> {
    /// A copy of some bytes as an array.
    func copied(_ range: Range<Int>) -> [UInt8] {
        var copy: [UInt8] = []
        copy.reserveCapacity(range.count)
        for index in range { copy.append(self[index]) }
        return copy
    }
}
