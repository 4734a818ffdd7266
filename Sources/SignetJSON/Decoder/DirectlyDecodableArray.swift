/// An array type whose elements are decoded in one loop, without a container. With one,
/// `json-decode-1k` executes an eighth more instructions.
protocol DirectlyDecodableArray {
    init()
    mutating func reserveCapacity(_ count: Int)
    /// Decodes another element from a node.
    mutating func append(from document: JSONDocument, at index: Int) throws
    /// Decodes the array at a node if its elements need no decoder; otherwise returns nil.
    static func plain(from document: JSONDocument, at index: Int) throws -> Self?
}

extension Array: DirectlyDecodableArray where Element: Decodable {
    mutating func append(from document: JSONDocument, at index: Int) throws {
        append(try document.value(Element.self, at: index))
    }

    static func plain(from document: JSONDocument, at index: Int) throws -> Self? {
        if Element.self == String.self {
            return try document.array(at: index) { try document.string(at: $0) } as? Self
        }
        if Element.self == Int.self {
            return try document.array(at: index) { try document.integer(Int.self, at: $0) } as? Self
        }
        if Element.self == Double.self {
            return try document.array(at: index) { try document.double(at: $0) } as? Self
        }
        return nil
    }
}

extension JSONDocument {
    /// The maximum number of elements to reserve memory for before the first one was decoded.
    private static var reservedCount: Int { 256 }

    /// Decodes the array at a node; returns nil if that isn't of the type `Result`.
    ///
    /// Not inlined, so that the array's type comes from its conformance, without a lookup per
    /// element.
    @inline(never)
    func array<DecodedArray: DirectlyDecodableArray, Result>(
        _ type: DecodedArray.Type, as result: Result.Type, at index: Int
    ) throws -> Result? {
        if let plain = try DecodedArray.plain(from: self, at: index) { return plain as? Result }
        var array = DecodedArray()
        array.reserveCapacity(min(count(at: index), Self.reservedCount))
        let end = index &+ size(at: index)
        var node = index &+ 1
        while node != end {
            try array.append(from: self, at: node)
            node &+= size(at: node)
        }
        return array as? Result
    }

    /// Decodes the array at a node, with a function that decodes an element from its node.
    @inline(__always)
    fileprivate func array<Element>(
        at index: Int, _ element: (_ index: Int) throws -> Element
    ) throws -> [Element] {
        var array: [Element] = []
        array.reserveCapacity(min(count(at: index), Self.reservedCount))
        let end = index &+ size(at: index)
        var node = index &+ 1
        while node != end {
            array.append(try element(node))
            node &+= size(at: node)
        }
        return array
    }
}
