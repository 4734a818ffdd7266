/// A text that is written while it is encoded, as long as everything comes in its order.
///
/// A place is where one value goes; it is open until its container goes on. Each function that may come
/// out of order (a container that was left and is filled again, a name that comes twice, a second value
/// for one place) gives false and has then changed nothing that counts: `EncodedText` turns what is
/// written into `EncodedNodes`, which take everything in any order.
struct DirectText {
    /// What stands at a place.
    enum Kind: UInt8 { case unset, value, array, object }

    private struct Open {
        let place: Int
        var kind = Kind.unset
        var count = 0
        var names: MemberNames.Scope
    }

    /// Where a place's value begins in the text.
    struct Place {
        let start: Int
        /// Whether a whole value was set there, which no container can go on with.
        var isValue = false
    }

    private var text = TextBuffer()
    private(set) var places: [Place] = []
    private var names = MemberNames()
    private var outer: [Open] = []
    private var top: Open

    /// Begins a text with its root, place 0.
    init() {
        self.top = Open(place: 0, names: names.open())
        places.reserveCapacity(16)
        outer.reserveCapacity(8)
        places.append(Place(start: 0))
    }

    // MARK: Places

    /// Begins a member and gives the place of its value, or nil.
    mutating func openMember(_ name: String, of place: Int) -> Int? {
        beginMember(name, of: place) ? open() : nil
    }

    /// Begins an element and gives its place, or nil.
    mutating func openElement(of place: Int) -> Int? { beginElement(of: place) ? open() : nil }

    private mutating func open() -> Int {
        let place = places.count
        places.append(Place(start: text.count))
        outer.append(top)
        top = Open(place: place, names: names.open())
        return place
    }

    /// Makes a place a container, unless it is one of this kind already.
    mutating func begin(_ kind: Kind, at place: Int) -> Bool {
        guard top.place == place else {
            return outer.last { $0.place == place }?.kind == kind
        }
        guard top.kind == .unset else { return top.kind == kind }
        text.append(kind == .object ? ASCII.openBrace : ASCII.openBracket)
        top.kind = kind
        return true
    }

    /// Closes a place whose value has been encoded, with all that is open in it.
    mutating func finish(_ place: Int) -> Bool {
        guard leave(to: place) else { return false }
        if top.kind == .unset {
            text.append(ASCII.openBrace)
            top.kind = .object
        }
        if outer.isEmpty {
            closeTop()
            top.kind = .value  // so that whatever comes later is out of order
        } else {
            pop()
        }
        return true
    }

    /// The number of elements at an open place, or nil.
    func count(at place: Int) -> Int? {
        top.place == place ? top.count : outer.last { $0.place == place }?.count
    }

    // MARK: Values

    /// Begins the value of a place that has none yet.
    @inline(__always)
    private mutating func beginValue(at place: Int) -> Bool {
        guard top.place == place, top.kind == .unset else { return false }
        top.kind = .value
        places[place].isValue = true
        return true
    }

    mutating func set(_ value: JSONScalar, at place: Int) -> Bool {
        guard beginValue(at: place) else { return false }
        text.append(value)
        return true
    }

    @inline(__always)
    mutating func setMember(_ name: String, _ value: JSONScalar, of place: Int) -> Bool {
        guard beginMember(name, of: place) else { return false }
        text.append(value)
        return true
    }

    @inline(__always)
    mutating func setMember(_ name: String, _ value: String, of place: Int) -> Bool {
        guard beginMember(name, of: place) else { return false }
        text.append(value)
        return true
    }

    @inline(__always)
    mutating func append(_ value: JSONScalar, to place: Int) -> Bool {
        guard beginElement(of: place) else { return false }
        text.append(value)
        return true
    }

    @inline(__always)
    private mutating func beginMember(_ name: String, of place: Int) -> Bool {
        guard top.place == place || leave(to: place), top.kind == .object,
            text.count < Int(Int32.max)  // beyond it names cannot be looked up
        else { return false }
        let mark = text.count
        let isFirst = top.count == 0
        let isEscaped = text.appendName(name, isFirst: isFirst)
        let end = text.count
        guard
            text.isNewName(
                from: mark &+ (isFirst ? 1 : 2), to: end &- 1, isEscaped: isEscaped, in: &names,
                &top.names)
        else {
            text.removeLast(end - mark)
            return false
        }
        text.append(ASCII.colon)
        top.count &+= 1
        return true
    }

    @inline(__always)
    private mutating func beginElement(of place: Int) -> Bool {
        guard top.place == place || leave(to: place), top.kind == .array else { return false }
        if top.count > 0 { text.append(ASCII.comma) }
        top.count &+= 1
        return true
    }

    // MARK: Leaving places

    /// Closes what is open in a place, or gives false where the place itself is closed, or where one in
    /// it still waits for a value.
    private mutating func leave(to place: Int) -> Bool {
        if top.place == place { return true }
        guard outer.contains(where: { $0.place == place }) else { return false }
        while top.place != place {
            guard top.kind != .unset else { return false }
            pop()
        }
        return true
    }

    private mutating func pop() {
        closeTop()
        top = outer.removeLast()
    }

    private mutating func closeTop() {
        if top.kind == .object {
            text.append(ASCII.closeBrace)
            names.close(top.names)
        } else if top.kind == .array {
            text.append(ASCII.closeBracket)
        }
    }

    /// The text, once the root is closed.
    mutating func taken() -> [UInt8] { text.taken() }

    /// The text with all that is open closed, and a null for each place that waits for a value.
    consuming func completed() -> (bytes: [UInt8], places: [Place], waiting: Set<Int>) {
        var waiting: Set<Int> = []
        while true {
            if top.kind == .unset {
                waiting.insert(top.place)
                text.append(JSONScalar.null)
            }
            closeTop()
            guard let last = outer.popLast() else { break }
            top = last
        }
        return (text.taken(), places, waiting)
    }
}
