import SignetBase

/// The names of members in snake case; `JSONConventions.Keys.snakeCase` states the rule.
enum SnakeCase {
    /// Returns the member name for a property name. A name without capital letters stays unchanged.
    static func memberName(of name: String) -> String {
        let bytes = Array(name.utf8)
        guard bytes.contains(where: \.isUppercaseLetter) else { return name }
        var result: [UInt8] = []
        result.reserveCapacity(bytes.count + 8)
        for (index, byte) in bytes.enumerated() {
            if byte.isUppercaseLetter, beginsWord(at: index, in: bytes) {
                result.append(underscore)
            }
            result.append(byte.isUppercaseLetter ? byte | 0x20 : byte)
        }
        return String(decoding: result, as: UTF8.self)
    }

    /// Returns names of properties that could be written as this member, the likeliest one first.
    /// The last one is the member's name itself.
    static func propertyNames(of member: String) -> [String] {
        guard member.utf8.contains(underscore) else { return [member] }
        let lead = member.utf8.prefix { $0 == underscore }
        let words = member.utf8.dropFirst(lead.count)
            .split(separator: underscore, omittingEmptySubsequences: false)
        guard let first = words.first, !words.contains(where: \.isEmpty), words.count <= 6 else {
            return [member]
        }
        var names = [Array(lead) + Array(first)]
        for word in words.dropFirst() {
            var spellings = [capitalised(word, count: 1)]
            if word.count > 1 { spellings.append(capitalised(word, count: word.count)) }
            if word.count > 2, word.last == UInt8(ascii: "s") {
                spellings.append(capitalised(word, count: word.count - 1))
            }
            names = names.flatMap { name in spellings.map { name + $0 } }
        }
        return names.map { String(decoding: $0, as: UTF8.self) } + [member]
    }

    private static let underscore = UInt8(ascii: "_")

    /// Whether a capital letter begins a word that an underscore must separate from the one before
    /// it.
    private static func beginsWord(at index: Int, in bytes: [UInt8]) -> Bool {
        guard index > 0, bytes[index - 1] != underscore else { return false }
        guard bytes[index - 1].isUppercaseLetter else { return true }
        // The last of several capitals: it begins the word of the small letters after it.
        guard index + 1 < bytes.count, bytes[index + 1].isLowercaseLetter else { return false }
        let isPlural =
            bytes[index + 1] == UInt8(ascii: "s")
            && (index + 2 == bytes.count || !bytes[index + 2].isLowercaseLetter)
        return !isPlural
    }

    private static func capitalised(_ word: Substring.UTF8View, count: Int) -> [UInt8] {
        word.enumerated().map { index, byte in
            index < count && byte.isLowercaseLetter ? byte & ~0x20 : byte
        }
    }
}

extension JSONConventions.Keys {
    /// Returns the name of a key's member.
    @inline(__always)
    func memberName<Key: CodingKey>(of key: Key) -> String {
        renames(Key.self) ? SnakeCase.memberName(of: key.stringValue) : key.stringValue
    }

    /// Whether members get other names than their keys.
    @inline(__always)
    func renames<Key: CodingKey>(_ type: Key.Type) -> Bool {
        switch self {
        case .asIs: false
        case .snakeCase: !DictionaryKeys.contains(type)
        }
    }
}

/// The key type of dictionaries, which is private in the standard library.
///
/// An encoder or decoder sees the same containers for a dictionary and for a type with properties,
/// but must not rename the members of a dictionary.
enum DictionaryKeys {
    /// Returns whether a container's keys are those of a dictionary.
    static func contains<Key: CodingKey>(_ type: Key.Type) -> Bool {
        ObjectIdentifier(type) == identity
    }

    private static let identity: ObjectIdentifier? = {
        let probe = Probe()
        _ = try? [String: Int](from: probe)
        return probe.found
    }()

    /// Records the key type that a type requests.
    private final class Probe: Decoder {
        struct Stop: Error {}

        private(set) var found: ObjectIdentifier?
        var codingPath: [any CodingKey] { [] }
        var userInfo: [CodingUserInfoKey: Any] { [:] }

        func container<Key: CodingKey>(
            keyedBy type: Key.Type
        ) throws -> KeyedDecodingContainer<Key> {
            found = ObjectIdentifier(type)
            throw Stop()
        }

        func unkeyedContainer() throws -> any UnkeyedDecodingContainer { throw Stop() }
        func singleValueContainer() throws -> any SingleValueDecodingContainer { throw Stop() }
    }
}
