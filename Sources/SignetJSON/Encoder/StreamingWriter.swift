import SignetBase

/// Writes a compact text while a value is encoded, as long as its parts come in order.
///
/// A place is the position of one value; it is open until its container continues. If a part comes
/// out of order (for a container that was closed, with a duplicate name, or as a second value for a
/// place), the function returns false or nil and leaves the text unchanged. `EncodingStorage` then
/// converts the text to an `EncodingTree`, which accepts parts in any order. Through the tree,
/// `json-encode-1k` executes six times as many instructions.
struct StreamingWriter {
    /// The kind of a place's value.
    enum Kind: UInt8 { case unset, value, array, object }

    private struct Open {
        let place: Int
        var kind = Kind.unset
        var count = 0
        var names: MemberNames.Scope
        /// Whether it is in an open array, so that similar objects may follow.
        var isInArray = false
        /// Whether all names so far were expected, so that they aren't in `names`.
        var isAsExpected = true
        /// In an object: the name that is expected next, if any.
        var expected = ExpectedMemberNames.none
        /// In an object: the last name, if `known` holds it.
        var last = ExpectedMemberNames.none
        /// In an array: the first name of its objects.
        var first = ExpectedMemberNames.none
    }

    /// The position of a place's value in the text.
    struct Place {
        let start: Int
        /// Whether it holds a whole value, so that no container can continue there.
        var isValue = false
    }

    private var text: UTF8Buffer
    private(set) var places: [Place] = []
    private var names = MemberNames()
    private var known = ExpectedMemberNames()
    private var outer: [Open] = []
    private var top: Open

    /// Creates an empty text with an open root, place 0.
    ///
    /// - Parameter isUsed: Whether anything is written; false reserves no memory.
    init(isUsed: Bool) {
        self.text = UTF8Buffer(capacity: isUsed ? 1 << 11 : 0)
        self.top = Open(place: 0, names: names.open())
        guard isUsed else { return }
        places.reserveCapacity(16)
        outer.reserveCapacity(8)
        places.append(Place(start: 0))
    }

    // MARK: Places

    /// Starts a member and returns the place of its value, or nil if it is out of order.
    mutating func openMember(_ name: String, of place: Int) -> Int? {
        startMember(name, of: place) ? open() : nil
    }

    /// Starts an element and returns its place, or nil if it is out of order.
    mutating func openElement(of place: Int) -> Int? {
        guard let array = outer.indices.last, outer[array].place == place,
            outer[array].kind == .array, top.kind != .unset
        else { return startElement(of: place) ? open() : nil }
        // The element before is the innermost place: the new one replaces it.
        closeTop()
        text.append(ASCII.comma)
        outer[array].count &+= 1
        return openTop(isInArray: true)
    }

    @inline(__always)
    private mutating func open() -> Int {
        outer.append(top)
        return openTop(isInArray: top.isInArray || top.kind == .array)
    }

    @inline(__always)
    private mutating func openTop(isInArray: Bool) -> Int {
        let place = places.count
        places.append(Place(start: text.count))
        top = Open(place: place, names: names.open(), isInArray: isInArray)
        return place
    }

    /// Starts a container at a place, unless it already is one of this kind.
    @inline(__always)
    mutating func start(_ kind: Kind, at place: Int) -> Bool {
        guard top.place == place else {
            return outer.last { $0.place == place }?.kind == kind
        }
        guard top.kind == .unset else { return top.kind == kind }
        text.append(kind == .object ? ASCII.leftBrace : ASCII.leftBracket)
        top.kind = kind
        if top.isInArray, let parent = outer.last {
            let first = parent.kind == .array ? parent.first : known.firstInside(parent.last)
            if kind == .object { top.expected = first } else { top.first = first }
        }
        return true
    }

    /// Closes the root and everything in it, and returns the text; nil if a place has no value.
    mutating func finish() -> [UInt8]? {
        guard closeContainers(in: 0) else { return nil }
        if top.kind == .unset {
            text.append(ASCII.leftBrace)
            top.kind = .object
        }
        closeTop()
        top.kind = .value  // makes any later call out of order
        return text.finish()
    }

    /// The number of elements of an open place, or nil.
    func count(at place: Int) -> Int? {
        top.place == place ? top.count : outer.last { $0.place == place }?.count
    }

    // MARK: Values

    /// Starts the value of a place that has none yet.
    @inline(__always)
    private mutating func startValue(at place: Int) -> Bool {
        guard top.place == place, top.kind == .unset else { return false }
        top.kind = .value
        places[place].isValue = true
        return true
    }

    mutating func set(_ value: JSONScalar, at place: Int) -> Bool {
        guard startValue(at: place) else { return false }
        text.append(value)
        return true
    }

