internal import SignetCrypto
internal import SignetJSON

/// How much a scheme document may hold; its JSON Schema says the same.
enum SchemeLimits {
    static let nameBytes = 64
    static let templateBytes = 4096
    static let settings = 64
    static let values = 64
    static let injections = 32
    static let placements = 8
    static let joined = 64
    static let choices = 16
    static let names = 128
    static let entries = 16
    static let links = 16
    static let added = 32
    /// Places in the text that is signed, once every value in it is written out: a few values that hold
    /// one another twice would fill any memory.
    static let weight = 256
    /// Seconds from a signature's time to its end: a week.
    static let lifetime: Int64 = 604_800
}

/// One object of a scheme document; its errors name the place as a JSONPath (RFC 9535).
struct SchemeReader {
    let object: JSONObject
    let place: String

    init(_ object: JSONObject, at place: String) {
        self.object = object
        self.place = place
    }

    init(_ value: JSONValue, at place: String) throws(SigningError) {
        guard let object = value.object else {
            throw Self.wrong(value, at: place, wanted: "an object")
        }
        self.init(object, at: place)
    }

    // MARK: Errors

    func malformed(_ problem: String) -> SigningError {
        SigningError(.malformedScheme, "\(place): \(problem)")
    }

    /// The refusal of a member's value, or of its absence.
    func wrong(_ member: String, wanted: String) -> SigningError {
        Self.wrong(object[member], at: path(member), wanted: wanted)
    }

    static func wrong(_ value: JSONValue?, at place: String, wanted: String) -> SigningError {
        SigningError(.malformedScheme, "\(place): found \(shown(value)), wanted \(wanted)")
    }

    private static func shown(_ value: JSONValue?) -> String {
        switch value {
        case nil: return "nothing"
        case .string(let text):
            let start = String(text.unicodeScalars.prefix(40))
            return "\"\(printable(start))\(start.utf8.count < text.utf8.count ? "…" : "")\""
        case .number(let number): return "the number \(String("\(number)".prefix(40)))"
        case .bool(let flag): return "\(flag)"
        case .null: return "null"
        case .array(let array): return array.isEmpty ? "an empty array" : "an array"
        case .object(let object): return object.isEmpty ? "an empty object" : "an object"
        }
    }

    /// The place of a member.
    func path(_ member: String) -> String { Self.path(place, member) }

    static func path(_ place: String, _ member: String) -> String {
        let isPlain =
            !member.isEmpty
            && member.utf8.allSatisfy { $0.isDigit || $0 == 0x2D || $0 == 0x5F || $0.isLetter }
        return isPlain ? "\(place).\(member)" : "\(place)[\"\(printable(member))\"]"
    }

    /// Refuses members that nobody knows.
    func demand(_ known: [String]) throws(SigningError) {
        for name in object.memberNames
        where !known.contains(where: { $0.utf8.elementsEqual(name.utf8) }) {
            throw SigningError(
                .malformedScheme,
                "\(path(name)): an unknown member, wanted one of \(known.joined(separator: ", "))")
        }
    }

    func has(_ member: String) -> Bool { object[member] != nil }

    // MARK: Members

    func value(_ member: String, wanted: String) throws(SigningError) -> JSONValue {
        guard let value = object[member] else { throw wrong(member, wanted: wanted) }
        return value
    }

    func optionalText(
        _ member: String, wanted: String = "a text"
    ) throws(SigningError) -> String? {
        guard let value = object[member] else { return nil }
        guard let text = value.string else { throw wrong(member, wanted: wanted) }
        return text
    }

    func text(_ member: String, wanted: String = "a text") throws(SigningError) -> String {
        guard let text = try optionalText(member, wanted: wanted) else {
            throw wrong(member, wanted: wanted)
        }
        return text
    }

    /// A text of which each byte is allowed, of a bounded length.
    func optionalBytes(
        _ member: String, wanted: String, _ count: ClosedRange<Int>, _ allows: (UInt8) -> Bool
    ) throws(SigningError) -> [UInt8]? {
        guard let text = try optionalText(member, wanted: wanted) else { return nil }
        let bytes = Array(text.utf8)
        guard count.contains(bytes.count), bytes.allSatisfy(allows) else {
            throw wrong(member, wanted: wanted)
        }
        return bytes
    }

