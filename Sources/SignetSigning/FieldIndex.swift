/// Finds fields by name, for whoever looks up many names in one list of field lines.
///
/// A short list is searched from end to end. A long one is indexed at the first look-up, so that the
/// time for all names together grows with the size of the list, not with names times lines.
struct FieldIndex {
    /// The longest list that is searched.
    static let longestSearched = 64

    private let fields: [SignableMessage.Field]
    /// The positions of each name's lines, by the name in lower case; nil until they are needed.
    private var positions: [[UInt8]: [Int]]?

    init(_ fields: [SignableMessage.Field]) { self.fields = fields }

    /// Appends a field's combined value (RFC 9421, section 2.1): its lines joined by `, `.
    ///
    /// - Parameter name: In lower case.
    /// - Returns: Whether there is such a field.
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

    /// Returns the values of a field's lines in their order; its name is in lower case.
    mutating func values(of name: [UInt8]) -> [[UInt8]] {
        guard fields.count > Self.longestSearched else { return fields.values(of: name) }
        return (lines(of: name) ?? []).map { fields[$0].value }
    }

    /// Returns a field's combined value, or nil without it; its name is in lower case.
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
