internal import SignetBase
internal import SignetCrypto
internal import SignetJSON

/// The limits of a scheme document. Its JSON Schema states the same numbers.
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
    /// The number of placeholders in the signed text after all values are expanded. Without this
    /// limit, values that each use the previous one twice would exhaust the memory.
    static let weight = 256
    /// The longest lifetime of a signature, in seconds: one week.
    static let lifetime: Int64 = 604_800
}

/// Reads the members of one object of a scheme document. Its errors name the member by a JSONPath
/// (RFC 9535).
struct SchemeReader {
    let object: JSONObject
    /// The object's JSONPath.
    let path: String

    init(_ object: JSONObject, at path: String) {
        self.object = object
        self.path = path
    }

    init(_ value: JSONValue, at path: String) throws(SigningError) {
        guard let object = value.object else {
            throw Self.wrong(value, at: path, expected: "an object")
        }
        self.init(object, at: path)
    }

    // MARK: Errors

    func malformed(_ problem: String) -> SigningError {
        SigningError(.malformedScheme, "\(path): \(problem)")
    }

    /// Returns the error for a member that is invalid or missing.
    func wrong(_ member: String, expected: String) -> SigningError {
        Self.wrong(object[member], at: path(to: member), expected: expected)
    }

    static func wrong(_ value: JSONValue?, at path: String, expected: String) -> SigningError {
        SigningError(.malformedScheme, "\(path): found \(describe(value)), expected \(expected)")
    }

