internal import RawStructuredFieldValues

/// What a signature covers, by name (RFC 9421, section 2): a field in lower case, or a derived
/// component that begins with `@`.
public struct ComponentIdentifier: Sendable, Hashable, CustomStringConvertible {
    /// The name without quotes.
    public let name: String
    let nameBytes: [UInt8]
    let source: Source

    /// Where a component's value comes from.
    enum Source: Sendable, Hashable {
        case method, authority, scheme, targetURI, requestTarget, path, query, status, field
    }

    /// Names a component without parameters.
    ///
    /// - Parameter name: A field name in lower case, or one of `@method`, `@authority`, `@scheme`,
    ///   `@target-uri`, `@request-target`, `@path`, `@query` and `@status`.
    /// - Throws: `SigningError` with `unsupported-component` for another derived component and with
    ///   `malformed-component` for what is no lower-case field name.
    public init(_ name: String) throws(SigningError) {
        self.name = name
        self.nameBytes = Array(name.utf8)
        guard name.utf8.first == ASCII.at else {
            guard !nameBytes.isEmpty,
                nameBytes.allSatisfy({ $0.isToken && $0.lowercased == $0 })
            else {
                throw SigningError(
                    .malformedComponent, "a covered field's name is no token in lower case")
            }
            self.source = .field
            return
        }
        guard let source = Self.derived[name] else {
            throw SigningError(
                .unsupportedComponent,
                nameBytes.allSatisfy { $0.isToken || $0 == ASCII.at }
                    ? "\(name) cannot be covered: wanted a field or one of "
                        + Self.derived.keys.sorted().joined(separator: " ")
                    : "a derived component that nobody knows")
        }
        self.source = source
    }

    private static let derived: [String: Source] = [
        "@method": .method, "@authority": .authority, "@scheme": .scheme,
        "@target-uri": .targetURI, "@request-target": .requestTarget, "@path": .path,
        "@query": .query, "@status": .status,
    ]

    /// The identifier as RFC 9421 writes it, with quotes.
    public var description: String { "\"\(name)\"" }

    /// Whether both name the same component, byte for byte.
    public static func == (left: Self, right: Self) -> Bool { left.nameBytes == right.nameBytes }

    /// Hashes the name's bytes.
    public func hash(into hasher: inout Hasher) { hasher.combine(nameBytes) }
}

extension ComponentIdentifier {
    /// Reads a comma list: bare names, or identifiers quoted as RFC 9421 writes them.
    ///
    /// - Parameter list: Such as `@method,content-type` or `"@method","content-type"`; the empty
    ///   text is the empty list. The case of bare field names does not matter.
    /// - Returns: The components in the list's order.
    /// - Throws: `SigningError` with `malformed-component`, `duplicate-component` or
    ///   `unsupported-component`; parameters, such as `;sf`, are not available yet.
    public static func list(parsing list: String) throws(SigningError) -> [ComponentIdentifier] {
        guard !list.utf8.allSatisfy({ $0 == ASCII.space }) else { return [] }
        var result: [ComponentIdentifier] = []
        for entry in entries(of: Array(list.utf8)) {
            let component =
                entry.first == ASCII.quote
                ? try quoted(entry)
                : try ComponentIdentifier(String(decoding: entry, as: UTF8.self).asciiLowercased)
            try result.add(component)
        }
        return result
    }

    /// The list's parts between its commas, those inside quotes apart.
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
        let item: Item
        do {
            var parser = StructuredFieldValueParser(text)
            item = try parser.parseItemFieldValue()
        } catch {
            throw SigningError(
                .malformedComponent, "a quoted component is no item of RFC 9651 (\(error))")
        }
        guard case .string(let name) = item.rfc9651BareItem else {
            throw SigningError(.malformedComponent, "a quoted component is no string")
        }
        guard item.rfc9651Parameters.isEmpty else {
            throw SigningError(
                .unsupportedComponent,
                "\(name): parameters of components (sf, key, bs, req, tr, name) cannot be used yet")
        }
        return try ComponentIdentifier(name)
    }
}

extension [ComponentIdentifier] {
    /// Appends a component that is not there yet.
    mutating func add(_ component: ComponentIdentifier) throws(SigningError) {
        guard !contains(component) else {
            throw SigningError(.duplicateComponent, "\(component.name) is covered twice")
        }
        append(component)
    }
}
