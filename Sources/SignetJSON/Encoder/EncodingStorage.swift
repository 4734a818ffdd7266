/// The encoded values: a text while they come in order, and a tree from the first one out of order
/// or the first request for a path.
struct EncodingStorage {
    /// The place of the whole text.
    static let root = 0

    private var isStreaming: Bool
    private var text: StreamingWriter
    private var tree: EncodingTree
    /// The node of each place.
    private var nodeOfPlace: [Int]

    init(isStreaming: Bool) {
        var tree = EncodingTree()
        self.isStreaming = isStreaming
        self.text = StreamingWriter(isUsed: isStreaming)
        self.nodeOfPlace = isStreaming ? [] : [tree.addRoot()]
        self.tree = tree
    }

    mutating func set(_ value: JSONScalar, at place: Int) {
        if isStreaming, text.set(value, at: place) { return }
        switchToTree()
        tree.set(value.value, at: nodeOfPlace[place])
    }

    @inline(__always)
    mutating func setMember(_ name: String, to value: JSONScalar, of parent: Int) {
        if isStreaming, text.setMember(name, to: value, of: parent) { return }
        switchToTree()
        tree.set(value.value, at: tree.member(name, of: nodeOfPlace[parent]))
    }

    mutating func append(_ value: JSONScalar, to parent: Int) {
        if isStreaming, text.append(value, to: parent) { return }
        switchToTree()
        tree.set(value.value, at: tree.element(of: nodeOfPlace[parent]))
    }

    /// Starts an array or object at a place, unless it already is one.
    mutating func start(_ kind: StreamingWriter.Kind, at place: Int) {
        if isStreaming, text.start(kind, at: place) { return }
        switchToTree()
        tree.start(kind == .array ? .array : .object, at: nodeOfPlace[place])
    }

    /// The number of an array's elements.
    mutating func count(of place: Int) -> Int {
        if isStreaming, let count = text.count(at: place) { return count }
        switchToTree()
        return tree.count(of: nodeOfPlace[place])
    }

    mutating func element(of parent: Int) -> Int {
        if isStreaming, let place = text.openElement(of: parent) { return place }
        switchToTree()
        nodeOfPlace.append(tree.element(of: nodeOfPlace[parent]))
        return nodeOfPlace.count - 1
    }

    mutating func member(_ name: String, of parent: Int) -> Int {
        if isStreaming, let place = text.openMember(name, of: parent) { return place }
        switchToTree()
        nodeOfPlace.append(tree.member(name, of: nodeOfPlace[parent]))
        return nodeOfPlace.count - 1
    }

    mutating func path(to place: Int) -> [any CodingKey] {
        switchToTree()
        return tree.path(to: nodeOfPlace[place])
    }

    /// Removes a place.
    mutating func remove(_ place: Int) {
        switchToTree()
        tree.remove(nodeOfPlace[place])
    }

    @inline(never)
    private mutating func switchToTree() {
        guard isStreaming else { return }
        isStreaming = false
        nodeOfPlace = tree.add(text)
        text = StreamingWriter(isUsed: false)
    }

    /// Returns everything as a tree.
    mutating func value() throws(JSONError) -> JSONValue {
        switchToTree()
        guard !tree.isLost else {
            throw JSONError(
                .tooLargeJSON,
                "a text over 2 GiB can be encoded only with its parts in order")
        }
        return tree.value(of: nodeOfPlace[Self.root])
    }

    /// Returns everything as a compact text.
    mutating func bytes() throws(JSONError) -> [UInt8] {
        if isStreaming, let bytes = text.finish() { return bytes }
        return try value().serialized()
    }
}
