import HTTPTypes
import SignetBase

/// A field of a request that `Vary` names, with its value in normal form (RFC 9111, section 4.1).
public struct SelectedField: Sendable, Hashable {
    /// The name in lower case.
    public let name: String
    /// The value in normal form; `nil` if the request doesn't have the field.
    public let value: String?

    /// Creates a field from its name and its value in normal form.
    public init(name: String, value: String?) {
        self.name = name
        self.value = value
    }

    init(_ name: HTTPField.Name, of fields: HTTPFields) {
        self.name = name.canonicalName
        value = fields[name].map { Self.normalForm($0, of: name) }
    }

    /// Whether a request has the same value, or as the first one no value.
    func matches(_ fields: HTTPFields) -> Bool {
        guard let name = HTTPField.Name(name) else { return false }
        let other = SelectedField(name, of: fields)
        guard let value, let otherValue = other.value else { return other.value == self.value }
        return sameBytes(value, otherValue)
    }

    /// Returns the fields that a response names, sorted and without repetitions.
    ///
    /// - Returns: `nil` if it names `*` or something that isn't a field: no request matches.
    static func list(
        namedBy response: HTTPResponse, of request: HTTPFields
    ) -> [SelectedField]? {
        guard let vary = response.headerFields[.vary] else { return [] }
        guard let names = fieldNames(in: vary.utf8), !names.contains(where: { $0.rawName == "*" })
        else { return nil }
        let unique = Dictionary(names.map { ($0.canonicalName, $0) }) { first, _ in first }
        return unique.values.sorted { $0.canonicalName < $1.canonicalName }
            .map { SelectedField($0, of: request) }
    }

    /// The transformations of section 4.1 that keep a value's meaning: blanks around commas are
    /// removed. `Accept-Language` and `Accept-Encoding` have neither order nor case (RFC 9110,
    /// sections 12.5.3 and 12.5.4); equal sets of members with their weights match.
    private static func normalForm(_ value: String, of name: HTTPField.Name) -> String {
        let hasList = value.utf8.contains { $0 == ASCII.comma }
        var members = hasList ? members(of: value) : [Array(value.utf8)]
        if name == .acceptLanguage || name == .acceptEncoding {
            members = members.map { $0.filter { !$0.isBlank }.map(\.lowercased) }
                .filter { !$0.isEmpty }.sorted { $0.lexicographicallyPrecedes($1) }
        }
        return String(decoding: Array(members.joined(separator: [ASCII.comma])), as: UTF8.self)
    }

    /// Splits a value at commas outside of quotes.
    private static func members(of value: String) -> [[UInt8]] {
        var members: [[UInt8]] = [[]]
        var (isQuoted, isEscaped) = (false, false)
        for byte in value.utf8 {
            if byte == ASCII.comma, !isQuoted {
                members.append([])
                continue
            }
            if byte == ASCII.quote, !isEscaped { isQuoted.toggle() }
            isEscaped = isQuoted && byte == ASCII.backslash && !isEscaped
            members[members.count - 1].append(byte)
        }
        return members.map { Array($0.trimmingBlanks()) }
    }
}
