/// A text that is written while it is encoded, as long as everything comes in its order.
///
/// A place is where one value goes; it is open until its container goes on. Each function that may come
/// out of order (a container that was left and is filled again, a name that comes twice, a second value
/// for one place) gives false and has then changed nothing that counts: `EncodingStorage` turns what is
/// written into `EncodingTree`, which take everything in any order.
struct StreamingWriter {
    /// What stands at a place.
    enum Kind: UInt8 { case unset, value, array, object }

    private struct Open {
        let place: Int
        var kind = Kind.unset
        var count = 0
        var names: MemberNames.Scope
        /// Whether an array is open around it, so that others like it may follow.
        var isListed = false
        /// Whether the names so far are all in `known`, and not in `names`.
        var isKnown = true
        /// Of an object: the name that is expected next, if any.
        var expected = ExpectedMemberNames.none
        /// The name that came last, where it is known.
        var last = ExpectedMemberNames.none
        /// Of an array: the first name of the objects in it.
        var first = ExpectedMemberNames.none
    }

    /// Where a place's value begins in the text.
    struct Place {
        let start: Int
        /// Whether a whole value was set there, which no container can go on with.
        var isValue = false
    }

    private var text = UTF8Buffer()
    private(set) var places: [Place] = []
    private var names = MemberNames()
    private var known = ExpectedMemberNames()
    private var outer: [Open] = []
    private var top: Open

    /// Begins a text with its root, place 0.
    init() {
        self.top = Open(place: 0, names: names.open())
        places.reserveCapacity(16)
        outer.reserveCapacity(8)
        places.append(Place(start: 0))
    }

    /// Makes it as new and keeps its room, or gives false where there is more than most texts take.
    mutating func reset() -> Bool {
        guard places.capacity <= 1024, outer.capacity <= 64, names.reset() else { return false }
        known.reset()
        outer.removeAll(keepingCapacity: true)
        places.removeAll(keepingCapacity: true)
        text = UTF8Buffer()
        top = Open(place: 0, names: names.open())
        places.append(Place(start: 0))
        return true
    }

    // MARK: Places

    /// Begins a member and gives the place of its value, or nil.
    mutating func openMember(_ name: String, of place: Int) -> Int? {
        beginMember(name, of: place) ? open() : nil
    }

    /// Begins an element and gives its place, or nil.
    ///
    /// Behind an object another one is begun at once: the elements of one array are mostly alike. Where
    /// it is something else that comes, `takeBack` undoes that; where nothing comes, it is an object.
    mutating func openElement(of place: Int) -> Int? {
        let array = outer.count &- 1
        guard top.kind == .object, array >= 0, outer[array].kind == .array,
            outer[array].place == place
        else { return beginElement(of: place) ? open() : nil }
        names.close(top.names)
        outer[array].count &+= 1
        let next = addPlace(at: text.appendNextObject())
        top = Open(place: next, kind: .object, names: names.open(), isListed: true)
        top.expected = outer[array].first
        return next
    }

    /// Whether the innermost place is an object.
    var isObject: Bool { top.kind == .object }

    @inline(__always)
    private mutating func open() -> Int {
        let place = addPlace(at: text.count)
        let isListed = top.isListed || top.kind == .array
        outer.append(top)
        top = Open(place: place, names: names.open(), isListed: isListed)
        return place
    }

    @inline(__always)
    private mutating func addPlace(at start: Int) -> Int {
        let place = places.count
        places.append(Place(start: start))
        return place
    }

    /// Makes the innermost place one without a value again, where it is an object without members.
    private mutating func takeBack() {
        guard top.kind == .object, top.count == 0 else { return }
        text.removeLast(1)
        top.kind = .unset
        top.expected = ExpectedMemberNames.none
    }

    /// Makes a place a container, unless it is one of this kind already.
    @inline(__always)
    mutating func begin(_ kind: Kind, at place: Int) -> Bool {
        guard top.place == place else {
            return outer.last { $0.place == place }?.kind == kind
        }
        if kind == .array { takeBack() }
        guard top.kind == .unset else { return top.kind == kind }
        text.append(kind == .object ? ASCII.openBrace : ASCII.openBracket)
        top.kind = kind
        if top.isListed, let parent = outer.last {
            let first = parent.kind == .array ? parent.first : known.inside(parent.last)
            if kind == .object { top.expected = first } else { top.first = first }
        }
        return true
    }

