/// A text that is being decoded: its nodes, and how a node becomes a Swift value.
///
/// A place is a node's number and nothing else, so that going down costs nothing. Where a path is asked
/// for, one pass over the nodes finds all parents and positions, however many errors follow.
final class JSONDocument {
    let reader: JSONReader
    let userInfo: [CodingUserInfoKey: any Sendable]
    private let hasOffsets: Bool
    /// The object that was searched last, and the node of the name at which its next search begins.
    private var current = (object: -1, cursor: 0)
    /// The same for the others, by their nodes; empty while each would begin at its first member.
    private var cursors: [UInt32] = []
    /// By node: the container that holds it, and its position there.
    private lazy var places = Self.places(of: reader.nodes)

    init(reader: JSONReader, hasOffsets: Bool, _ userInfo: [CodingUserInfoKey: any Sendable]) {
        self.reader = reader
        self.hasOffsets = hasOffsets
        self.userInfo = userInfo
    }

    // MARK: Nodes

    func kind(at index: Int) -> JSONNode.Kind { reader.nodes[index].kind }
    func size(at index: Int) -> Int { Int(reader.nodes[index].size) }
    func count(at index: Int) -> Int { Int(reader.nodes[index].count) }
    func isNull(at index: Int) -> Bool { reader.nodes[index].kind == .null }

    func memberNames(of object: Int) -> [String] {
        var name = object + 1
        return (0..<reader.nodes[object].count).map { _ in
            defer { name += 1 + Int(reader.nodes[name + 1].size) }
            return reader.string(at: name)
        }
    }

    /// The node of a member's value.
    func member(_ name: String, of object: Int) throws(JSONError) -> Int {
        guard let node = find(name, in: object) else { throw missing(name, in: object) }
        advance(object, behind: node)
        return node
    }

    /// The node of a member's value, or nil where there is none or it is null.
    func presentMember(_ name: String, of object: Int) -> Int? {
        guard let node = find(name, in: object) else { return nil }
        advance(object, behind: node)
        return isNull(at: node) ? nil : node
    }

    /// The node of a member's value, or nil.
    ///
    /// Members are mostly asked for in the order of the text, so the search begins behind the last one.
    @inline(__always)
    func find(_ name: String, in object: Int) -> Int? {
        let start = current.object == object ? current.cursor : turn(to: object)
        return reader.find(name, in: object, from: start)
    }

    /// Lets the next search begin behind a member's value.
    @inline(__always)
    private func advance(_ object: Int, behind node: Int) {
        let next = node &+ size(at: node)
        current.cursor = next < object &+ size(at: object) ? next : object &+ 1
    }

    /// Goes on to another object: where its search begins.
    private func turn(to object: Int) -> Int {
        let (last, cursor) = current
        if last >= 0, cursor != last + 1 || !cursors.isEmpty {
            if cursors.isEmpty {
                cursors = [UInt32](repeating: 0, count: reader.nodes.count)
            }
            cursors[last] = UInt32(truncatingIfNeeded: cursor)
        }
        let start = cursors.isEmpty ? 0 : Int(cursors[object])
        current = (object, start == 0 ? object + 1 : start)
        return current.cursor
    }

    // MARK: Values

    func value<Value: Decodable>(_ type: Value.Type, at index: Int) throws -> Value {
        if type == String.self || type == JSONValue.self || type == JSONNumber.self {
            return try plainValue(type, at: index)
        }
        return try Value(from: ValueDecoder(document: self, index: index))
    }

    /// The types that need no decoder of their own; apart, because a cast looks up more types.
    @inline(never)
    private func plainValue<Value: Decodable>(_ type: Value.Type, at index: Int) throws -> Value {
        if type == String.self, let text = try string(at: index) as? Value { return text }
        var next = index
        if type == JSONValue.self, let value = reader.value(at: &next) as? Value { return value }
        return try Value(from: ValueDecoder(document: self, index: index))
    }

    func bool(at index: Int) throws(JSONError) -> Bool {
        switch kind(at: index) {
        case .true: return true
        case .false: return false
        default: throw mismatch("a boolean", at: index)
        }
    }

    func string(at index: Int) throws(JSONError) -> String {
        guard kind(at: index) == .string else { throw mismatch("a string", at: index) }
        return reader.string(at: index)
    }

