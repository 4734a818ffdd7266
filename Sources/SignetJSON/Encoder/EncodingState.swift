/// What has been encoded so far, for the encoders and containers of one text, which name a place by its
/// number: a nested value costs no object, and containers may be filled in any order.
///
/// It writes the text at once as long as the values come in its order, and goes over to a tree of nodes,
/// for good, where they do not or where a path is asked for.
final class EncodingState {
    static let root = 0

    let userInfo: [CodingUserInfoKey: any Sendable]
    private var isDirect: Bool
    // Each call below goes to one of these once, because each way into a class's variable is guarded.
    private var text: DirectText
    private var nodes = EncodedNodes()
    /// By place: its node.
    private var nodeOfPlace = [0]

    /// - Parameter isDirect: Whether to write a compact text at once.
    init(_ userInfo: [CodingUserInfoKey: any Sendable], isDirect: Bool) {
        self.userInfo = userInfo
        self.isDirect = isDirect
        self.text = DirectText()
    }

    // MARK: Values of any type

    func encode<Value: Encodable>(_ value: Value, at place: Int) throws {
        if let plain = Self.plain(value) { return set(plain, at: place) }
        do {
            try value.encode(to: ValueEncoder(state: self, place: place))
        } catch {
            drop(place)
            throw error
        }
    }

    func encodeMember<Value: Encodable>(_ name: String, _ value: Value, of parent: Int) throws {
        if let plain = Self.plain(value) { return setMember(name, plain, of: parent) }
        let place = member(name, of: parent)
        try encode(value, at: place)
        finish(place)
    }

    func encodeElement<Value: Encodable>(_ value: Value, of parent: Int) throws {
        if let plain = Self.plain(value) { return append(plain, to: parent) }
        let place = element(of: parent)
        try encode(value, at: place)
        finish(place)
    }

    /// The types that need no encoder of their own.
    @inline(__always)
    private static func plain<Value: Encodable>(_ value: Value) -> JSONScalar? {
        if Value.self == String.self { return (value as? String).map(JSONScalar.string) }
        if Value.self == JSONValue.self { return (value as? JSONValue).map(JSONScalar.tree) }
        if Value.self == JSONNumber.self { return (value as? JSONNumber).map(JSONScalar.number) }
        return nil
    }

    // MARK: Values without parts

    func set(_ value: JSONScalar, at place: Int) {
        if isDirect, text.set(value, at: place) { return }
        goOverToNodes()
        nodes.set(value.value, at: nodeOfPlace[place])
    }

    func setMember(_ name: String, _ value: JSONScalar, of parent: Int) {
        if isDirect, text.setMember(name, value, of: parent) { return }
        goOverToNodes()
        nodes.setMember(name, value.value, of: nodeOfPlace[parent])
    }

    func setMember(_ name: String, _ value: String, of parent: Int) {
        if isDirect, text.setMember(name, value, of: parent) { return }
        goOverToNodes()
        nodes.setMember(name, .string(value), of: nodeOfPlace[parent])
    }

    func append(_ value: JSONScalar, to parent: Int) {
        if isDirect, text.append(value, to: parent) { return }
        goOverToNodes()
        nodes.set(value.value, at: nodes.element(of: nodeOfPlace[parent]))
    }

    /// Leaves a place out, because its value is not finite, and gives the error to throw.
    func notFinite(at place: Int) -> JSONError {
        drop(place)
        return .at(
            path(to: place), .notFinite, "found an infinity or a NaN, wanted a finite number")
    }

    // MARK: Places

    /// Makes a place a container, unless it is one of this kind already.
    func begin(_ kind: DirectText.Kind, at place: Int) {
        if isDirect, text.begin(kind, at: place) { return }
        goOverToNodes()
        nodes.begin(kind == .array ? .array : .object, at: nodeOfPlace[place])
    }

    /// The number of elements that an array has.
    func count(of place: Int) -> Int {
        if isDirect, let count = text.count(at: place) { return count }
        goOverToNodes()
        return nodes.count(of: nodeOfPlace[place])
    }

    /// A new element of an array.
    func element(of parent: Int) -> Int {
        if isDirect, let place = text.openElement(of: parent) { return place }
        goOverToNodes()
        nodeOfPlace.append(nodes.element(of: nodeOfPlace[parent]))
        return nodeOfPlace.count - 1
    }

    /// The member of an object by this name, emptied, or a new one.
    func member(_ name: String, of parent: Int) -> Int {
        if isDirect, let place = text.openMember(name, of: parent) { return place }
        goOverToNodes()
        nodeOfPlace.append(nodes.member(name, of: nodeOfPlace[parent]))
        return nodeOfPlace.count - 1
    }

    func path(to place: Int) -> [any CodingKey] {
        goOverToNodes()
        return nodes.path(to: nodeOfPlace[place])
    }

    /// Closes a place whose value has been encoded.
    private func finish(_ place: Int) {
        if isDirect, !text.finish(place) { goOverToNodes() }
    }

    private func drop(_ place: Int) {
        goOverToNodes()
        nodes.drop(nodeOfPlace[place])
    }

    private func goOverToNodes() {
        guard isDirect else { return }
        isDirect = false
        var written = DirectText()
        swap(&written, &text)
        nodeOfPlace = nodes.take(written)
    }

    // MARK: The result

    /// The tree of the whole.
    func value() throws(JSONError) -> JSONValue {
        goOverToNodes()
        try requireAll()
        return nodes.value(of: nodeOfPlace[Self.root])
    }

    /// The compact text of the whole.
    func written() throws(JSONError) -> [UInt8] {
        finish(Self.root)
        if isDirect {
            var written = DirectText()
            swap(&written, &text)
            return written.taken()
        }
        try requireAll()
        var writer = JSONWriter(.compact, reserving: 512)
        nodes.write(nodeOfPlace[Self.root], to: &writer)
        return writer.bytes
    }

    private func requireAll() throws(JSONError) {
        guard !nodes.isLost else {
            throw JSONError(
                code: .tooLarge, message: "a text over 2 GiB can be encoded only in its order")
        }
    }
}