    func flag(_ member: String) throws(SigningError) -> Bool {
        guard let value = object[member] else { return false }
        guard case .bool(let flag) = value else { throw wrong(member, wanted: "true or false") }
        return flag
    }

    func integer(_ member: String, in range: ClosedRange<Int64>) throws(SigningError) -> Int64 {
        guard let integer = object[member]?.number?.int64, range.contains(integer) else {
            throw wrong(
                member,
                wanted: range.count == 1
                    ? "\(range.lowerBound)"
                    : "a whole number from \(range.lowerBound) to \(range.upperBound)")
        }
        return integer
    }

    /// A list's elements, each with its place.
    func array(
        _ member: String, _ count: ClosedRange<Int>, of what: String
    ) throws(SigningError) -> [(value: JSONValue, place: String)] {
        guard let array = object[member]?.array, count.contains(array.count) else {
            if let found = object[member]?.array {
                throw malformed(
                    member, "found an array of \(found.count)",
                    "one of \(count.lowerBound) to \(count.upperBound) \(what)")
            }
            throw wrong(
                member, wanted: "an array of \(count.lowerBound) to \(count.upperBound) \(what)")
        }
        let path = path(member)
        return array.enumerated().map { ($1, "\(path)[\($0)]") }
    }

    private func malformed(_ member: String, _ found: String, _ wanted: String) -> SigningError {
        SigningError(.malformedScheme, "\(path(member)): \(found), wanted \(wanted)")
    }

    /// A list of texts, no two the same; nil where it is not there.
    func optionalTexts(
        _ member: String, _ count: ClosedRange<Int>
    ) throws(SigningError) -> [(text: String, place: String)]? {
        guard has(member) else { return nil }
        var texts: [(text: String, place: String)] = []
        for (value, place) in try array(member, count, of: "texts") {
            guard let text = value.string else {
                throw Self.wrong(value, at: place, wanted: "a text")
            }
            guard !texts.contains(where: { $0.text.utf8.elementsEqual(text.utf8) }) else {
                throw Self.wrong(value, at: place, wanted: "each text once")
            }
            texts.append((text, place))
        }
        return texts
    }

    func texts(
        _ member: String, _ count: ClosedRange<Int>
    ) throws(SigningError) -> [(text: String, place: String)] {
        guard let texts = try optionalTexts(member, count) else {
            throw wrong(
                member, wanted: "an array of \(count.lowerBound) to \(count.upperBound) texts")
        }
        return texts
    }

    func optionalObject(_ member: String) throws(SigningError) -> SchemeReader? {
        guard let value = object[member] else { return nil }
        return try SchemeReader(value, at: path(member))
    }

    func requiredObject(_ member: String) throws(SigningError) -> SchemeReader {
        guard let reader = try optionalObject(member) else {
            throw wrong(member, wanted: "an object")
        }
        return reader
    }

    /// Refuses an object of more members than there is room for.
    func demand(atMost count: Int, _ what: String) throws(SigningError) {
        guard object.count <= count else {
            throw malformed("found \(object.count) \(what), wanted at most \(count)")
        }
    }

    /// The case that a member names; a default where it is not there.
    func choice<Choice: RawRepresentable & CaseIterable>(
        _ member: String, else fallback: Choice? = nil
    ) throws(SigningError) -> Choice where Choice.RawValue == String {
        if !has(member), let fallback { return fallback }
        guard let text = object[member]?.string, let choice = Choice.named(text) else {
            throw wrong(member, wanted: Choice.known)
        }
        return choice
    }
}

extension RawRepresentable where Self: CaseIterable, RawValue == String {
    /// The case of a name, byte for byte.
    static func named(_ text: String) -> Self? {
        allCases.first { $0.rawValue.utf8.elementsEqual(text.utf8) }
    }

    /// The names of all cases, in words.
    static var known: String {
        "one of " + allCases.map(\.rawValue).joined(separator: ", ")
    }
}

extension UInt8 {
    /// A to Z and a to z.
    var isLetter: Bool { lowercased.isLowercaseLetter }

    /// ASCII that prints and is no space.
    var isVisible: Bool { self > 0x20 && self < 0x7F }
}
