/// What has been encoded so far: all nodes of one text in one array, each linked to its siblings.
///
/// Encoders and containers are a node's number, so that a nested value costs no object, and containers
/// may be filled in any order.
final class EncodedTree {
    enum Kind: UInt8 { case unset, absent, value, array, object }

    private struct Node {
        var name = ""
        var value = JSONValue.null
        var kind = Kind.unset
        var parent: Int
        var position = 0
        var next = none
        var first = none
        var last = none
        var count = 0
    }

    static let root = 0
    private static let none = -1
    private static let unindexedCount = 16

    let userInfo: [CodingUserInfoKey: any Sendable]
    private var nodes: [Node] = []
    /// The members of large objects by name.
    private var indexes: [Int: [JSONName: Int]] = [:]

    init(_ userInfo: [CodingUserInfoKey: any Sendable]) {
        self.userInfo = userInfo
        nodes.reserveCapacity(32)
        nodes.append(Node(parent: Self.none))
    }

    // MARK: Encoding

    func encode<Value: Encodable>(_ value: Value, at node: Int) throws {
        if Value.self == String.self, let text = value as? String {
            set(.string(text), at: node)
        } else if Value.self == JSONValue.self, let value = value as? JSONValue {
            set(value, at: node)
        } else if Value.self == JSONNumber.self, let number = value as? JSONNumber {
            set(.number(number), at: node)
        } else {
            do {
                try value.encode(to: ValueEncoder(tree: self, node: node))
            } catch {
                nodes[node].kind = .absent
                throw error
            }
        }
    }

    func set(_ value: JSONValue, at node: Int) {
        nodes[node].kind = .value
        nodes[node].value = value
    }

    func setFinite(_ value: Double, at node: Int) throws(JSONError) {
        guard let number = JSONNumber(value) else {
            nodes[node].kind = .absent
            throw .at(
                path(to: node), .notFinite, "found an infinity or a NaN, wanted a finite number")
        }
        set(.number(number), at: node)
    }

    /// Sets a `Float` by its own shortest text, which is shorter than that of its value as `Double`.
    func setFinite(_ value: Float, at node: Int) throws(JSONError) {
        try setFinite(value.isFinite ? Double(value.description) ?? .nan : .nan, at: node)
    }

    /// Makes a node a container, unless it is one of this kind already.
    func begin(_ kind: Kind, at node: Int) {
        let old = nodes[node].kind
        guard old != kind else { return }
        if old != .unset { clear(node) }
        nodes[node].kind = kind
    }

    /// The number of elements that an array has.
    func count(of node: Int) -> Int { nodes[node].count }

    /// A new element of an array.
    func element(of parent: Int) -> Int { append(Node(parent: parent)) }

    /// The member of an object by this name, emptied, or a new one.
    func member(_ name: String, of parent: Int) -> Int {
        if let node = find(name, in: parent) {
            clear(node)
            return node
        }
        let node = append(Node(name: name, parent: parent))
        let count = nodes[parent].count
        if count > Self.unindexedCount {
            indexes[parent, default: [:]][JSONName(name)] = node
        } else if count == Self.unindexedCount {
            indexes[parent] = index(of: parent)
        }
        return node
    }

    private func append(_ node: Node) -> Int {
        let number = nodes.count
        let parent = node.parent
        let last = nodes[parent].last
        nodes.append(node)
        nodes[number].position = nodes[parent].count
        if last == Self.none { nodes[parent].first = number } else { nodes[last].next = number }
        nodes[parent].last = number
        nodes[parent].count += 1
        return number
    }

    private func clear(_ node: Int) {
        let old = nodes[node]
        nodes[node] = Node(
            name: old.name, parent: old.parent, position: old.position, next: old.next)
        if !indexes.isEmpty { indexes[node] = nil }
    }

    private func find(_ name: String, in parent: Int) -> Int? {
        let nodes = nodes
        if nodes[parent].count >= Self.unindexedCount { return indexes[parent]?[JSONName(name)] }
        var node = nodes[parent].first
        while node != Self.none {
            if sameBytes(nodes[node].name, name) { return node }
            node = nodes[node].next
        }
        return nil
    }

    private func index(of parent: Int) -> [JSONName: Int] {
        var index: [JSONName: Int] = [:]
        var node = nodes[parent].first
        while node != Self.none {
            index[JSONName(nodes[node].name)] = node
            node = nodes[node].next
        }
        return index
    }

    func path(to node: Int) -> [any CodingKey] {
        var keys: [any CodingKey] = []
        var node = node
        while nodes[node].parent != Self.none {
            let parent = nodes[node].parent
            keys.append(
                nodes[parent].kind == .array
                    ? AnyCodingKey(intValue: nodes[node].position)
                    : AnyCodingKey(stringValue: nodes[node].name))
            node = parent
        }
        return keys.reversed()
    }

    // MARK: The result

    func value(of node: Int) -> JSONValue {
        switch nodes[node].kind {
        case .value: return nodes[node].value
        case .array: return .array(children(of: node).map { value(of: $0) })
        case .unset, .absent, .object:
            var object = JSONObject(reserving: nodes[node].count)
            for child in children(of: node) {
                object.appendUnique(nodes[child].name, value(of: child))
            }
            return .object(object)
        }
    }

    private func children(of node: Int) -> [Int] {
        var children: [Int] = []
        var child = nodes[node].first
        while child != Self.none {
            if nodes[child].kind != .absent { children.append(child) }
            child = nodes[child].next
        }
        return children
    }

    /// Writes the compact text of a node.
    func write(_ node: Int, to writer: inout JSONWriter) { Self.write(nodes, node, to: &writer) }

    private static func write(_ nodes: [Node], _ node: Int, to writer: inout JSONWriter) {
        let kind = nodes[node].kind
        guard kind != .value else {
            writer.write(nodes[node].value)
            return
        }
        writer.append(kind == .array ? ASCII.openBracket : ASCII.openBrace)
        var isFirst = true
        var child = nodes[node].first
        while child != none {
            if nodes[child].kind != .absent {
                if !isFirst { writer.append(ASCII.comma) }
                isFirst = false
                if kind != .array {
                    writer.write(nodes[child].name)
                    writer.append(ASCII.colon)
                }
                write(nodes, child, to: &writer)
            }
            child = nodes[child].next
        }
        writer.append(kind == .array ? ASCII.closeBracket : ASCII.closeBrace)
    }
}
