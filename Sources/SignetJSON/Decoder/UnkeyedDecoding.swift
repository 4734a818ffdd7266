/// An array's elements, one after another.
struct UnkeyedDecoding: UnkeyedDecodingContainer {
    private let document: JSONDocument
    private let index: Int
    private let path: CodingPathNode?
    private var node: Int
    private(set) var currentIndex = 0

    init(_ document: JSONDocument, _ index: Int, _ path: CodingPathNode?) throws(JSONError) {
        guard document.reader.nodes[index].kind == .array else {
            throw document.mismatch("an array", at: index, path, nil)
        }
        self.document = document
        self.index = index
        self.path = path
        self.node = index + 1
    }

    var codingPath: [any CodingKey] { CodingPathNode.keys(path) }
    var count: Int? { Int(document.reader.nodes[index].count) }
    var isAtEnd: Bool { currentIndex >= Int(document.reader.nodes[index].count) }

    private var key: AnyCodingKey { AnyCodingKey(intValue: currentIndex) }

    /// Decodes the element that is next, and goes on behind it where that went well.
    private mutating func next<Value>(
        _ decode: (Int, CodingPathNode) throws -> Value
    ) throws -> Value {
        let path = CodingPathNode(key, in: path)
        guard !isAtEnd else {
            throw document.error(
                .missingMember, "found the end of the array, wanted one more element", at: index,
                path, nil)
        }
        let value = try decode(node, path)
        advance()
        return value
    }

    private mutating func advance() {
        node += Int(document.reader.nodes[node].size)
        currentIndex += 1
    }

    mutating func decodeNil() throws -> Bool {
        guard !isAtEnd, document.isNull(at: node) else { return false }
        advance()
        return true
    }
    mutating func decode(_ type: Bool.Type) throws -> Bool {
        let document = document
        return try next { try document.bool(at: $0, $1, nil) }
    }
    mutating func decode(_ type: String.Type) throws -> String {
        let document = document
        return try next { try document.string(at: $0, $1, nil) }
    }
    mutating func decode(_ type: Double.Type) throws -> Double {
        let document = document
        return try next { try document.double(at: $0, $1, nil) }
    }
    mutating func decode(_ type: Float.Type) throws -> Float {
        let document = document
        return try next { try document.float(at: $0, $1, nil) }
    }
    mutating func decode(_ type: Int.Type) throws -> Int { try integer(type) }
    mutating func decode(_ type: Int8.Type) throws -> Int8 { try integer(type) }
    mutating func decode(_ type: Int16.Type) throws -> Int16 { try integer(type) }
    mutating func decode(_ type: Int32.Type) throws -> Int32 { try integer(type) }
    mutating func decode(_ type: Int64.Type) throws -> Int64 { try integer(type) }
    mutating func decode(_ type: UInt.Type) throws -> UInt { try integer(type) }
    mutating func decode(_ type: UInt8.Type) throws -> UInt8 { try integer(type) }
    mutating func decode(_ type: UInt16.Type) throws -> UInt16 { try integer(type) }
    mutating func decode(_ type: UInt32.Type) throws -> UInt32 { try integer(type) }
    mutating func decode(_ type: UInt64.Type) throws -> UInt64 { try integer(type) }
    mutating func decode<Value: Decodable>(_ type: Value.Type) throws -> Value {
        let document = document
        return try next { try document.value(type, at: $0, $1, nil) }
    }

    private mutating func integer<Integer: FixedWidthInteger>(
        _ type: Integer.Type
    ) throws -> Integer {
        let document = document
        return try next { try document.integer(type, at: $0, $1, nil) }
    }

    mutating func nestedContainer<NestedKey: CodingKey>(
        keyedBy type: NestedKey.Type
    ) throws -> KeyedDecodingContainer<NestedKey> {
        try superDecoder().container(keyedBy: type)
    }

    mutating func nestedUnkeyedContainer() throws -> any UnkeyedDecodingContainer {
        try superDecoder().unkeyedContainer()
    }

    mutating func superDecoder() throws -> any Decoder {
        let document = document
        return try next { ValueDecoder(document: document, index: $0, path: $1) }
    }
}
