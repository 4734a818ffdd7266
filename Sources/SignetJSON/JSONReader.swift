import SignetBase

/// A strictly validated JSON text (RFC 8259), with the positions of its values.
///
/// ```swift
/// let reader = try JSONReader(Array(#"{"method": "add", "params": [1, 2]}"#.utf8))
/// for (name, value) in reader.members(of: reader.root)
/// where reader.isString(name, equalTo: "params") {
///     let signed = reader.bytes(of: value)  // `[1, 2]` with its white space
///     let tree = reader.value(value)
/// }
/// ```
///
/// The reader records byte ranges and builds no tree; it creates a tree, a string or a number only
/// when you request one. It refuses a byte order mark, trailing commas, comments, invalid UTF-8,
/// lone surrogates, control characters in strings, numbers outside the grammar, text after the
/// value, duplicate member names (compared as bytes, unescaped) and nesting deeper than the limit.
/// Each error has a byte offset.
public struct JSONReader: Sendable, CustomStringConvertible, CustomReflectable {
    /// A JSON value's type.
    public enum Kind: Sendable, Hashable {
        case null, bool, number, string, array, object

        /// The type's name for messages, like `JSONValue.typeName`.
        package var name: String { self == .bool ? "boolean" : "\(self)" }
    }

    /// One value of the text: its type and the range of its bytes.
    public struct Element: Sendable, Hashable {
        /// The value's type.
        public let kind: Kind
        /// The range of the value's bytes in the text; a string includes both quotation marks.
        public let range: Range<Int>
        let index: Int
    }

    /// The deepest nesting that a reader can accept.
    public static let maximumDepth = 512

    /// The text, unchanged.
    public let bytes: [UInt8]
    let nodes: [JSONNode]
    /// Whether every value has a node, at any depth.
    let isComplete: Bool

    /// Validates a text.
    ///
    /// - Parameters:
    ///   - bytes: The whole text, UTF-8.
    ///   - maximumDepth: The deepest nesting of arrays and objects, in 0...512; more counts as 512.
    ///   - recordedDepth: The depth to which the reader records the positions of values: 0 records
    ///     only the root, 1 also its members or elements. Deeper values are only validated.
    ///   - recordedCount: The maximum number of recorded values and member names; more is
    ///     `too-large`. Each takes 20 bytes of memory and at least two bytes of the text, so
    ///     without a limit the records can take many times the memory of the text.
    /// - Throws: `JSONError` with the path and the offset of the first byte that doesn't fit.
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

    /// Validates a copy of a text, like `init(_:maximumDepth:recordedDepth:recordedCount:)`.
    public init(
        copying bytes: Span<UInt8>, maximumDepth: Int = JSONReader.maximumDepth,
        recordedDepth: Int = .max
    ) throws(JSONError) {
        var copy: [UInt8] = []
        copy.reserveCapacity(bytes.count)
        for index in bytes.indices { copy.append(bytes[index]) }
        try self.init(copy, maximumDepth: maximumDepth, recordedDepth: recordedDepth)
    }

    /// Creates a reader of a valid text with its nodes.
    init(_ bytes: [UInt8], nodes: [JSONNode]) {
        self.bytes = bytes
        self.nodes = nodes
        self.isComplete = true
    }

    /// The text's length, never the text.
    public var description: String { "JSONReader(\(bytes.count) bytes)" }

    /// A mirror with the text's length only.
    public var customMirror: Mirror { Mirror(self, children: ["bytes": bytes.count]) }

    /// The text's root value.
    public var root: Element { element(0) }

    /// Returns an array's elements in order; empty for any other type.
    public func elements(of element: Element) -> [Element] {
        guard element.kind == .array, isRecorded(element) else { return [] }
        var index = element.index + 1
        return (0..<nodes[element.index].count).map { _ in
            defer { index += Int(nodes[index].size) }
            return self.element(index)
        }
    }

    /// Returns an object's members in order; empty for any other type.
    public func members(of element: Element) -> [(name: Element, value: Element)] {
        guard element.kind == .object, isRecorded(element) else { return [] }
        var index = element.index + 1
        return (0..<nodes[element.index].count).map { _ in
            defer { index += 1 + Int(nodes[index + 1].size) }
            return (self.element(index), self.element(index + 1))
        }
    }

    /// Returns a string element's text, unescaped; nil for any other type.
    public func string(_ element: Element) -> String? {
        element.kind == .string ? string(at: element.index) : nil
    }

    /// Returns a string element's bytes, unescaped; empty for any other type.
    ///
    /// Makes no other copy, so the caller can wipe the text.
    package func contents(of element: Element) -> [UInt8] {
        element.kind == .string ? contents(at: element.index) : []
    }

    /// Returns the range of a string's bytes that have no escapes; nil for any other element.
    package func unescapedRange(of element: Element) -> Range<Int>? {
        let node = nodes[element.index]
        return node.kind == .string && !node.isEscaped ? node.inner : nil
    }

    /// Returns a number element with its text; nil for any other type.
    public func number(_ element: Element) -> JSONNumber? {
        element.kind == .number ? number(at: element.index) : nil
    }

    /// Returns a boolean element's value; nil for any other type.
    public func bool(_ element: Element) -> Bool? {
        element.kind == .bool ? nodes[element.index].kind == .true : nil
    }

    /// Returns whether an element is a string whose unescaped text has the same bytes as `text`.
    public func isString(_ element: Element, equalTo text: String) -> Bool {
        guard element.kind == .string else { return false }
        return nodes[element.index].isEscaped
            ? sameBytes(string(at: element.index), text)
            : isName(at: element.index, equalTo: text)
    }

    /// Returns an element as a tree.
    public func value(_ element: Element) -> JSONValue {
        if isComplete {
            var index = element.index
            return value(at: &index)
        }
        guard let reader = try? JSONReader(bytes(of: element)) else {
            return .null  // impossible: the text is valid
        }
        return reader.value(reader.root)
    }

    /// Returns an element's bytes.
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

    /// Whether everything in an element has nodes.
    private func isRecorded(_ element: Element) -> Bool {
        let node = nodes[element.index]
        return node.count == 0 || node.size > node.count
    }

    func string(at index: Int) -> String {
        let node = nodes[index]
        return node.isEscaped
            ? String(decoding: contents(at: index), as: UTF8.self)
            : String(decoding: bytes[node.inner], as: UTF8.self)
    }

    private func contents(at index: Int) -> [UInt8] {
        let inner = nodes[index].inner
        var contents: [UInt8] = []
        contents.reserveCapacity(inner.count)
        JSONScanner.unescape(bytes.span, in: inner, into: &contents)
        return contents
    }

    func number(at index: Int) -> JSONNumber {
        JSONNumber(validText: String(decoding: bytes[nodes[index].range], as: UTF8.self))
    }

    /// Whether a name's node has no escapes and equals a name.
    @inline(__always)
    func isName(at index: Int, equalTo name: String) -> Bool {
        let node = nodes[index]
        return !node.isEscaped && isEqual(bytes.span, in: node.inner, to: name.utf8.span)
    }

    /// Returns the node of a member's value, or nil. Searches all members once, starting at the
    /// node of a name.
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
            } else if isEqual(bytes, in: node.inner, to: text) {
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
                object.appendUnique(name, value: value(at: &index))
            }
            return .object(object)
        }
    }
}
