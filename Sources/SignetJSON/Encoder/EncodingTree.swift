import SignetBase

/// The values of a text that is being encoded, as an array of nodes.
struct EncodingTree {
    enum Kind: UInt8 { case unset, absent, value, array, object }

    private struct Node {
        var name = ""
        var value = JSONValue.null
        var kind = Kind.unset
        /// The array or object that contains it; nil for the root.
        var parent: Int?
        var position = 0
        var children: [Int] = []
        /// An object's children by name.
        var members: [ByteName: Int] = [:]
    }

    private var nodes: [Node] = []
    /// Whether an earlier text could not be added.
    var isLost = false

    /// Adds the root's node.
    mutating func addRoot() -> Int {
        nodes.append(Node())
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

    func count(of node: Int) -> Int { nodes[node].children.count }

    mutating func element(of parent: Int, name: String = "") -> Int {
        let node = nodes.count
        nodes.append(Node(name: name, parent: parent, position: count(of: parent)))
        nodes[parent].children.append(node)
        return node
    }

    /// Adds a member, or clears the one of this name, which keeps its position.
    mutating func member(_ name: String, of parent: Int) -> Int {
        if let node = nodes[parent].members[ByteName(name)] {
            clear(node)
            return node
        }
        let node = element(of: parent, name: name)
        nodes[parent].members[ByteName(name)] = node
        return node
    }

    private mutating func clear(_ node: Int) {
        let old = nodes[node]
        nodes[node] = Node(name: old.name, parent: old.parent, position: old.position)
    }

    func path(to node: Int) -> [any CodingKey] {
        var keys: [any CodingKey] = []
        var node = node
        while let parent = nodes[node].parent {
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
        let children = nodes[node].children.filter { nodes[$0].kind != .absent }
        switch nodes[node].kind {
        case .value: return nodes[node].value
        case .array: return .array(children.map(value))
        case .unset, .absent, .object:
            return .object(JSONObject(children.map { (nodes[$0].name, value(of: $0)) }))
        }
    }
}
