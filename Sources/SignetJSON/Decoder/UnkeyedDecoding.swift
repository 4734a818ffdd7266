/// An array's elements, in order.
///
/// The type is small enough for an existential's inline buffer, which saves an allocation.
struct UnkeyedDecoding: UnkeyedDecodingContainer {
    private let document: JSONDocument
    private let array: UInt32
    private var node: UInt32
    private let end: UInt32
    private var position: UInt32 = 0

    init(_ document: JSONDocument, at index: Int) throws(JSONError) {
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

    /// Returns the node of the next element.
    private func nextNode() throws(JSONError) -> Int {
        guard node != end else { throw document.noElement(currentIndex, of: Int(array)) }
        return Int(node)
    }

    /// Moves past an element after it was decoded.
    private mutating func advance() {
        node &+= UInt32(truncatingIfNeeded: document.size(at: Int(node)))
        position &+= 1
    }

    /// Decodes the next element, and moves past it.
    @inline(__always)
    private mutating func next<Value>(
        _ decode: (_ document: JSONDocument, _ index: Int) throws -> Value
    ) throws -> Value {
        let value = try decode(document, nextNode())
        advance()
        return value
    }

    mutating func decodeNil() throws -> Bool {
        guard try document.isNull(at: nextNode()) else { return false }
        advance()
        return true
    }
    mutating func decode<Value: Decodable>(_ type: Value.Type) throws -> Value {
        try next { try $0.value(type, at: $1) }
    }

    mutating func nestedContainer<NestedKey: CodingKey>(
        keyedBy type: NestedKey.Type
    ) throws -> KeyedDecodingContainer<NestedKey> {
        try next { KeyedDecodingContainer(try KeyedDecoding<NestedKey>($0, at: $1)) }
    }

    mutating func nestedUnkeyedContainer() throws -> any UnkeyedDecodingContainer {
        try next { try UnkeyedDecoding($0, at: $1) }
    }

    mutating func superDecoder() throws -> any Decoder {
        try next { ValueDecoder(document: $0, index: $1) }
    }
}
