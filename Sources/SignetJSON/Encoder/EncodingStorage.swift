/// A text written at once as long as its values come in their order, and a tree of nodes, for good, where
/// they do not or where a path is asked for.
struct EncodingStorage {
    private var isDirect: Bool
    private var text = StreamingWriter()
    private var nodes: EncodingTree
    /// By place: its node.
    private var nodeOfPlace: [Int]

    init(isDirect: Bool) {
        var nodes = EncodingTree()
        self.isDirect = isDirect
        self.nodeOfPlace = isDirect ? [] : [nodes.addRoot()]
        self.nodes = nodes
    }

    /// Makes it as new and keeps its room, or gives false where it is better made anew.
    mutating func reset() -> Bool { isDirect && text.reset() }

    mutating func set(_ value: JSONScalar, at place: Int) {
        if isDirect, text.set(value, at: place) { return }
        switchToTree()
        nodes.set(value.value, at: nodeOfPlace[place])
    }

    @inline(__always)
    mutating func setMember(_ name: String, _ value: JSONScalar, of parent: Int) {
        if isDirect, text.setMember(name, value, of: parent) { return }
        switchToTree()
        nodes.setMember(name, value.value, of: nodeOfPlace[parent])
    }

    mutating func append(_ value: JSONScalar, to parent: Int) {
        if isDirect, text.append(value, to: parent) { return }
        switchToTree()
        nodes.set(value.value, at: nodes.element(of: nodeOfPlace[parent]))
    }

    mutating func begin(_ kind: StreamingWriter.Kind, at place: Int) {
        if isDirect, text.begin(kind, at: place) { return }
        switchToTree()
        nodes.begin(kind == .array ? .array : .object, at: nodeOfPlace[place])
    }

    mutating func count(of place: Int) -> Int {
        if isDirect, let count = text.count(at: place) { return count }
        switchToTree()
        return nodes.count(of: nodeOfPlace[place])
    }

    mutating func element(of parent: Int) -> Int {
        if isDirect, let place = text.openElement(of: parent) { return place }
        switchToTree()
        nodeOfPlace.append(nodes.element(of: nodeOfPlace[parent]))
        return nodeOfPlace.count - 1
    }

    /// Whether the place that was made last is an object already.
    var isObject: Bool { isDirect && text.isObject }

    mutating func member(_ name: String, of parent: Int) -> Int {
        if isDirect, let place = text.openMember(name, of: parent) { return place }
        switchToTree()
        nodeOfPlace.append(nodes.member(name, of: nodeOfPlace[parent]))
        return nodeOfPlace.count - 1
    }

    mutating func path(to place: Int) -> [any CodingKey] {
        switchToTree()
        return nodes.path(to: nodeOfPlace[place])
    }

    /// Leaves a place out.
    mutating func drop(_ place: Int) {
        switchToTree()
        nodes.drop(nodeOfPlace[place])
    }

    @inline(never)
    private mutating func switchToTree() {
        guard isDirect else { return }
        isDirect = false
        nodeOfPlace = nodes.take(text)
        text = StreamingWriter()
    }

    /// The tree of the whole.
    mutating func value() throws(JSONError) -> JSONValue {
        switchToTree()
        try requireAll()
        return nodes.value(of: nodeOfPlace[EncodingState.root])
    }

    /// The compact text of the whole.
    mutating func bytes() throws(JSONError) -> [UInt8] {
        if isDirect, text.finish() { return text.taken() }
        switchToTree()
        try requireAll()
        var writer = JSONWriter(.compact, reserving: 512)
        nodes.write(nodeOfPlace[EncodingState.root], to: &writer)
        return writer.bytes
    }

    private func requireAll() throws(JSONError) {
        guard !nodes.isLost else {
            throw JSONError(
                code: .tooLarge, message: "a text over 2 GiB can be encoded only in its order")
        }
    }
}