    private static func describe(_ value: JSONValue?) -> String {
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

    /// Returns the JSONPath of a member.
    func path(to member: String) -> String {
        let isPlain = !member.isEmpty && member.utf8.allSatisfy(\.isNameByte)
        return isPlain ? "\(path).\(member)" : "\(path)[\"\(printable(member))\"]"
    }

    /// Throws if the object has an unknown member.
    func requireMembers(in known: [String]) throws(SigningError) {
        for name in object.memberNames
        where !known.contains(where: { $0.utf8.elementsEqual(name.utf8) }) {
            throw SigningError(
                .malformedScheme,
                "\(path(to: name)): found an unknown member, expected one of "
                    + known.joined(separator: ", "))
        }
    }

    /// Throws if the object has more members than allowed.
    func requireCount(atMost count: Int, of members: String) throws(SigningError) {
        guard object.count <= count else {
            throw malformed("found \(object.count) \(members), expected at most \(count)")
        }
    }

    func has(_ member: String) -> Bool { object[member] != nil }

    // MARK: Members

    func value(_ member: String, expected: String) throws(SigningError) -> JSONValue {
        guard let value = object[member] else { throw wrong(member, expected: expected) }
        return value
    }

    func optionalString(
        _ member: String, expected: String = "a string"
    ) throws(SigningError) -> String? {
        guard let value = object[member] else { return nil }
        guard let string = value.string else { throw wrong(member, expected: expected) }
        return string
    }

    func string(_ member: String) throws(SigningError) -> String {
        guard let string = try optionalString(member) else {
            throw wrong(member, expected: "a string")
        }
        return string
    }

    /// Returns the UTF-8 bytes of a string whose length and bytes are restricted.
    func optionalBytes(
        _ member: String, count: ClosedRange<Int>, expected: String,
        allowing isAllowed: (UInt8) -> Bool
    ) throws(SigningError) -> [UInt8]? {
        guard let string = try optionalString(member, expected: expected) else { return nil }
        let bytes = Array(string.utf8)
        guard count.contains(bytes.count), bytes.allSatisfy(isAllowed) else {
            throw wrong(member, expected: expected)
        }
        return bytes
    }

    /// Returns a Boolean member, or `false` if it is missing.
    func flag(_ member: String) throws(SigningError) -> Bool {
        guard let value = object[member] else { return false }
        guard case .bool(let flag) = value else { throw wrong(member, expected: "true or false") }
        return flag
    }

    func integer(_ member: String, in range: ClosedRange<Int64>) throws(SigningError) -> Int64 {
        guard let integer = object[member]?.number?.int64, range.contains(integer) else {
            throw wrong(
                member,
                expected: range.count == 1
                    ? "\(range.lowerBound)"
                    : "a whole number from \(range.lowerBound) to \(range.upperBound)")
        }
        return integer
    }

    /// Returns an array's elements, each with its JSONPath.
    func array(
        _ member: String, count: ClosedRange<Int>, of elements: String
    ) throws(SigningError) -> [(value: JSONValue, path: String)] {
        let expected = "\(count.lowerBound) to \(count.upperBound) \(elements)"
        guard let array = object[member]?.array else {
            throw wrong(member, expected: "an array of \(expected)")
        }
        let path = path(to: member)
        guard count.contains(array.count) else {
            throw SigningError(
                .malformedScheme,
                "\(path): found an array of \(array.count), expected one of \(expected)")
        }
        return array.enumerated().map { ($1, "\(path)[\($0)]") }
    }

    /// Returns an array of distinct strings, or `nil` if the member is missing.
    func optionalStrings(
        _ member: String, count: ClosedRange<Int>
    ) throws(SigningError) -> [(text: String, path: String)]? {
        guard has(member) else { return nil }
        var strings: [(text: String, path: String)] = []
        for (value, path) in try array(member, count: count, of: "strings") {
            guard let string = value.string else {
                throw Self.wrong(value, at: path, expected: "a string")
            }
            guard !strings.contains(where: { $0.text.utf8.elementsEqual(string.utf8) }) else {
                throw Self.wrong(value, at: path, expected: "no duplicate")
            }
            strings.append((string, path))
        }
        return strings
    }

    func strings(
        _ member: String, count: ClosedRange<Int>
    ) throws(SigningError) -> [(text: String, path: String)] {
        guard let strings = try optionalStrings(member, count: count) else {
            throw wrong(
                member,
                expected: "an array of \(count.lowerBound) to \(count.upperBound) strings")
        }
        return strings
    }

    func optionalObject(_ member: String) throws(SigningError) -> SchemeReader? {
        guard let value = object[member] else { return nil }
        return try SchemeReader(value, at: path(to: member))
    }

    func requiredObject(_ member: String) throws(SigningError) -> SchemeReader {
        guard let reader = try optionalObject(member) else {
            throw wrong(member, expected: "an object")
        }
        return reader
    }

    /// Returns the case that a member names, or the default if the member is missing.
    func choice<Choice: RawRepresentable & CaseIterable>(
        _ member: String, default fallback: Choice? = nil
    ) throws(SigningError) -> Choice where Choice.RawValue == String {
        if !has(member), let fallback { return fallback }
        guard let text = object[member]?.string, let choice = Choice.named(text) else {
            throw wrong(member, expected: Choice.oneOfAll)
        }
        return choice
    }

    /// Returns a required array of different names, each of one of a type's values.
    func choices<Choice: RawRepresentable & CaseIterable>(
        _ member: String
    ) throws(SigningError) -> [Choice] where Choice.RawValue == String {
        var choices: [Choice] = []
        for (text, path) in try strings(member, count: 1...Choice.allCases.count) {
            guard let choice = Choice.named(text) else {
                throw Self.wrong(.string(text), at: path, expected: Choice.oneOfAll)
            }
            choices.append(choice)
        }
        return choices
    }
}

extension RawRepresentable where Self: CaseIterable, RawValue == String {
    /// Returns the case of a name, compared byte for byte.
    static func named(_ name: String) -> Self? {
        allCases.first { $0.rawValue.utf8.elementsEqual(name.utf8) }
    }

    /// `one of`, then the names of all cases.
    static var oneOfAll: String {
        "one of " + allCases.map(\.rawValue).joined(separator: ", ")
    }
}

extension UInt8 {
    /// Whether the byte is A to Z or a to z.
    var isLetter: Bool { lowercased.isLowercaseLetter }

    /// Whether the byte is printable ASCII other than the space.
    var isVisible: Bool { self > 0x20 && self < 0x7F }

    /// Whether the byte is a letter, a digit, `-` or `_`, as in the names of settings and values.
    var isNameByte: Bool { isLetter || isDigit || self == ASCII.minus || self == 0x5F }
}
