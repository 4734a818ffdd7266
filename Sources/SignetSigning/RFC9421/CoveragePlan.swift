/// A list of covered components, compiled once to the steps that write a signature base (RFC 9421,
/// section 2.5).
///
/// A class, because every message refers to one, and copying a reference is cheap.
final class CoveragePlan: Sendable {
    /// The part of a component that every message needs; the rest is in `components`.
    struct Step: Sendable {
        let kind: Kind
        let source: ComponentIdentifier.Source
        let name: [UInt8]
        /// The bytes before the value: `"name": `.
        let prefix: [UInt8]
    }

    /// The way to find a component's value. Most lists use only the first two.
    enum Kind: Sendable {
        case field, derived, parameterized
    }

    /// A covered digest, which is recomputed.
    struct Digest: Sendable, Hashable {
        let field: DigestField
        let isOfRequest: Bool
        let isTrailer: Bool
    }

    /// The components in order.
    let components: [ComponentIdentifier]
    private let steps: [Step]
    /// The list as an inner list of RFC 9651: `("@method" "date")`.
    let innerList: [UInt8]
    /// The digests to recompute after the signature is verified.
    let digests: [Digest]
    /// The components as written in lists, in order.
    let names: [String]
    private let types: StructuredFieldTypes
    private let isParameterized: Bool

    /// Compiles a list.
    ///
    /// - Throws: `SigningError`: `duplicate-component`, `unsupported-component`;
    ///   `unknown-field-type` for a field with `;sf` whose type is unknown.
    init(
        _ components: [ComponentIdentifier], types: StructuredFieldTypes
    ) throws(SigningError) {
        _ = try DistinctComponents(components)
        var steps: [Step] = []
        var digests: [Digest] = []
        var innerList = [ASCII.leftParenthesis]
        for component in components {
            try Self.requireCoverable(component, types: types)
            if innerList.count > 1 { innerList.append(ASCII.space) }
            var prefix = component.serialized
            innerList.append(contentsOf: prefix)
            prefix.append(": ")
            let kind: Kind =
                if !component.parameters.isEmpty {
                    .parameterized
                } else {
                    component.source == .field ? .field : .derived
                }
            steps.append(
                Step(
                    kind: kind, source: component.source, name: component.nameBytes, prefix: prefix)
            )
            if let digest = Digest(component), !digests.contains(digest) { digests.append(digest) }
        }
        innerList.append(ASCII.rightParenthesis)
        self.components = components
        self.steps = steps
        self.innerList = innerList
        self.digests = digests
        self.names = components.map(\.listed)
        self.types = types
        self.isParameterized = components.contains { !$0.parameters.isEmpty }
    }

    private static func requireCoverable(
        _ component: ComponentIdentifier, types: StructuredFieldTypes
    ) throws(SigningError) {
        guard component.source == .field else { return }
        guard component.isBinary || component.nameBytes != RFC9421Fields.setCookie else {
            throw SigningError(
                .unsupportedComponent,
                "set-cookie: its lines cannot be joined without changing their meaning: cover"
                    + " \"set-cookie\";bs")
        }
        let type = types[bytes: component.nameBytes]
        if component.key != nil, let type, type != .dictionary {
            throw SigningError(
                .unsupportedComponent,
                "\(component.name): found the type \(type.rawValue), expected dictionary for key")
        }
        if component.isStrict, component.key == nil, type == nil {
            throw SigningError(
                .unknownFieldType,
                "\(component.name): expected a type for sf: dictionary, list or item")
        }
    }

    func covers(_ component: ComponentIdentifier) -> Bool {
        components.contains(component)
    }

    /// Whether the digest of the message's own content is covered, in any form.
    var coversContentDigest: Bool {
        digests.contains { $0.field == .content && !$0.isOfRequest }
    }

    /// Whether `checkDigests` recomputes a digest of the message's own body.
    func provesBody(checksRepresentation: Bool) -> Bool {
        digests.contains {
            !$0.isOfRequest && (checksRepresentation || $0.field == .content)
        }
    }

