/// What has been encoded so far, for the encoders and containers of one text, which name a place by its
/// node's number: a nested value costs no object, and containers may be filled in any order.
final class EncodedTree {
    static let root = 0

    let userInfo: [CodingUserInfoKey: any Sendable]
    // Each call below goes here once, because each way into a class's variable is guarded.
    private var nodes = EncodedNodes()

    init(_ userInfo: [CodingUserInfoKey: any Sendable]) { self.userInfo = userInfo }

    func encode<Value: Encodable>(_ value: Value, at node: Int) throws {
        if Value.self == String.self, let text = value as? String {
            nodes.set(.string(text), at: node)
        } else if Value.self == JSONValue.self, let value = value as? JSONValue {
            nodes.set(value, at: node)
        } else if Value.self == JSONNumber.self, let number = value as? JSONNumber {
            nodes.set(.number(number), at: node)
        } else {
            do {
                try value.encode(to: ValueEncoder(tree: self, node: node))
            } catch {
                nodes.drop(node)
                throw error
            }
        }
    }

    func set(_ value: JSONValue, at node: Int) { nodes.set(value, at: node) }

    func setMember(_ name: String, _ value: JSONValue, of parent: Int) {
        nodes.setMember(name, value, of: parent)
    }

    func setFinite(_ value: Double, at node: Int) throws(JSONError) {
        guard let number = JSONNumber(value) else {
            nodes.drop(node)
            throw .at(
                path(to: node), .notFinite, "found an infinity or a NaN, wanted a finite number")
        }
        nodes.set(.number(number), at: node)
    }

    /// Sets a `Float` by its own shortest text, which is shorter than that of its value as `Double`.
    func setFinite(_ value: Float, at node: Int) throws(JSONError) {
        try setFinite(value.isFinite ? Double(value.description) ?? .nan : .nan, at: node)
    }

    /// Makes a node a container, unless it is one of this kind already.
    func begin(_ kind: EncodedNodes.Kind, at node: Int) { nodes.begin(kind, at: node) }

    /// The number of elements that an array has.
    func count(of node: Int) -> Int { nodes.count(of: node) }

    /// A new element of an array.
    func element(of parent: Int) -> Int { nodes.element(of: parent) }

    /// The member of an object by this name, emptied, or a new one.
    func member(_ name: String, of parent: Int) -> Int { nodes.member(name, of: parent) }

    func path(to node: Int) -> [any CodingKey] { nodes.path(to: node) }

    /// The tree of a node.
    func value(of node: Int) -> JSONValue { nodes.value(of: node) }

    /// Writes the compact text of a node.
    func write(_ node: Int, to writer: inout JSONWriter) { nodes.write(node, to: &writer) }
}
