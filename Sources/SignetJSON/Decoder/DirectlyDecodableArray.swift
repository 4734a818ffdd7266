/// An array type, whose elements are decoded in one loop and not one by one through a container.
protocol DirectlyDecodableArray {
    init()
    mutating func reserveCapacity(_ count: Int)
    /// Decodes one more element, the one at a node.
    mutating func append(from document: JSONDocument, at index: Int) throws
    /// The array at a node, where its elements need no decoder of their own.
    static func plain(from document: JSONDocument, at index: Int) throws -> Self?
}

extension Array: DirectlyDecodableArray where Element: Decodable {
    mutating func append(from document: JSONDocument, at index: Int) throws {
        append(try document.value(Element.self, at: index))
    }

    static func plain(from document: JSONDocument, at index: Int) throws -> Self? {
        if Element.self == String.self {
            return try document.list(at: index) { try document.string(at: $0) } as? Self
        }
        if Element.self == Int.self {
            return try document.list(at: index) { try document.integer(Int.self, at: $0) } as? Self
        }
        if Element.self == Double.self {
            return try document.list(at: index) { try document.double(at: $0) } as? Self
        }
        return nil
    }
}

extension JSONDocument {
    /// How many elements get room before the first of them is known to fit.
    private static var firstRoom: Int { 256 }

    /// The array at a node, or nil where it is not the result's type.
    ///
    /// Not inlined, so that what is known of the array's type comes from its conformance and is not
    /// looked up for each element.
    @inline(never)
    func list<List: DirectlyDecodableArray, Result>(
        _ type: List.Type, as result: Result.Type, at index: Int
    ) throws -> Result? {
        if let plain = try List.plain(from: self, at: index) { return plain as? Result }
        var list = List()
        list.reserveCapacity(min(count(at: index), Self.firstRoom))
        let end = index &+ size(at: index)
        var node = index &+ 1
        while node != end {
            try list.append(from: self, at: node)
            node &+= size(at: node)
        }
        return list as? Result
    }

    /// The elements of the array at a node, each made of its node.
    @inline(__always)
    fileprivate func list<Element>(
        at index: Int, _ element: (_ index: Int) throws -> Element
    ) throws -> [Element] {
        var list: [Element] = []
        list.reserveCapacity(min(count(at: index), Self.firstRoom))
        let end = index &+ size(at: index)
        var node = index &+ 1
        while node != end {
            list.append(try element(node))
            node &+= size(at: node)
        }
        return list
    }
}
