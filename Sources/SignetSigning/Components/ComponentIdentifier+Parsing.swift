import SignetBase

extension ComponentIdentifier {
    /// The largest number of components in a list.
    static let maximumCount = 256

    /// Parses a list with commas, of bare names or of identifiers as written in RFC 9421.
    ///
    /// - Parameter list: For example `@method,content-type` or `"@query-param";name="q","x";req`.
    ///   An empty text is an empty list. The case of bare field names doesn't matter.
    /// - Returns: The components in the list's order.
    /// - Throws: `SigningError` with `malformed-component`, `duplicate-component` or
    ///   `unsupported-component`.
    public static func list(parsing list: String) throws(SigningError) -> [ComponentIdentifier] {
        guard !list.utf8.allSatisfy({ $0 == ASCII.space }) else { return [] }
        let entries = entries(of: Array(list.utf8))
        guard entries.count <= maximumCount else { throw tooMany(entries.count) }
        var result = DistinctComponents()
        for entry in entries {
            let component =
                entry.first == ASCII.quote
                ? try quoted(entry)
                : try ComponentIdentifier(String(decoding: entry, as: UTF8.self).asciiLowercased)
            try result.add(component)
        }
        return result.list
    }

    /// Splits the list at the commas outside quotes.
    private static func entries(of list: [UInt8]) -> [[UInt8]] {
        var entries: [[UInt8]] = [[]]
        var isQuoted = false
        var isEscaped = false
        for byte in list {
            if byte == ASCII.comma, !isQuoted {
                entries.append([])
                continue
            }
            entries[entries.count - 1].append(byte)
            if byte == ASCII.quote, !isEscaped { isQuoted.toggle() }
            isEscaped = isQuoted && byte == ASCII.backslash && !isEscaped
        }
        return entries.map { $0.trimmingWhiteSpace() }
    }

    private static func quoted(_ text: [UInt8]) throws(SigningError) -> ComponentIdentifier {
        let components: [ComponentIdentifier]
        do throws(SigningError) {
            let list = Array("l=(".utf8) + text + [ASCII.rightParenthesis]
            let dictionary = try StructuredDictionary(parsing: list, field: "the list")
            guard dictionary.members.count == 1,
                case .innerList(let range) = dictionary.members[0].value,
                dictionary.members[0].parameters.isEmpty
            else { throw notAnItem }
            components = try Self.components(of: dictionary, in: range)
        } catch  where error.code == .malformedSignature {
            throw notAnItem
        }
        guard components.count == 1 else { throw notAnItem }
        return components[0]
    }

    private static var notAnItem: SigningError {
        SigningError(
            .malformedComponent,
            "found a malformed quoted component, expected one such as "
                + "\"@query-param\";name=\"q\"")
    }

    static func tooMany(_ count: Int) -> SigningError {
        SigningError(
            .malformedComponent,
            "found \(count) covered components, expected at most \(maximumCount)")
    }

    /// Returns the components of an inner list (RFC 9421, section 2.5).
    ///
    /// - Throws: `SigningError` with `malformed-component`, `unsupported-component` and
    ///   `duplicate-component`.
    static func components(
        of dictionary: StructuredDictionary, in list: Range<Int>
    ) throws(SigningError) -> [ComponentIdentifier] {
        let items = try dictionary.items(of: list)
        guard items.count <= maximumCount else { throw tooMany(items.count) }
        var components = DistinctComponents()
        for item in items {
            guard case .string(let name) = item.value else {
                throw SigningError(.malformedComponent, "a covered component isn't a string")
            }
            let parameters = try item.parameters.map { parameter throws(SigningError) in
                try Parameter(parameter, of: dictionary)
            }
            let component = try ComponentIdentifier(dictionary.string(name), parameters: parameters)
            try components.add(component)
        }
        return components.list
    }
}

extension ComponentIdentifier.Parameter {
    /// - Throws: `SigningError` with `unsupported-component` for an unknown name, and with
    ///   `malformed-component` for a value of the wrong type.
    init(
        _ parameter: StructuredDictionary.Parameter, of dictionary: StructuredDictionary
    ) throws(SigningError) {
        let word = String(decoding: dictionary[parameter.name], as: UTF8.self)
        switch (word, parameter.value) {
        case ("sf", .yes): self = .sf
        case ("bs", .yes): self = .bs
        case ("tr", .yes): self = .tr
        case ("req", .yes): self = .req
        case ("key", .string(let range)): self = .key(dictionary.string(range))
        case ("name", .string(let range)): self = .name(dictionary.string(range))
        case ("sf", _), ("bs", _), ("tr", _), ("req", _):
            throw SigningError(.malformedComponent, "\(word): found a value, expected a flag")
        case ("key", _), ("name", _):
            throw SigningError(.malformedComponent, "\(word): expected a string")
        default:
            throw SigningError(
                .unsupportedComponent,
                "found an unknown component parameter, expected sf, key, bs, tr, req or name")
        }
    }
}
