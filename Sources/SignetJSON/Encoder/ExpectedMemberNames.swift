/// Member names as they stand in a text that is being written, and which of them came behind which: the
/// objects of one array are mostly alike, and what is expected need not be looked at byte by byte.
///
/// Each name has the number of the name that stood before it in its object, so all names on the way to one
/// are those of one object, and differ.
struct ExpectedMemberNames {
    private struct Name {
        let text: String
        /// Where it stands, with its quotation marks and colon.
        let start: UInt32
        let length: UInt32
        let before: UInt32
        var following = none
        /// The first name of the object that was its value, or of the objects in an array that was.
        var inside = none
    }

    /// The number that is no name's.
    static let none: UInt32 = 0
    /// The quotation marks and the colon of a name.
    private static let marks = 3
    /// How many names are noted at most.
    private static let limit = 256

    /// The names by their numbers, which begin with one.
    private var names: [Name] = []

    /// Notes a name of ASCII without escapes, or gives nil where there are too many.
    mutating func add(
        _ text: String, _ start: Int, _ length: Int, behind before: UInt32
    ) -> UInt32? {
        guard names.count < Self.limit else { return nil }
        if names.isEmpty { names.reserveCapacity(16) }
        names.append(
            Name(
                text: text, start: UInt32(truncatingIfNeeded: start),
                length: UInt32(truncatingIfNeeded: length), before: before))
        let number = UInt32(truncatingIfNeeded: names.count)
        if before != Self.none { names[Int(before) &- 1].following = number }
        return number
    }

    /// Forgets all names and keeps its room.
    mutating func reset() { names.removeAll(keepingCapacity: true) }

    /// Where a name stands and which one follows, if it is the text, byte for byte.
    ///
    /// Equal strings may differ in their bytes, but not those of ASCII from others of the same length: the
    /// other forms of an ASCII character are longer.
    @inline(__always)
    func find(
        _ number: UInt32, _ text: String
    ) -> (start: Int, length: Int, following: UInt32)? {
        let name = names[Int(number) &- 1]
        let length = Int(name.length)
        guard name.text == text, text.utf8.count &+ Self.marks == length else { return nil }
        return (Int(name.start), length, name.following)
    }

    func inside(_ number: UInt32) -> UInt32 {
        number == Self.none ? Self.none : names[Int(number) &- 1].inside
    }

    mutating func setInside(_ number: UInt32, _ first: UInt32) {
        if number != Self.none { names[Int(number) &- 1].inside = first }
    }

    /// Goes through a name and those before it in its object.
    func forEachBack(from number: UInt32, _ body: (_ start: Int, _ length: Int) -> Void) {
        var number = number
        while number != Self.none {
            let name = names[Int(number) &- 1]
            body(Int(name.start), Int(name.length))
            number = name.before
        }
    }
}
