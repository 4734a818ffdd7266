import SignetBase

/// Finds many fields by name in one list of field lines.
///
/// Searches a short list line by line. Builds an index of a long list at the first search, so that
/// many searches of a long list don't take quadratic time.
struct FieldIndex {
    /// The length up to which a list is searched without an index.
    static let longestSearched = 64

    private let fields: [SignableMessage.Field]
    /// The lines of each lower-case name; nil until the first search of a long list.
    private var byName: [[UInt8]: [SignableMessage.Field]]?

    init(_ fields: [SignableMessage.Field]) { self.fields = fields }

    /// Returns the values of a field's lines in order. The name must be in lower case.
    mutating func values(of name: [UInt8]) -> [[UInt8]] { lines(of: name).values(of: name) }

    /// Returns a field's combined value, or nil if it is missing. The name must be in lower case.
    mutating func value(of name: [UInt8]) -> [UInt8]? { lines(of: name).value(of: name) }

    /// Returns the lines of a field, or a short list that contains them.
    private mutating func lines(of name: [UInt8]) -> [SignableMessage.Field] {
        guard fields.count > Self.longestSearched else { return fields }
        let index = byName ?? Dictionary(grouping: fields) { $0.name.utf8.map(\.lowercased) }
        byName = index
        return index[name] ?? []
    }
}
