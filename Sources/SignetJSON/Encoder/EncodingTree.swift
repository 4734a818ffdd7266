internal import SignetBase

/// The values of a text that is being encoded, as an array of nodes linked to their siblings.
struct EncodingTree {
    enum Kind: UInt8 { case unset, absent, value, array, object }

    private struct Node {
        var name = ""
        var value = JSONValue.null
        var kind = Kind.unset
        var parent: Int32
        var position: Int32 = 0
        var next = none
        var first = none
        var last = none
        var count: Int32 = 0
    }

    private static let none: Int32 = -1
    private static let unindexedCount = 16

    private var nodes: [Node] = []
    /// Whether an earlier text could not be added.
    var isLost = false
    /// The members of large objects, by name.
    private var indexes: [Int: [ByteName: Int]] = [:]

    /// Adds the root's node.
    mutating func addRoot() -> Int {
        nodes.append(Node(parent: Self.none))
        return 0
    }

    // MARK: Encoding

    mutating func set(_ value: JSONValue, at node: Int) {
        nodes[node].kind = .value
        nodes[node].value = value
    }

    /// Removes a value that could not be encoded.
    mutating func remove(_ node: Int) { nodes[node].kind = .absent }

    mutating func start(_ kind: Kind, at node: Int) {
        let old = nodes[node].kind
        guard old != kind else { return }
        if old != .unset { clear(node) }
        nodes[node].kind = kind
    }

    func count(of node: Int) -> Int { Int(nodes[node].count) }

    mutating func element(of parent: Int) -> Int {
        append(Node(parent: Int32(truncatingIfNeeded: parent)))
    }

    mutating func setMember(_ name: String, to value: JSONValue, of parent: Int) {
        if let node = find(name, in: parent) {
            clear(node)
            set(value, at: node)
        } else {
            addMember(
                Node(
                    name: name, value: value, kind: .value,
                    parent: Int32(truncatingIfNeeded: parent)))
        }
    }

    mutating func member(_ name: String, of parent: Int) -> Int {
        if let node = find(name, in: parent) {
            clear(node)
            return node
        }
        return addMember(Node(name: name, parent: Int32(truncatingIfNeeded: parent)))
    }

    @discardableResult
    private mutating func addMember(_ member: consuming Node) -> Int {
        let parent = Int(member.parent)
        let name = member.name
        let node = append(member)
        let count = Int(nodes[parent].count)
        if count > Self.unindexedCount {
            indexes[parent, default: [:]][ByteName(name)] = node
        } else if count == Self.unindexedCount {
            indexes[parent] = index(of: parent)
        }
        return node
    }

    private mutating func append(_ node: consuming Node) -> Int {
        let number = Int32(truncatingIfNeeded: nodes.count)
        let parent = Int(node.parent)
        let last = nodes[parent].last
        node.position = nodes[parent].count
        nodes.append(node)
        if last == Self.none {
            nodes[parent].first = number
        } else {
            nodes[Int(last)].next = number
        }
        nodes[parent].last = number
        nodes[parent].count += 1
        return Int(number)
    }

    private mutating func clear(_ node: Int) {
        let old = nodes[node]
        nodes[node] = Node(
            name: old.name, parent: old.parent, position: old.position, next: old.next)
        if !indexes.isEmpty { indexes[node] = nil }
    }

    private func find(_ name: String, in parent: Int) -> Int? {
        if nodes[parent].count >= Self.unindexedCount { return indexes[parent]?[ByteName(name)] }
        let count = name.utf8.count
        var node = nodes[parent].first
        while node != Self.none {
            let index = Int(node)
            if nodes[index].name.utf8.count == count, sameBytes(nodes[index].name, name) {
                return index
            }
            node = nodes[index].next
        }
        return nil
    }

    private func index(of parent: Int) -> [ByteName: Int] {
        var index: [ByteName: Int] = [:]
        var node = nodes[parent].first
        while node != Self.none {
            index[ByteName(nodes[Int(node)].name)] = Int(node)
            node = nodes[Int(node)].next
        }
        return index
    }

    func path(to node: Int) -> [any CodingKey] {
        var keys: [any CodingKey] = []
        var node = node
        while nodes[node].parent != Self.none {
            let parent = Int(nodes[node].parent)
            keys.append(
                nodes[parent].kind == .array
                    ? AnyCodingKey(intValue: Int(nodes[node].position))
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
            var object = JSONObject(reserving: Int(nodes[node].count))
            for child in children(of: node) {
                object.appendUnique(nodes[child].name, value: value(of: child))
            }
            return .object(object)
        }
    }

    private func children(of node: Int) -> [Int] {
        var children: [Int] = []
        var child = nodes[node].first
        while child != Self.none {
            let index = Int(child)
            if nodes[index].kind != .absent { children.append(index) }
            child = nodes[index].next
        }
        return children
    }

    func write(_ node: Int, to writer: inout JSONWriter) {
        let kind = nodes[node].kind
        guard kind != .value else {
            writer.write(nodes[node].value)
            return
        }
        writer.append(kind == .array ? ASCII.openBracket : ASCII.openBrace)
        var isFirst = true
        var child = nodes[node].first
        while child != Self.none {
            let index = Int(child)
            if nodes[index].kind != .absent {
                if !isFirst { writer.append(ASCII.comma) }
                isFirst = false
                if kind != .array {
                    writer.write(nodes[index].name)
                    writer.append(ASCII.colon)
                }
                write(index, to: &writer)
            }
            child = nodes[index].next
        }
        writer.append(kind == .array ? ASCII.closeBracket : ASCII.closeBrace)
    }
}
