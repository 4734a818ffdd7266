import SignetCrypto

/// Reads the values of components (RFC 9421, section 2). Parses a field only once for several
/// components.
struct ComponentReader {
    private let message: SignableMessage
    private let types: StructuredFieldTypes
    /// The fields and trailers of the message, then those of the related request.
    private var lists: [FieldIndex]
    private var dictionaries: [FieldSource: StructuredField.Members] = [:]
    private var query: QueryParameters?
    private var isRequestChecked = false

    private struct FieldSource: Hashable {
        let name: [UInt8]
        let list: Int
    }

    init(_ message: SignableMessage, types: StructuredFieldTypes) {
        self.message = message
        self.types = types
        let related = message.relatedRequest
        lists = [
            FieldIndex(message.fields), FieldIndex(message.trailers),
            FieldIndex(related?.fields ?? []), FieldIndex(related?.trailers ?? []),
        ]
    }

    /// Appends a component's value.
    ///
    /// - Throws: `SigningError`: `missing-component`, `malformed-field`, `non-ascii-value`,
    ///   `repeated-parameter`, `non-utf8-value`; `malformed-message` if the related request's
    ///   target isn't a URI.
    mutating func append(
        _ component: ComponentIdentifier, to base: inout [UInt8]
    ) throws(SigningError) {
        if component.source == .field { return try appendField(component, to: &base) }
        let start = component.isOfRequest ? try request(for: component).start : message.start
        if component.source == .queryParameter, case .request(let request) = start {
            base.append(
                contentsOf: try parameters(of: request).value(of: component.queryName ?? ""))
        } else if try !start.appendDerived(component.source, to: &base) {
            throw Self.wrongMessageKind(component)
        }
    }

    /// Returns the related request, to which a component with `;req` refers.
    private mutating func request(
        for component: ComponentIdentifier
    ) throws(SigningError) -> SignableMessage {
        guard message.response != nil else {
            throw SigningError(
                .missingComponent,
                "\(component.listed): found a request, expected a response for req")
        }
        guard let request = message.relatedRequest else { throw Self.missingRequest }
        if !isRequestChecked, component.source != .field {
            try request.request?.requireURI()
            isRequestChecked = true
        }
        return request
    }

    /// Parses the query once. All covered parameters are of one request: the message or its related
    /// request.
    private mutating func parameters(of request: SignableMessage.Request) -> QueryParameters {
        if let query { return query }
        let parsed = QueryParameters(request.query.map { request.target[$0] } ?? [])
        query = parsed
        return parsed
    }

    private mutating func appendField(
        _ component: ComponentIdentifier, to base: inout [UInt8]
    ) throws(SigningError) {
        if component.isOfRequest { _ = try request(for: component) }
        let list = (component.isOfRequest ? 2 : 0) + (component.isTrailer ? 1 : 0)
        let start = base.count
        if let key = component.key {
            base.append(contentsOf: try members(of: component, in: list).serialize(key))
        } else if component.isBinary {
            // Each line as base64 (section 2.1.3).
            let values = lists[list].values(of: component.nameBytes)
            guard !values.isEmpty else { throw Self.missingField(component) }
            let lines = values.map { ":\(Base64.encode($0, as: .standard)):" }
            base.append(lines.joined(separator: ", "))
        } else {
            let value = try value(of: component, in: list)
            base.append(
                contentsOf: component.isStrict
                    ? try StructuredField.serialize(
                        value, as: types[bytes: component.nameBytes] ?? .item,
                        field: component.name)
                    : value)
        }
        guard base.isASCII(from: start) else {
            throw SigningError(
                .nonASCIIValue, "the value of \(component.name) isn't ASCII: cover it with ;bs")
        }
    }

    private mutating func value(
        of component: ComponentIdentifier, in list: Int
    ) throws(SigningError) -> [UInt8] {
        guard let value = lists[list].value(of: component.nameBytes) else {
            throw Self.missingField(component)
        }
        return value
    }

    private mutating func members(
        of component: ComponentIdentifier, in list: Int
    ) throws(SigningError) -> StructuredField.Members {
        let source = FieldSource(name: component.nameBytes, list: list)
        if let known = dictionaries[source] { return known }
        let members = try StructuredField.Members(
            parsing: try value(of: component, in: list), field: component.name)
        dictionaries[source] = members
        return members
    }

    private static func missingField(_ component: ComponentIdentifier) -> SigningError {
        SigningError(
            .missingComponent,
            component.isOfRequest
                ? "the request has no field \(component.name)"
                : component.isTrailer
                    ? "the message has no trailer \(component.name)"
                    : "the message has no field \(component.name)")
    }

    private static func wrongMessageKind(_ component: ComponentIdentifier) -> SigningError {
        SigningError(
            .missingComponent,
            component.source == .status
                ? "@status: found a request, expected a response"
                : "\(component.name): found a response, expected a request; use ;req"
        )
    }

    static var missingRequest: SigningError {
        SigningError(.missingComponent, "a component has ;req, but the related request isn't set")
    }
}
