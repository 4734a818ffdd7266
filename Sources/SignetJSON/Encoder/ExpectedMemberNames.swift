/// Member names in a text that is being written, with the name that followed each.
///
/// The objects of an array mostly have the same names in the same order. An expected name is copied
/// from the text without a search for escapes or duplicates: the names that precede it are
/// distinct, because they were those of one object. This makes the benchmark `json-encode-1k` a
/// sixth faster.
struct ExpectedMemberNames {
    private struct Name {
        let text: String
        /// Its position in the text, including the quotation marks and the colon.
        let start: UInt32
        let length: UInt32
        let before: UInt32
        var following = none
        /// The first name of the object, or of the objects in the array, that was its value.
        var firstInside = none
    }

    /// The number that means no name.
    static let none: UInt32 = 0
    /// The bytes of a name's quotation marks and colon.
    private static let marks = 3
    /// The maximum number of names to record.
    private static let limit = 256

    /// The names by number, from one.
    private var names: [Name] = []

    /// Records an ASCII name without escapes, and returns its number; nil if there are too many
    /// names.
    mutating func add(
        _ text: String, at start: Int, length: Int, after before: UInt32
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

    /// Returns the position and the following name of a recorded name, if it has the same bytes as
    /// `text`.
    ///
    /// Equal strings of the same length have the same bytes if one is ASCII, because other Unicode
    /// forms of an ASCII character are longer.
    @inline(__always)
    func match(
        _ text: String, with number: UInt32
    ) -> (start: Int, length: Int, following: UInt32)? {
        let name = names[Int(number) &- 1]
        let length = Int(name.length)
        guard name.text == text, text.utf8.count &+ Self.marks == length else { return nil }
        return (Int(name.start), length, name.following)
    }

    /// The first name of the objects in a name's value.
    func firstInside(_ number: UInt32) -> UInt32 {
        number == Self.none ? Self.none : names[Int(number) &- 1].firstInside
    }

    mutating func setFirstInside(_ number: UInt32, to first: UInt32) {
        if number != Self.none { names[Int(number) &- 1].firstInside = first }
    }

    /// Calls `body` with a name and then with those before it in its object.
    func forEachName(backFrom number: UInt32, _ body: (_ start: Int, _ length: Int) -> Void) {
        var number = number
        while number != Self.none {
            let name = names[Int(number) &- 1]
            body(Int(name.start), Int(name.length))
            number = name.before
        }
    }
}