    /// Returns a whole signature base, and the ranges of the components' values in it.
    ///
    /// - Parameter parameters: The value of the last line.
    /// - Throws: As `appendLines`.
    func base(
        of message: SignableMessage, parameters: [UInt8]
    ) throws(SigningError) -> (bytes: [UInt8], values: [Range<Int>]) {
        var base: [UInt8] = []
        base.reserveCapacity(512 + parameters.count)
        var values: [Range<Int>] = []
        values.reserveCapacity(components.count)
        try appendLines(of: message, to: &base, values: &values)
        base.append(contentsOf: RFC9421Fields.parametersPrefix)
        base.append(contentsOf: parameters)
        return (base, values)
    }

    /// Appends the lines of all components, each with LF.
    ///
    /// - Throws: `SigningError`: `missing-component`; `non-ascii-value`; for components with
    ///   parameters `malformed-field`, `repeated-parameter` and `non-utf8-value`.
    func appendLines(
        of message: SignableMessage, to base: inout [UInt8], values: inout [Range<Int>]
    ) throws(SigningError) {
        if case .request(let request) = message.start { try request.requireURI() }
        var reader = isParameterized ? ComponentReader(message, types: types) : nil
        var fields = FieldIndex(message.fields)
        for index in steps.indices {
            base.append(contentsOf: steps[index].prefix)
            let start = base.count
            switch steps[index].kind {
            case .derived:
                guard try message.start.appendDerived(steps[index].source, to: &base) else {
                    throw ComponentReader.wrongMessageKind(components[index])
                }
            case .field:
                guard fields.appendValue(of: steps[index].name, to: &base) else {
                    throw ComponentReader.missingField(components[index])
                }
                guard base.isASCII(from: start) else {
                    throw ComponentReader.notASCII(components[index])
                }
            case .parameterized: try reader?.append(components[index], to: &base)
            }
            values.append(start..<base.count)
            base.append(ASCII.lineFeed)
        }
    }

    /// Compares every covered digest with its body (RFC 9421, section 7.2.8).
    ///
    /// - Parameter checksRepresentation: Whether to check a Repr-Digest too.
    /// - Throws: As ``ContentDigest/check(_:)``.
    func checkDigests(
        of message: SignableMessage, checksRepresentation: Bool = true
    ) throws(SigningError) {
        for digest in digests where checksRepresentation || digest.field == .content {
            try digest.check(message)
        }
    }
}

extension CoveragePlan.Digest {
    /// Creates the digest that a component covers: the whole field, or its member of a supported
    /// algorithm.
    init?(_ component: ComponentIdentifier) {
        guard let field = DigestField.allCases.first(where: { $0.nameBytes == component.nameBytes })
        else { return nil }
        if let key = component.key, !DigestField.isKnown(key) { return nil }
        self.field = field
        self.isOfRequest = component.isOfRequest
        self.isTrailer = component.isTrailer
    }

    func check(_ message: SignableMessage) throws(SigningError) {
        guard isOfRequest else { return try field.check(message, isTrailer: isTrailer) }
        guard let request = message.relatedRequest else { throw ComponentReader.missingRequest }
        try field.check(request, isTrailer: isTrailer)
    }
}

extension SignableMessage.Start {
    /// Appends a derived component's value (RFC 9421, section 2.2).
    ///
    /// - Returns: Whether a message of this kind has the component.
    func appendDerived(
        _ source: ComponentIdentifier.Source, to base: inout [UInt8]
    ) throws(SigningError) -> Bool {
        switch self {
        case .response(let response):
            guard source == .status else { return false }
            base.append(decimal: Int64(response.status))
        case .request(let request):
            switch source {
            case .method: base.append(request.method)
            case .authority: try request.appendAuthority(to: &base)
            case .scheme: base.append(request.scheme.rawValue)
            case .targetURI: try request.appendTargetURI(to: &base)
            case .requestTarget: base.append(contentsOf: request.target)
            case .path: request.appendPath(to: &base)
            case .query: request.appendQuery(to: &base)
            case .queryParameter, .status, .field: return false
            }
        }
        return true
    }
}

extension [UInt8] {
    /// Whether all bytes from `start` on are ASCII.
    func isASCII(from start: Int) -> Bool {
        var all: UInt8 = 0
        for byte in self[start...] { all |= byte }
        return all < 0x80
    }
}
