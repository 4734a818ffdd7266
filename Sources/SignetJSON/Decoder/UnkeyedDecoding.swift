/// An array's elements, one after another.
///
/// Small enough to lie in an existential without a box of its own.
struct UnkeyedDecoding: UnkeyedDecodingContainer {
    private let document: JSONDocument
    private let array: UInt32
    private var node: UInt32
    private let end: UInt32
    private var position: UInt32 = 0

    init(_ document: JSONDocument, _ index: Int) throws(JSONError) {
        guard document.kind(at: index) == .array else {
            throw document.mismatch("an array", at: index)
        }
        self.document = document
        self.array = UInt32(truncatingIfNeeded: index)
        self.node = array &+ 1
        self.end = array &+ UInt32(truncatingIfNeeded: document.size(at: index))
    }

    var codingPath: [any CodingKey] { document.path(to: Int(array)) }
    var count: Int? { document.count(at: Int(array)) }
    var isAtEnd: Bool { node == end }
    var currentIndex: Int { Int(position) }

    /// The node of the element that is next.
    private func next() throws(JSONError) -> Int {
        guard node != end else { throw document.noElement(currentIndex, of: Int(array)) }
        return Int(node)
    }

    /// Goes on behind an element, once it has been decoded.
    private mutating func advance() {
        node &+= UInt32(truncatingIfNeeded: document.size(at: Int(node)))
        position &+= 1
    }

    mutating func decodeNil() throws -> Bool {
        guard try document.isNull(at: next()) else { return false }
        advance()
        return true
    }
    mutating func decode(_ type: Bool.Type) throws -> Bool {
        let value = try document.bool(at: next())
        advance()
        return value
    }
    mutating func decode(_ type: String.Type) throws -> String {
        let value = try document.string(at: next())
        advance()
        return value
    }
    mutating func decode(_ type: Double.Type) throws -> Double {
        let value = try document.double(at: next())
        advance()
        return value
    }
    mutating func decode(_ type: Float.Type) throws -> Float {
        let value = try document.float(at: next())
        advance()
        return value
    }
    mutating func decode(_ type: Int.Type) throws -> Int {
        let value = try document.integer(type, at: next())
        advance()
        return value
    }
    mutating func decode(_ type: Int8.Type) throws -> Int8 {
        let value = try document.integer(type, at: next())
        advance()
        return value
    }
    mutating func decode(_ type: Int16.Type) throws -> Int16 {
        let value = try document.integer(type, at: next())
        advance()
        return value
    }
    mutating func decode(_ type: Int32.Type) throws -> Int32 {
        let value = try document.integer(type, at: next())
        advance()
        return value
    }
    mutating func decode(_ type: Int64.Type) throws -> Int64 {
        let value = try document.integer(type, at: next())
        advance()
        return value
    }
    mutating func decode(_ type: UInt.Type) throws -> UInt {
        let value = try document.integer(type, at: next())
        advance()
        return value
    }
    mutating func decode(_ type: UInt8.Type) throws -> UInt8 {
        let value = try document.integer(type, at: next())
        advance()
        return value
    }
    mutating func decode(_ type: UInt16.Type) throws -> UInt16 {
        let value = try document.integer(type, at: next())
        advance()
        return value
    }
    mutating func decode(_ type: UInt32.Type) throws -> UInt32 {
        let value = try document.integer(type, at: next())
        advance()
        return value
    }
    mutating func decode(_ type: UInt64.Type) throws -> UInt64 {
        let value = try document.integer(type, at: next())
        advance()
        return value
    }
    mutating func decode<Value: Decodable>(_ type: Value.Type) throws -> Value {
        let value = try document.value(type, at: next())
        advance()
        return value
    }

    mutating func nestedContainer<NestedKey: CodingKey>(
        keyedBy type: NestedKey.Type
    ) throws -> KeyedDecodingContainer<NestedKey> {
        let container = try KeyedDecoding<NestedKey>(document, next())
        advance()
        return KeyedDecodingContainer(container)
    }

    mutating func nestedUnkeyedContainer() throws -> any UnkeyedDecodingContainer {
        let container = try UnkeyedDecoding(document, next())
        advance()
        return container
    }

    mutating func superDecoder() throws -> any Decoder {
        let decoder = ValueDecoder(document: document, index: try next())
        advance()
        return decoder
    }
}
