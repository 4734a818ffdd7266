/// An array type, whose elements are decoded in one loop and not one by one through a container.
protocol ListDecodable {
    init()
    mutating func reserveCapacity(_ count: Int)
    /// Decodes one more element, the one at a node.
    mutating func append(from document: JSONDocument, at index: Int) throws
    /// Becomes the array at a node, or gives false where its elements need a decoder of their own.
    mutating func becomePlain(from document: JSONDocument, at index: Int) throws -> Bool
}

extension Array: ListDecodable where Element: Decodable {
    mutating func append(from document: JSONDocument, at index: Int) throws {
        append(try document.value(Element.self, at: index))
    }

    mutating func becomePlain(from document: JSONDocument, at index: Int) throws -> Bool {
        let plain: Any
        if Element.self == String.self {
            plain = try document.list(at: index) { try document.string(at: $0) }
        } else if Element.self == Int.self {
            plain = try document.list(at: index) { try document.integer(Int.self, at: $0) }
        } else if Element.self == Double.self {
            plain = try document.list(at: index) { try document.double(at: $0) }
        } else {
            return false
        }
        guard let plain = plain as? Self else { return false }
        self = plain
        return true
    }
}

extension JSONDocument {
    /// How many elements get room before the first of them is known to fit.
    private static var firstRoom: Int { 256 }

    /// The array at a node; the list's type is the result's.
    ///
    /// Not inlined, so that what is known of the array's type comes from its conformance and is not
    /// looked up for each element; and without an optional, whose type would be looked up too.
    @inline(never)
    func list<List: ListDecodable, Result>(
        _ type: List.Type, as result: Result.Type, at index: Int
    ) throws -> Result {
        var list = List()
        if try list.becomePlain(from: self, at: index) { return list as! Result }
        list.reserveCapacity(min(count(at: index), Self.firstRoom))
        let end = index &+ size(at: index)
        var node = index &+ 1
        while node != end {
            try list.append(from: self, at: node)
            node &+= size(at: node)
        }
        return list as! Result
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