    /// Closes the root, with all that is open in it.
    mutating func finish() -> Bool {
        guard leave(to: 0) else { return false }
        if top.kind == .unset {
            text.append(ASCII.openBrace)
            top.kind = .object
        }
        closeTop()
        top.kind = .value  // so that whatever comes later is out of order
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
        guard top.place == place else { return false }
        takeBack()
        guard top.kind == .unset else { return false }
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
        guard isObject(place) else { return false }
        if let name = expected(name) {
            let isFirst = goOn(to: name.following)
            text.appendMember(
                nameFrom: name.start, length: name.length, isFirst: isFirst, value)
            return true
        }
        guard beginOtherMember(name) else { return false }
        text.append(value)
        return true
    }

    @inline(__always)
    mutating func append(_ value: JSONScalar, to place: Int) -> Bool {
        guard beginElement(of: place) else { return false }
        text.append(value)
        return true
    }

    /// Whether a place is an object that takes members, once what is open in it is closed.
    @inline(__always)
    private mutating func isObject(_ place: Int) -> Bool {
        leave(to: place) && top.kind == .object
            && text.count < Int(Int32.max)  // beyond it names cannot be looked up
    }

    /// Where a name stands in the text, if it is the one that is expected in the innermost object.
    @inline(__always)
    private func expected(
        _ name: String
    ) -> (start: Int, length: Int, following: UInt32)? {
        top.expected == ExpectedMemberNames.none ? nil : known.find(top.expected, name)
    }

    /// Counts the member of the name that was expected, and gives whether it is the first.
    @inline(__always)
    private mutating func goOn(to following: UInt32) -> Bool {
        top.last = top.expected
        top.expected = following
        top.count &+= 1
        return top.count == 1
    }

    private mutating func beginMember(_ name: String, of place: Int) -> Bool {
        guard isObject(place) else { return false }
        guard let known = expected(name) else { return beginOtherMember(name) }
        let isFirst = goOn(to: known.following)
        text.appendName(from: known.start, length: known.length, isFirst: isFirst)
        return true
    }

    /// Begins a member of the innermost object whose name is not the one that was expected.
    @inline(never)
    private mutating func beginOtherMember(_ name: String) -> Bool {
        if top.isKnown {
            top.isKnown = false
            top.expected = ExpectedMemberNames.none
            let known = known
            known.forEachBack(from: top.last) { start, length in
                _ = text.isNewName(
                    from: start &+ 1, to: start &+ length &- 2, isEscaped: false, in: &names,
                    &top.names)
            }
        }
        let mark = text.count
        let isFirst = top.count == 0
        let isEscaped = text.appendName(name, isFirst: isFirst)
        let start = isFirst ? mark : mark &+ 1
        let end = text.count
        guard
            text.isNewName(
                from: start &+ 1, to: end &- 1, isEscaped: isEscaped, in: &names, &top.names)
        else {
            text.removeLast(end - mark)
            return false
        }
        text.append(ASCII.colon)
        if top.isListed {
            noteName(isEscaped || !text.isASCII(start, end) ? nil : name, start, end &+ 1)
        }
        top.count &+= 1
        return true
    }

    /// Notes a name that has been written, or that there is none to be noted.
    private mutating func noteName(_ name: String?, _ start: Int, _ end: Int) {
        let isFirst = top.count == 0
        guard let name, isFirst || top.last != ExpectedMemberNames.none,
            let number = known.add(name, start, end &- start, behind: top.last)
        else {
            top.last = ExpectedMemberNames.none
            return
        }
        top.last = number
        guard isFirst else { return }
        // The next object at this place, or in this array, is expected to begin with it.
        var inner = outer.count &- 1
        while inner >= 0, outer[inner].kind == .array {
            outer[inner].first = number
            inner &-= 1
        }
        if inner >= 0 { known.setInside(outer[inner].last, number) }
    }

    @inline(__always)
    private mutating func beginElement(of place: Int) -> Bool {
        guard leave(to: place), top.kind == .array else { return false }
        if top.count > 0 { text.append(ASCII.comma) }
        top.count &+= 1
        return true
    }

    // MARK: Leaving places

    /// Closes what is open in a place, or gives false where the place itself is closed, or where one in
    /// it has no value yet.
    @inline(__always)
    private mutating func leave(to place: Int) -> Bool {
        top.place == place || leaveInner(to: place)
    }

    @inline(never)
    private mutating func leaveInner(to place: Int) -> Bool {
        guard outer.contains(where: { $0.place == place }) else { return false }
        while top.place != place {
            guard top.kind != .unset else { return false }
            pop()
        }
        return true
    }

    @inline(__always)
    private mutating func pop() {
        closeTop()
        top = outer.removeLast()
    }

    @inline(__always)
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
