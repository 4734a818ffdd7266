import SignetBase

/// The fields that a scheme signs, sorted by name, with the lines of one name combined into one.
struct SignedFields {
    /// The maximum number of fields that a signature can cover.
    static let maximumCount = 256

    /// A field line of the message, or all lines of one name, joined by commas.
    struct Field {
        /// The name in lower case.
        let name: [UInt8]
        fileprivate(set) var value: [UInt8]
        /// The position of the first line in the message. The authority comes first.
        fileprivate let position: Int
    }

    private(set) var fields: [Field]
    /// `name:value` and a line feed for each field.
    private(set) var lines: [UInt8] = []
    /// The names, separated by semicolons.
    private(set) var names: [UInt8] = []

    /// Collects the fields of a message.
    ///
    /// - Parameters:
    ///   - message: The message.
    ///   - rule: Selects the fields and says how their lines are written.
    ///   - received: The names that a received signature lists, at most `maximumCount`, or `nil` if
    ///     the rule selects the fields.
    ///   - scheme: The scheme's name, for errors.
    /// - Throws: `missing-component` for a missing field that is listed or required,
    ///   `malformed-message` for more than 256 fields.
    init(
        of message: SignableMessage, by rule: CompiledScheme.HeaderRule, received: [[UInt8]]?,
        scheme: String
    ) throws(SigningError) {
        fields = Self.lines(of: message, by: rule, received: received)
        joinLinesOfOneName()
        guard fields.count <= Self.maximumCount else {
            throw SigningError(
                .malformedMessage, "\(scheme) would sign more than \(Self.maximumCount) fields")
        }
        try requireFields(named: received ?? [])
        try requireFields(named: rule.required)
        write()
    }

    private func requireFields(named names: [[UInt8]]) throws(SigningError) {
        for name in names where !fields.contains(where: { $0.name == name }) {
            throw SigningError.missing(field: name)
        }
    }

    /// Returns the selected field lines, sorted by name. The rule says whether lines of one name
    /// are sorted by value too, or keep their order.
    private static func lines(
        of message: SignableMessage, by rule: CompiledScheme.HeaderRule, received: [[UInt8]]?
    ) -> [Field] {
        var lines: [Field] = []
        lines.reserveCapacity(message.fields.count + 1)
        func add(_ name: [UInt8], value: [UInt8]) {
            let value = rule.collapsesSpaces ? collapsed(value) : value
            lines.append(Field(name: name, value: value, position: lines.count))
        }
        // The request's authority replaces the field Host.
        if let authority = message.request?.authority,
            received?.contains(SignableMessage.host) ?? rule.selects(SignableMessage.host)
        {
            add(SignableMessage.host, value: authority)
        }
        let fields = message.fields
        for index in fields.indices {
            let name = fields[index].name
            if name.isSame(asLowercase: SignableMessage.host) { continue }
            if let received {
                guard let known = received.first(where: name.isSame(asLowercase:)) else { continue }
                add(known, value: fields[index].value)
            } else {
                let name = name.lowercasedBytes
                if rule.selects(name) { add(name, value: fields[index].value) }
            }
        }
        lines.sort { left, right in
            if left.name != right.name { return left.name.lexicographicallyPrecedes(right.name) }
            return rule.sortsValues
                ? left.value.lexicographicallyPrecedes(right.value) : left.position < right.position
        }
        return lines
    }

    private mutating func joinLinesOfOneName() {
        guard !fields.isEmpty else { return }
        var last = 0
        for index in fields.indices.dropFirst() {
            if fields[index].name == fields[last].name {
                fields[last].value.append(ASCII.comma)
                fields[last].value.append(contentsOf: fields[index].value)
            } else {
                last += 1
                fields.swapAt(last, index)
            }
        }
        fields.removeLast(fields.count - last - 1)
    }

    private mutating func write() {
        lines.reserveCapacity(512)
        names.reserveCapacity(128)
        // Indices, because a loop over the fields would copy each.
        for index in fields.indices {
            if index > 0 { names.append(ASCII.semicolon) }
            names.append(contentsOf: fields[index].name)
            lines.append(contentsOf: fields[index].name)
            lines.append(ASCII.colon)
            lines.append(contentsOf: fields[index].value)
            lines.append(ASCII.lineFeed)
        }
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
