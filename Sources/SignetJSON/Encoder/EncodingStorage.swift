/// The encoded values: a text while they come in order, and a tree from the first one out of order
/// or the first request for a path.
struct EncodingStorage {
    private var isDirect: Bool
    private var text = StreamingWriter()
    private var nodes: EncodingTree
    /// The node of each place.
    private var nodeOfPlace: [Int]

    init(isDirect: Bool) {
        var nodes = EncodingTree()
        self.isDirect = isDirect
        self.nodeOfPlace = isDirect ? [] : [nodes.addRoot()]
        self.nodes = nodes
    }

    /// Clears everything but keeps the memory. Returns false if a new value is better.
    mutating func reset() -> Bool { isDirect && text.reset() }

    mutating func set(_ value: JSONScalar, at place: Int) {
        if isDirect, text.set(value, at: place) { return }
        switchToTree()
        nodes.set(value.value, at: nodeOfPlace[place])
    }

    @inline(__always)
    mutating func setMember(_ name: String, to value: JSONScalar, of parent: Int) {
        if isDirect, text.setMember(name, to: value, of: parent) { return }
        switchToTree()
        nodes.setMember(name, to: value.value, of: nodeOfPlace[parent])
    }

    mutating func append(_ value: JSONScalar, to parent: Int) {
        if isDirect, text.append(value, to: parent) { return }
        switchToTree()
        nodes.set(value.value, at: nodes.element(of: nodeOfPlace[parent]))
    }

    mutating func start(_ kind: StreamingWriter.Kind, at place: Int) {
        if isDirect, text.start(kind, at: place) { return }
        switchToTree()
        nodes.start(kind == .array ? .array : .object, at: nodeOfPlace[place])
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

    /// Whether the newest place already is an object.
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

    /// Removes a place.
    mutating func drop(_ place: Int) {
        switchToTree()
        nodes.drop(nodeOfPlace[place])
    }

    @inline(never)
    private mutating func switchToTree() {
        guard isDirect else { return }
        isDirect = false
        nodeOfPlace = nodes.add(text)
        text = StreamingWriter()
    }

    /// Returns everything as a tree.
    mutating func value() throws(JSONError) -> JSONValue {
        switchToTree()
        try requireComplete()
        return nodes.value(of: nodeOfPlace[EncodingState.root])
    }

    /// Returns everything as a compact text.
    mutating func bytes() throws(JSONError) -> [UInt8] {
        if isDirect, text.finish() { return text.finished() }
        switchToTree()
        try requireComplete()
        var writer = JSONWriter(.compact, reserving: 512)
        nodes.write(nodeOfPlace[EncodingState.root], to: &writer)
        return writer.bytes
    }

    private func requireComplete() throws(JSONError) {
        guard !nodes.isLost else {
            throw JSONError(
                code: .tooLarge,
                message: "a text over 2 GiB can be encoded only with its parts in order")
        }
    }
}
