import SignetBase
import Synchronization

/// A text that is being decoded: its nodes, and the conversions of a node to a Swift value.
///
/// An index is a node's number, so that decoding nested values allocates nothing. The first request
/// for a path scans all nodes once for their parents and positions.
final class JSONDocument {
    let reader: JSONReader
    let userInfo: [CodingUserInfoKey: any Sendable]
    let conventions: JSONConventions
    private let hasOffsets: Bool
    /// The object of the last search.
    ///
    /// Only one thread uses this and the next variables. They are atomic, or moved out of the class
    /// for a change, because Swift's exclusivity check of a class's variable takes longer than a
    /// search.
    private let current = Atomic<Int>(-1)
    /// The node of the name at which its next search starts.
    private let cursor = Atomic<Int>(0)
    /// The cursors of the other objects, indexed by their nodes; nil while all searches start at
    /// the first member.
    private var cursors: [UInt32]?
    private let hasCursors = Atomic<Bool>(false)
    /// The container of each node, and the node's position in it.
    private lazy var places = Self.places(of: reader.nodes)

    init(
        reader: JSONReader, hasOffsets: Bool, userInfo: [CodingUserInfoKey: any Sendable],
        conventions: JSONConventions
    ) {
        self.reader = reader
        self.conventions = conventions
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

    /// Returns the node of a member's value.
    @inline(__always)
    func member(_ name: String, of object: Int) throws(JSONError) -> Int {
        guard let node = next(name, in: object) else { throw missing(name, in: object) }
        return node
    }

    /// Returns the node of a member's value, or nil if it is missing or null.
    func presentMember(_ name: String, of object: Int) -> Int? {
        guard let node = next(name, in: object), !isNull(at: node) else { return nil }
        return node
    }

    /// Returns the node of a member's value, or nil. The next search starts after it.
    ///
    /// Types mostly request members in the order of the text, so the first name usually matches.
    @inline(__always)
    private func next(_ name: String, in object: Int) -> Int? {
        let end = object &+ size(at: object)
        let start = searchStart(in: object)
        guard start < end else { return nil }
        let value: Int
        if reader.isName(at: start, equalTo: name) {
            value = start &+ 1
        } else {
            guard let found = reader.find(name, in: object, from: start) else { return nil }
            value = found
        }
        let next = value &+ size(at: value)
        cursor.store(next < end ? next : object &+ 1, ordering: .relaxed)
        return value
    }

    /// Returns the node of a member's value, or nil.
    func find(_ name: String, in object: Int) -> Int? {
        reader.find(name, in: object, from: searchStart(in: object))
    }

    /// Returns the node of the name at which an object's next search starts.
    @inline(__always)
    private func searchStart(in object: Int) -> Int {
        let isOther = current.load(ordering: .relaxed) != object
        return isOther ? select(object) : cursor.load(ordering: .relaxed)
    }

    /// Makes another object the current one, and returns where its search starts.
    @inline(never)
    private func select(_ object: Int) -> Int {
        let last = current.load(ordering: .relaxed)
        let left = cursor.load(ordering: .relaxed)
        var start = object + 1
        if hasCursors.load(ordering: .relaxed) || last >= 0 && left != last + 1 {
            var known = cursors.take() ?? [UInt32](repeating: 0, count: reader.nodes.count)
            known[last] = UInt32(truncatingIfNeeded: left)
            if known[object] > 0 { start = Int(known[object]) }
            cursors = consume known
            hasCursors.store(true, ordering: .relaxed)
        }
        current.store(object, ordering: .relaxed)
        cursor.store(start, ordering: .relaxed)
        return start
    }

    // MARK: Values

    @inline(__always)
    func bool(at index: Int) throws(JSONError) -> Bool {
        switch kind(at: index) {
        case .true: return true
        case .false: return false
        default: throw mismatch("a boolean", at: index)
        }
    }

    @inline(__always)
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
            guard bytes[at].isDigit else {
                throw error(
                    .typeMismatch,
                    "found a number with a fraction or an exponent, expected an integer", at: index)
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

    @inline(__always)
    func double(at index: Int) throws(JSONError) -> Double {
        let reader = reader
        let node = reader.nodes[index]
        guard node.kind == .number else { throw mismatch("a number", at: index) }
        let exact = JSONNumber.exactDouble(reader.bytes.span, in: node.range)
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
                places[child] = Place(parent: UInt32(truncatingIfNeeded: index), position: position)
                child += Int(nodes[child].size)
            }
        }
        return places
    }

    /// Returns the path from the root to a value, or its first `limit` keys.
    func path(to index: Int, limit: Int = .max) -> [any CodingKey] {
        var nodes: [Int] = []
        var index = index
        while index > 0 {
            nodes.append(index)
            index = Int(places[index].parent)
        }
        return nodes.reversed().prefix(limit).map { index in
            kind(at: Int(places[index].parent)) == .object
                ? AnyCodingKey(stringValue: reader.string(at: index - 1))
                : AnyCodingKey(intValue: Int(places[index].position))
        }
    }

    /// Returns the part of a path that a message shows, and one more key.
    private func shownPath(to index: Int) -> [any CodingKey] {
        path(to: index, limit: JSONError.shownKeys + 1)
    }

    // MARK: Errors

    @inline(never)
    func missing(_ name: String, in object: Int) -> JSONError {
        error(
            .missingMember, "the member is missing", at: object,
            path: shownPath(to: object) + [AnyCodingKey(stringValue: name)])
    }

    @inline(never)
    func noElement(_ position: Int, of array: Int) -> JSONError {
        error(
            .missingMember, "found the end of the array, expected another element", at: array,
            path: shownPath(to: array) + [AnyCodingKey(intValue: position)])
    }

    @inline(never)
    func mismatch(_ expected: StaticString, at index: Int) -> JSONError {
        let found =
            switch kind(at: index) {
            case .null: "null"
            case .true, .false: "a boolean"
            case .number: "a number"
            case .string: "a string"
            case .array: "an array"
            case .object: "an object"
            }
        return error(.typeMismatch, "found \(found), expected \(expected)", at: index)
    }

    func error(_ code: JSONError.Code, _ problem: String, at index: Int) -> JSONError {
        error(code, problem, at: index, path: shownPath(to: index))
    }

    private func error(
        _ code: JSONError.Code, _ problem: String, at index: Int, path: [any CodingKey]
    ) -> JSONError {
        let offset = hasOffsets ? Int(reader.nodes[index].start) : nil
        return JSONError(code, problem, at: path, offset: offset)
    }
}
