import SignetBase

/// A JSON object: members in order, each name once.
///
/// Names are compared as UTF-8 bytes, so two Unicode forms of a word are two names. Two objects are
/// equal if they hold the same members, in any order.
public struct JSONObject: Sendable, Hashable, RandomAccessCollection,
    ExpressibleByDictionaryLiteral
{
    /// A member's name and value.
    public typealias Element = (name: String, value: JSONValue)

    /// The maximum number of members that are searched one by one, without an index.
    private static let unindexedCount = 12

    private var names: [String]
    private var members: [JSONValue]
    private var index: [ByteName: Int] = [:]

    /// Creates an empty object.
    public init() { self.init(reserving: 0) }

    init(reserving count: Int) {
        self.names = []
        self.members = []
        names.reserveCapacity(count)
        members.reserveCapacity(count)
        if count > Self.unindexedCount { index.reserveCapacity(count) }
    }

    /// Creates an object from members. Of two with the same name, the later value gets the earlier
    /// place.
    public init(_ elements: some Sequence<Element>) {
        self.init(reserving: elements.underestimatedCount)
        for element in elements { self[element.name] = element.value }
    }

    /// Creates an object from members. Of two with the same name, the later value gets the earlier
    /// place.
    public init(dictionaryLiteral elements: (String, JSONValue)...) {
        self.init(reserving: elements.count)
        for (name, value) in elements { self[name] = value }
    }

    /// The position of the first member.
    public var startIndex: Int { 0 }
    /// The position after the last member.
    public var endIndex: Int { names.count }
    /// The member at a position.
    public subscript(position: Int) -> Element { (names[position], members[position]) }

    /// The member names, in order.
    public var memberNames: [String] { names }

    /// The value of a member.
    ///
    /// A new member is added at the end. Setting nil removes the member, in linear time.
    public subscript(name: String) -> JSONValue? {
        get { position(of: name).map { members[$0] } }
        set {
            let position = position(of: name)
            switch (position, newValue) {
            case (let position?, let value?): members[position] = value
            case (nil, let value?): appendUnique(name, value: value)
            case (let position?, nil):
                names.remove(at: position)
                members.remove(at: position)
                if !index.isEmpty { makeIndex() }
            case (nil, nil): break
            }
        }
    }

    /// Adds a member. The object must not hold its name yet.
    mutating func appendUnique(_ name: String, value: JSONValue) {
        names.append(name)
        members.append(value)
        if names.count > Self.unindexedCount {
            if index.isEmpty { makeIndex() } else { index[ByteName(name)] = names.count - 1 }
        }
    }

    private mutating func makeIndex() {
        index.removeAll(keepingCapacity: true)
        guard names.count > Self.unindexedCount else { return }
        for (position, name) in names.enumerated() { index[ByteName(name)] = position }
    }

    private func position(of name: String) -> Int? {
        guard index.isEmpty else { return index[ByteName(name)] }
        return names.firstIndex { sameBytes($0, name) }
    }

    /// Returns whether both objects hold the same members, in any order.
    public static func == (left: JSONObject, right: JSONObject) -> Bool {
        left.count == right.count && left.allSatisfy { right[$0.name] == $0.value }
    }

    /// Hashes the members, regardless of their order.
    public func hash(into hasher: inout Hasher) {
        var sum = 0
        for (name, value) in self {
            var member = Hasher()
            ByteName(name).hash(into: &member)
            value.hash(into: &member)
            sum &+= member.finalize()
        }
        hasher.combine(count)
        hasher.combine(sum)
    }
}