    func integer<Integer: FixedWidthInteger>(
        _ type: Integer.Type, at index: Int
    ) throws(JSONError) -> Integer {
        let reader = reader
        let node = reader.nodes[index]
        guard node.kind == .number else { throw mismatch("an integer", at: index) }
        let bytes = reader.bytes.span
        var at = Int(node.start)
        let end = Int(node.end)
        let isNegative = bytes[at] == ASCII.minus
        if isNegative { at &+= 1 }
        var value: Integer = 0
        var overflows = false
        while at < end {
            guard ASCII.isDigit(bytes[at]) else {
                throw error(
                    .typeMismatch,
                    "found a number with a fraction or an exponent, wanted an integer", at: index)
            }
            let digit = Integer(truncatingIfNeeded: bytes[at] &- ASCII.zero)
            let (product, first) = value.multipliedReportingOverflow(by: 10)
            let (sum, second) =
                isNegative
                ? product.subtractingReportingOverflow(digit)
                : product.addingReportingOverflow(digit)
            value = sum
            overflows = overflows || first || second
            at &+= 1
        }
        guard !overflows else {
            throw error(
                .outOfRange, "found an integer that does not fit \(Integer.self)", at: index)
        }
        return value
    }

    func double(at index: Int) throws(JSONError) -> Double {
        let reader = reader
        let node = reader.nodes[index]
        guard node.kind == .number else { throw mismatch("a number", at: index) }
        let exact = JSONNumber.exactDouble(reader.bytes.span, node.range)
        if let exact { return exact }
        guard let value = reader.number(at: index).double else {
            throw error(.notFinite, "found a number without a finite Double", at: index)
        }
        return value
    }

    func float(at index: Int) throws(JSONError) -> Float {
        guard kind(at: index) == .number else { throw mismatch("a number", at: index) }
        guard let value = Float(reader.number(at: index).text), value.isFinite else {
            throw error(.notFinite, "found a number without a finite Float", at: index)
        }
        return value
    }

    // MARK: Paths

    private struct Place {
        var parent: UInt32
        var position: UInt32
    }

    private static func places(of nodes: [JSONNode]) -> [Place] {
        var places = [Place](repeating: Place(parent: 0, position: 0), count: nodes.count)
        for (index, node) in nodes.enumerated() where node.kind == .array || node.kind == .object {
            var child = index + 1
            for position in 0..<node.count {
                if node.kind == .object { child += 1 }
                places[child] = Place(
                    parent: UInt32(truncatingIfNeeded: index), position: position)
                child += Int(nodes[child].size)
            }
        }
        return places
    }

    /// The way from the root to a value, or its first keys.
    func path(to index: Int, limit: Int = .max) -> [any CodingKey] {
        var way: [Int] = []
        var index = index
        while index > 0 {
            way.append(index)
            index = Int(places[index].parent)
        }
        return way.reversed().prefix(limit).map { index in
            kind(at: Int(places[index].parent)) == .object
                ? AnyCodingKey(stringValue: reader.string(at: index - 1))
                : AnyCodingKey(intValue: Int(places[index].position))
        }
    }

    /// As much of a path as a message shows, and one key more.
    private func shownPath(to index: Int) -> [any CodingKey] {
        path(to: index, limit: JSONError.shownKeys + 1)
    }

    // MARK: Errors

    @inline(never)
    func missing(_ name: String, in object: Int) -> JSONError {
        error(
            .missingMember, "the member is missing", at: object,
            shownPath(to: object) + [AnyCodingKey(stringValue: name)])
    }

    @inline(never)
    func noElement(_ position: Int, of array: Int) -> JSONError {
        error(
            .missingMember, "found the end of the array, wanted one more element", at: array,
            shownPath(to: array) + [AnyCodingKey(intValue: position)])
    }

    @inline(never)
    func mismatch(_ wanted: StaticString, at index: Int) -> JSONError {
        let found =
            switch kind(at: index) {
            case .null: "null"
            case .true, .false: "a boolean"
            case .number: "a number"
            case .string: "a string"
            case .array: "an array"
            case .object: "an object"
            }
        return error(.typeMismatch, "found \(found), wanted \(wanted)", at: index)
    }

    private func error(_ code: JSONError.Code, _ what: String, at index: Int) -> JSONError {
        error(code, what, at: index, shownPath(to: index))
    }

    private func error(
        _ code: JSONError.Code, _ what: String, at index: Int, _ path: [any CodingKey]
    ) -> JSONError {
        let offset = hasOffsets ? Int(reader.nodes[index].start) : nil
        let place = JSONError.text(of: path) + (offset.map { " (byte \($0))" } ?? "")
        return JSONError(code: code, message: "at \(place): \(what)", offset: offset)
    }
}
