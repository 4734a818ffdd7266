/// Finds many fields by name in one list of field lines.
///
/// Searches a short list from end to end. Builds an index of a long list at the first search, so
/// that the total time grows with the size of the list, not with names times lines.
struct FieldIndex {
    /// The length up to which a list is searched without an index.
    static let longestSearched = 64

    private let fields: [SignableMessage.Field]
    /// The positions of each name's lines by lower-case name; nil until the first search.
    private var positions: [[UInt8]: [Int]]?

    init(_ fields: [SignableMessage.Field]) { self.fields = fields }

    /// Appends a field's combined value (RFC 9421, section 2.1): its lines joined by `, `.
    ///
    /// - Parameter name: The name in lower case.
    /// - Returns: Whether the field exists.
    mutating func appendValue(of name: [UInt8], to target: inout [UInt8]) -> Bool {
        guard fields.count > Self.longestSearched else {
            return fields.appendValue(of: name, to: &target)
        }
        guard let found = lines(of: name) else { return false }
        for (index, position) in found.enumerated() {
            if index > 0 { target.append(", ") }
            target.append(contentsOf: fields[position].value)
        }
        return true
    }

    /// Returns the values of a field's lines in order. The name must be in lower case.
    mutating func values(of name: [UInt8]) -> [[UInt8]] {
        guard fields.count > Self.longestSearched else { return fields.values(of: name) }
        return (lines(of: name) ?? []).map { fields[$0].value }
    }

    /// Returns a field's combined value, or nil if it is missing. The name must be in lower case.
    mutating func value(of name: [UInt8]) -> [UInt8]? {
        guard fields.count > Self.longestSearched else { return fields.value(of: name) }
        var value: [UInt8] = []
        return appendValue(of: name, to: &value) ? value : nil
    }

    private mutating func lines(of name: [UInt8]) -> [Int]? {
        if let positions { return positions[name] }
        var made: [[UInt8]: [Int]] = [:]
        for index in fields.indices {
            made[fields[index].name.utf8.map(\.lowercased), default: []].append(index)
        }
        positions = made
        return made[name]
    }
}
