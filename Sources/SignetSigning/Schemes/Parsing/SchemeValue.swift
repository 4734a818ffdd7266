import SignetBase
import SignetCrypto
import SignetJSON

/// The limits of a scheme document. Its JSON Schema states the same numbers.
enum SchemeLimits {
    static let nameBytes = 64
    static let templateBytes = 4096
    static let settings = 64
    static let values = 64
    static let injections = 32
    static let placements = 8
    static let alternatives = 8
    static let joined = 64
    static let choices = 16
    static let names = 128
    static let entries = 16
    static let links = 16
    static let added = 32
    /// The number of placeholders in the signed text after all values are expanded. Without this
    /// limit, values that each use the previous one twice would exhaust the memory.
    static let weight = 256
    /// The longest lifetime of a signature, in seconds: one week.
    static let lifetime: Int64 = 604_800
}

/// A value of a scheme document, or the place of a missing one. Its errors name the place by a
/// JSONPath (RFC 9535).
struct SchemeValue {
    /// The value, or `nil` if it is missing.
    let json: JSONValue?
    /// The JSONPath.
    let path: String

    /// The value itself, or `nil` if it is missing.
    var ifPresent: SchemeValue? { json == nil ? nil : self }

    // MARK: Errors

    func malformed(_ problem: String) -> SigningError {
        SigningError(.malformedScheme, "\(path): \(problem)")
    }

    /// Returns the error for a value that is invalid or missing.
    func wrong(expected: String) -> SigningError {
        malformed("found \(found), expected \(expected)")
    }

    /// The value in words.
    private var found: String {
        switch json {
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

    // MARK: Objects

    /// A member. It is missing if the value is not an object.
    subscript(member: String) -> SchemeValue {
        SchemeValue(json: json?.object?[member], path: path(to: member))
    }

    func has(_ member: String) -> Bool { json?.object?[member] != nil }

    private func path(to member: String) -> String {
        let isPlain = !member.isEmpty && member.utf8.allSatisfy(\.isNameByte)
        return isPlain ? "\(path).\(member)" : "\(path)[\"\(printable(member))\"]"
    }

    func object() throws(SigningError) -> JSONObject {
        guard let object = json?.object else { throw wrong(expected: "an object") }
        return object
    }

    /// Throws if the value is not an object, or has an unknown member.
    func requireMembers(in known: [String]) throws(SigningError) {
        for name in try object().memberNames
        where !known.contains(where: { sameBytes($0, name) }) {
            throw self[name].malformed(
                "found an unknown member, expected one of " + known.joined(separator: ", "))
        }
    }

    /// Returns an object's members.
    func members(
        atMost count: Int = .max, of kind: String = "members"
    ) throws(SigningError) -> [(name: String, value: SchemeValue)] {
        let object = try object()
        guard object.count <= count else {
            throw malformed("found \(object.count) \(kind), expected at most \(count)")
        }
        return object.map { ($0, SchemeValue(json: $1, path: path(to: $0))) }
    }

    // MARK: Strings, flags and numbers

    func string(expected: String = "a string") throws(SigningError) -> String {
        guard let string = json?.string else { throw wrong(expected: expected) }
        return string
    }

    /// Returns the UTF-8 bytes of a string whose length and bytes are restricted.
    func bytes(
        count: ClosedRange<Int>, expected: String, allowing isAllowed: (UInt8) -> Bool
    ) throws(SigningError) -> [UInt8] {
        let bytes = Array(try string(expected: expected).utf8)
        guard count.contains(bytes.count), bytes.allSatisfy(isAllowed) else {
            throw wrong(expected: expected)
        }
        return bytes
    }

    /// Returns a Boolean, or `false` if it is missing.
    func flag() throws(SigningError) -> Bool {
        guard let json else { return false }
        guard let flag = json.bool else { throw wrong(expected: "true or false") }
        return flag
    }

    func integer(in range: ClosedRange<Int64>) throws(SigningError) -> Int64 {
        guard let integer = json?.number?.int64, range.contains(integer) else {
            throw wrong(
                expected: range.count == 1
                    ? "\(range.lowerBound)"
                    : "a whole number from \(range.lowerBound) to \(range.upperBound)")
        }
        return integer
    }

    // MARK: Arrays

    func elements(
        count: ClosedRange<Int>, of kind: String
    ) throws(SigningError) -> [SchemeValue] {
        let expected = "\(count.lowerBound) to \(count.upperBound) \(kind)"
        guard let array = json?.array else { throw wrong(expected: "an array of \(expected)") }
        guard count.contains(array.count) else {
            throw malformed("found an array of \(array.count), expected one of \(expected)")
        }
        return array.enumerated().map { SchemeValue(json: $1, path: "\(path)[\($0)]") }
    }

    /// Returns the strings of an array, which must be distinct, each with its place.
    func strings(
        count: ClosedRange<Int>
    ) throws(SigningError) -> [(text: String, place: SchemeValue)] {
        var strings: [(text: String, place: SchemeValue)] = []
        for element in try elements(count: count, of: "strings") {
            let string = try element.string()
            guard !strings.contains(where: { sameBytes($0.text, string) }) else {
                throw element.wrong(expected: "no duplicate")
            }
            strings.append((string, element))
        }
        return strings
    }

    // MARK: Choices

    /// Returns the case that the value names, or the default if the value is missing.
    func choice<Choice: RawRepresentable & CaseIterable>(
        default fallback: Choice? = nil
    ) throws(SigningError) -> Choice where Choice.RawValue == String {
        if json == nil, let fallback { return fallback }
        guard let text = json?.string, let choice = Choice.named(text) else {
            throw wrong(
                expected: "one of " + Choice.allCases.map(\.rawValue).joined(separator: ", "))
        }
        return choice
    }

    /// Returns the cases whose names an array lists. The names must be distinct.
    func choices<Choice: RawRepresentable & CaseIterable>() throws(SigningError) -> [Choice]
    where Choice.RawValue == String {
        let names = try strings(count: 1...Choice.allCases.count)
        return try names.map { name throws(SigningError) in try name.place.choice() }
    }
}

extension RawRepresentable where Self: CaseIterable, RawValue == String {
    /// Returns the case of a name, compared byte for byte.
    static func named(_ name: String) -> Self? {
        allCases.first { sameBytes($0.rawValue, name) }
    }
}

extension UInt8 {
    /// Whether the byte is a letter, a digit, `-` or `_`, as in the names of settings and values.
    var isNameByte: Bool { isLetterOrDigit || self == ASCII.minus || self == ASCII.underscore }
}
