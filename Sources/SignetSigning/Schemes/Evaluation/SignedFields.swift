internal import SignetBase

/// The fields that a scheme signs, sorted by name, with the lines of one name combined into one.
struct SignedFields {
    /// The maximum number of fields that a signature can cover.
    static let maximumCount = 256

    /// Each field's name in lower case, and its value.
    private(set) var pairs: [(name: [UInt8], value: [UInt8])] = []
    /// `name:value` and a line feed for each field.
    private(set) var lines: [UInt8] = []
    /// The names, separated by semicolons.
    private(set) var names: [UInt8] = []

    /// Collects the fields of a message.
    ///
    /// - Parameters:
    ///   - message: The message.
    ///   - rule: Selects the fields and says how their lines are written.
    ///   - received: The names that a received signature lists, or `nil` if the rule selects the
    ///     fields.
    ///   - scheme: The scheme's name, for errors.
    /// - Throws: `missing-component` for a missing field that is listed or required,
    ///   `malformed-message` for more than 256 fields.
    init(
        of message: SignableMessage, by rule: CompiledScheme.HeaderRule, received: [[UInt8]]?,
        scheme: String
    ) throws(SigningError) {
        let found = Self.fields(of: message) { received != nil || rule.selects($0) }
        lines.reserveCapacity(512)
        names.reserveCapacity(128)
        pairs.reserveCapacity(found.count)
        // Both lists are sorted. Skip the fields between the listed ones.
        var listed = received?[...]
        var start = 0
        while start < found.count {
            let name = found[start].name
            let end = found[start...].firstIndex { $0.name != name } ?? found.count
            let fieldLines = found[start..<end]
            start = end
            if listed != nil {
                guard listed?.first == name else { continue }
                listed?.removeFirst()
            }
            append(name, value: Self.value(of: fieldLines, by: rule))
            guard pairs.count <= Self.maximumCount else {
                throw SigningError(
                    .malformedMessage,
                    "\(scheme) would sign more than \(Self.maximumCount) fields"
                )
            }
        }
        if let missing = listed?.first { throw SigningError.missing(field: missing) }
        for name in rule.required where !pairs.contains(where: { $0.name == name }) {
            throw SigningError.missing(field: name)
        }
    }

    /// Returns the selected field lines, sorted by name. Lines with the same name keep their order.
    private static func fields(
        of message: SignableMessage, where isSelected: ([UInt8]) -> Bool
    ) -> [(name: [UInt8], value: [UInt8], index: Int)] {
        var found: [(name: [UInt8], value: [UInt8], index: Int)] = []
        found.reserveCapacity(message.fields.count + 1)
        // The request's authority replaces the field Host.
        if let authority = message.request?.authority, isSelected(SignableMessage.host) {
            found.append((SignableMessage.host, authority, -1))
        }
        for (index, field) in message.fields.enumerated() {
            let name = field.name.utf8.map(\.lowercased)
            if name != SignableMessage.host, isSelected(name) {
                found.append((name, field.value, index))
            }
        }
        return found.sorted { left, right in
            left.name == right.name
                ? left.index < right.index : left.name.lexicographicallyPrecedes(right.name)
        }
    }

    /// Returns the values of a field's lines, joined by commas.
    private static func value(
        of lines: ArraySlice<(name: [UInt8], value: [UInt8], index: Int)>,
        by rule: CompiledScheme.HeaderRule
    ) -> [UInt8] {
        func written(_ value: [UInt8]) -> [UInt8] {
            rule.collapsesSpaces ? collapsed(value) : value
        }
        if lines.count == 1 { return written(lines[lines.startIndex].value) }
        var values = lines.map { written($0.value) }
        if rule.sortsValues { values.sort { $0.lexicographicallyPrecedes($1) } }
        return Array(values.joined(separator: [ASCII.comma]))
    }

    private mutating func append(_ name: [UInt8], value: [UInt8]) {
        pairs.append((name, value))
        if !names.isEmpty { names.append(ASCII.semicolon) }
        names.append(contentsOf: name)
        lines.append(contentsOf: name)
        lines.append(ASCII.colon)
        lines.append(contentsOf: value)
        lines.append(ASCII.lineFeed)
    }

    /// Returns a value with each run of spaces and tabs as one space.
    private static func collapsed(_ value: [UInt8]) -> [UInt8] {
        guard value.contains(where: \.isBlank) else { return value }
        var result: [UInt8] = []
        result.reserveCapacity(value.count)
        for byte in value where !(byte.isBlank && result.last == ASCII.space) {
            result.append(byte.isBlank ? ASCII.space : byte)
        }
        return result
    }
}

extension SigningError {
    /// Returns the error of a message without a field that the scheme signs.
    static func missing(field name: [UInt8]) -> SigningError {
        SigningError(
            .missingComponent, "the message has no \(String(decoding: name, as: UTF8.self))")
    }
}