    @inline(__always)
    mutating func setMember(_ name: String, to value: JSONScalar, of place: Int) -> Bool {
        guard isOpenObject(place) else { return false }
        if let name = expected(name) {
            let isFirst = countExpectedMember(before: name.following)
            text.appendMember(
                nameFrom: name.start, length: name.length, isFirst: isFirst, value: value)
            return true
        }
        guard startUnexpectedMember(name) else { return false }
        text.append(value)
        return true
    }

    @inline(__always)
    mutating func append(_ value: JSONScalar, to place: Int) -> Bool {
        guard startElement(of: place) else { return false }
        text.append(value)
        return true
    }

    /// Closes what is open in a place, and returns whether it is an object that can get a member.
    @inline(__always)
    private mutating func isOpenObject(_ place: Int) -> Bool {
        closeContainers(in: place) && top.kind == .object
            && text.count < Int(Int32.max)  // positions of names have 31 bits
    }

    /// Returns the position of the name in the text, if the innermost object expects it next.
    @inline(__always)
    private func expected(
        _ name: String
    ) -> (start: Int, length: Int, following: UInt32)? {
        top.expected == ExpectedMemberNames.none ? nil : known.match(name, with: top.expected)
    }

    /// Counts a member with the expected name, and returns whether it is the first.
    @inline(__always)
    private mutating func countExpectedMember(before following: UInt32) -> Bool {
        top.last = top.expected
        top.expected = following
        top.count &+= 1
        return top.count == 1
    }

    private mutating func startMember(_ name: String, of place: Int) -> Bool {
        guard isOpenObject(place) else { return false }
        guard let known = expected(name) else { return startUnexpectedMember(name) }
        let isFirst = countExpectedMember(before: known.following)
        text.appendName(from: known.start, length: known.length, isFirst: isFirst)
        return true
    }

    /// Starts a member of the innermost object, with another name than the expected one.
    @inline(never)
    private mutating func startUnexpectedMember(_ name: String) -> Bool {
        if top.isAsExpected {
            top.isAsExpected = false
            top.expected = ExpectedMemberNames.none
            let known = known
            known.forEachName(backFrom: top.last) { start, length in
                _ = text.addName(
                    from: start &+ 1, to: start &+ length &- 2, isEscaped: false, to: &names,
                    scope: &top.names)
            }
        }
        let mark = text.count
        let isFirst = top.count == 0
        let isEscaped = text.appendName(name, isFirst: isFirst)
        let start = isFirst ? mark : mark &+ 1
        let end = text.count
        guard
            text.addName(
                from: start &+ 1, to: end &- 1, isEscaped: isEscaped, to: &names,
                scope: &top.names)
        else {
            text.removeLast(end - mark)
            return false
        }
        text.append(ASCII.colon)
        if top.isInArray {
            recordName(
                isEscaped || !text.isASCII(from: start, to: end) ? nil : name, from: start,
                to: end &+ 1)
        }
        top.count &+= 1
        return true
    }

    /// Records a written name for later objects, or nil for a name that can't be expected.
    private mutating func recordName(_ name: String?, from start: Int, to end: Int) {
        let isFirst = top.count == 0
        guard let name, isFirst || top.last != ExpectedMemberNames.none,
            let number = known.add(name, at: start, length: end &- start, after: top.last)
        else {
            top.last = ExpectedMemberNames.none
            return
        }
        top.last = number
        guard isFirst else { return }
        // The next object at this place, or in this array, should start with the same name.
        var inner = outer.count &- 1
        while inner >= 0, outer[inner].kind == .array {
            outer[inner].first = number
            inner &-= 1
        }
        if inner >= 0 { known.setFirstInside(outer[inner].last, to: number) }
    }

    @inline(__always)
    private mutating func startElement(of place: Int) -> Bool {
        guard closeContainers(in: place), top.kind == .array else { return false }
        if top.count > 0 { text.append(ASCII.comma) }
        top.count &+= 1
        return true
    }

    // MARK: Closing containers

    /// Closes what is open in a place. Returns false if the place is already closed, or if a place
    /// in it has no value yet.
    @inline(__always)
    private mutating func closeContainers(in place: Int) -> Bool {
        top.place == place || closeInnerContainers(in: place)
    }

    @inline(never)
    private mutating func closeInnerContainers(in place: Int) -> Bool {
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
            text.append(ASCII.rightBrace)
            names.close(top.names)
        } else if top.kind == .array {
            text.append(ASCII.rightBracket)
        }
    }

    /// Closes everything and returns the text. `unset` holds the places that had no value and got a
    /// null.
    consuming func completed() -> (bytes: [UInt8], places: [Place], unset: Set<Int>) {
        var unset: Set<Int> = []
        while true {
            if top.kind == .unset {
                unset.insert(top.place)
                text.append(JSONScalar.null)
            }
            closeTop()
            guard let last = outer.popLast() else { break }
            top = last
        }
        return (text.finish(), places, unset)
    }
}
