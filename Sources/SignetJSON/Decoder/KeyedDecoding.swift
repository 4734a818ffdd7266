/// An object's members by key.
///
/// Keys are mostly asked for in the order of the text, so each search begins at the last hit.
final class KeyedDecoding<Key: CodingKey>: KeyedDecodingContainerProtocol {
    private let document: JSONDocument
    private let index: Int
    private let path: CodingPathNode?
    /// The node of the name that was found last, and its number among the members.
    private var last: (node: Int, number: Int)

    init(_ document: JSONDocument, _ index: Int, _ path: CodingPathNode?) throws(JSONError) {
        guard document.reader.nodes[index].kind == .object else {
            throw document.mismatch("an object", at: index, path, nil)
        }
        self.document = document
        self.index = index
        self.path = path
        self.last = (index + 1, 0)
    }

    var codingPath: [any CodingKey] { CodingPathNode.keys(path) }

    var allKeys: [Key] {
        let reader = document.reader
        var name = index + 1
        return (0..<reader.nodes[index].count).compactMap { _ in
            defer { name += 1 + Int(reader.nodes[name + 1].size) }
            return Key(stringValue: reader.string(at: name))
        }
    }

    /// The node of a member's value.
    private func find(_ key: some CodingKey) -> Int? {
        let nodes = document.reader.nodes
        let count = Int(nodes[index].count)
        guard count > 0 else { return nil }
        let text = key.stringValue
        let size = text.utf8.count
        var (node, number) = last
        for _ in 0..<count {
            let name = nodes[node]
            if name.isEscaped || name.inner.count == size,
                document.reader.isString(at: node, text)
            {
                last = (node, number)
                return node + 1
            }
            number += 1
            if number < count {
                node += 1 + Int(nodes[node + 1].size)
            } else {
                (node, number) = (index + 1, 0)
            }
        }
        return nil
    }

    private func node(_ key: some CodingKey) throws(JSONError) -> Int {
        guard let node = find(key) else {
            throw document.error(.missingMember, "the member is missing", at: index, path, key)
        }
        return node
    }

    func contains(_ key: Key) -> Bool { find(key) != nil }
    func decodeNil(forKey key: Key) throws -> Bool { document.isNull(at: try node(key)) }
    func decode(_ type: Bool.Type, forKey key: Key) throws -> Bool {
        try document.bool(at: node(key), path, key)
    }
    func decode(_ type: String.Type, forKey key: Key) throws -> String {
        try document.string(at: node(key), path, key)
    }
    func decode(_ type: Double.Type, forKey key: Key) throws -> Double {
        try document.double(at: node(key), path, key)
    }
    func decode(_ type: Float.Type, forKey key: Key) throws -> Float {
        try document.float(at: node(key), path, key)
    }
    func decode(_ type: Int.Type, forKey key: Key) throws -> Int {
        try document.integer(type, at: node(key), path, key)
    }
    func decode(_ type: Int8.Type, forKey key: Key) throws -> Int8 {
        try document.integer(type, at: node(key), path, key)
    }
    func decode(_ type: Int16.Type, forKey key: Key) throws -> Int16 {
        try document.integer(type, at: node(key), path, key)
    }
    func decode(_ type: Int32.Type, forKey key: Key) throws -> Int32 {
        try document.integer(type, at: node(key), path, key)
    }
    func decode(_ type: Int64.Type, forKey key: Key) throws -> Int64 {
        try document.integer(type, at: node(key), path, key)
    }
    func decode(_ type: UInt.Type, forKey key: Key) throws -> UInt {
        try document.integer(type, at: node(key), path, key)
    }
    func decode(_ type: UInt8.Type, forKey key: Key) throws -> UInt8 {
        try document.integer(type, at: node(key), path, key)
    }
    func decode(_ type: UInt16.Type, forKey key: Key) throws -> UInt16 {
        try document.integer(type, at: node(key), path, key)
    }
    func decode(_ type: UInt32.Type, forKey key: Key) throws -> UInt32 {
        try document.integer(type, at: node(key), path, key)
    }
    func decode(_ type: UInt64.Type, forKey key: Key) throws -> UInt64 {
        try document.integer(type, at: node(key), path, key)
    }
    func decode<Value: Decodable>(_ type: Value.Type, forKey key: Key) throws -> Value {
        try document.value(type, at: node(key), path, key)
    }

    func nestedContainer<NestedKey: CodingKey>(
        keyedBy type: NestedKey.Type, forKey key: Key
    ) throws -> KeyedDecodingContainer<NestedKey> {
        try decoder(key).container(keyedBy: type)
    }

    func nestedUnkeyedContainer(forKey key: Key) throws -> any UnkeyedDecodingContainer {
        try decoder(key).unkeyedContainer()
    }

    func superDecoder() throws -> any Decoder { try decoder(AnyCodingKey(stringValue: "super")) }
    func superDecoder(forKey key: Key) throws -> any Decoder { try decoder(key) }

    private func decoder(_ key: some CodingKey) throws(JSONError) -> ValueDecoder {
        ValueDecoder(
            document: document, index: try node(key), path: CodingPathNode(key, in: path))
    }
}
