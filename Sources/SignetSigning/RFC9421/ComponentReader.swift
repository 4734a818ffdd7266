internal import SignetCrypto

/// Reads the values of components with parameters (RFC 9421, sections 2.1.1 to 2.1.4, 2.2.8 and
/// 2.4). Parses a field only once for several components.
struct ComponentReader {
    private let message: SignableMessage
    private let types: StructuredFieldTypes
    private var dictionaries: [FieldSource: StructuredField.Members] = [:]
    private var indexes: [FieldPlace: FieldIndex] = [:]
    private var query: QueryParameters?
    private var isRequestChecked = false

    /// A list of fields: head or trailers, of the message or of the related request.
    private struct FieldPlace: Hashable {
        let isTrailer: Bool
        let isOfRequest: Bool
    }

    private struct FieldSource: Hashable {
        let name: [UInt8]
        let place: FieldPlace
    }

    init(_ message: SignableMessage, types: StructuredFieldTypes) {
        self.message = message
        self.types = types
    }

    /// Appends a component's value.
    ///
    /// - Throws: `SigningError`: `missing-component`, `malformed-field`, `non-ascii-value`,
    ///   `repeated-parameter`, `non-utf8-value`; `malformed-message` if the related request's
    ///   target isn't a URI.
    mutating func append(
        _ component: ComponentIdentifier, to base: inout [UInt8]
    ) throws(SigningError) {
        let context = try context(of: component)
        switch component.source {
        case .field: try appendField(component, of: context, to: &base)
        case .queryParameter:
            guard let request = context.request else { throw Self.wrongMessageKind(component) }
            base.append(
                contentsOf: try parameters(of: request).value(of: component.queryName ?? ""))
        default:
            guard try context.start.appendDerived(component.source, to: &base) else {
                throw Self.wrongMessageKind(component)
            }
        }
    }

    /// Returns the message itself or its related request.
    private mutating func context(
        of component: ComponentIdentifier
    ) throws(SigningError) -> SignableMessage {
        guard component.isOfRequest else { return message }
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
        _ component: ComponentIdentifier, of context: SignableMessage, to base: inout [UInt8]
    ) throws(SigningError) {
        let place = FieldPlace(isTrailer: component.isTrailer, isOfRequest: component.isOfRequest)
        var fields =
            indexes.removeValue(forKey: place)
            ?? FieldIndex(component.isTrailer ? context.trailers : context.fields)
        defer { indexes[place] = fields }
        let start = base.count
        if let key = component.key {
            base.append(
                contentsOf: try members(of: component, at: place, among: &fields).serialize(key))
        } else if component.isStrict {
            guard let value = fields.value(of: component.nameBytes) else {
                throw Self.missingField(component)
            }
            base.append(
                contentsOf: try StructuredField.serialize(
                    value, as: types[bytes: component.nameBytes] ?? .item, field: component.name))
        } else if component.isBinary {
            try appendBinary(component, among: &fields, to: &base)
        } else {
            guard fields.appendValue(of: component.nameBytes, to: &base) else {
                throw Self.missingField(component)
            }
        }
        guard base.isASCII(from: start) else { throw Self.notASCII(component) }
    }

    /// Appends each line as base64, joined by `, ` (section 2.1.3).
    private func appendBinary(
        _ component: ComponentIdentifier, among fields: inout FieldIndex, to base: inout [UInt8]
    ) throws(SigningError) {
        let values = fields.values(of: component.nameBytes)
        guard !values.isEmpty else { throw Self.missingField(component) }
        for (index, value) in values.enumerated() {
            if index > 0 { base.append(", ") }
            base.append(ASCII.colon)
            Base64.append(value.span, as: .standard, to: &base)
            base.append(ASCII.colon)
        }
    }

    private mutating func members(
        of component: ComponentIdentifier, at place: FieldPlace, among fields: inout FieldIndex
    ) throws(SigningError) -> StructuredField.Members {
        let source = FieldSource(name: component.nameBytes, place: place)
        if let known = dictionaries[source] { return known }
        guard let value = fields.value(of: component.nameBytes) else {
            throw Self.missingField(component)
        }
        let members = try StructuredField.Members(parsing: value, field: component.name)
        dictionaries[source] = members
        return members
    }

    static func missingField(_ component: ComponentIdentifier) -> SigningError {
        SigningError(
            .missingComponent,
            component.isOfRequest
                ? "the request has no field \(component.name)"
                : component.isTrailer
                    ? "the message has no trailer \(component.name)"
                    : "the message has no field \(component.name)")
    }

    static func notASCII(_ component: ComponentIdentifier) -> SigningError {
        SigningError(
            .nonASCIIValue, "the value of \(component.name) isn't ASCII: cover it with ;bs")
    }

    static func wrongMessageKind(_ component: ComponentIdentifier) -> SigningError {
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
