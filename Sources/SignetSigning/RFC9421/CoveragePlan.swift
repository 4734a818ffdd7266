import SignetBase

/// A list of covered components, compiled once to the steps that write a signature base (RFC 9421,
/// section 2.5).
///
/// A class, because every message refers to one, and copying a reference is cheap.
final class CoveragePlan: Sendable {
    /// A covered digest, which is recomputed.
    struct Digest: Sendable, Hashable {
        let field: DigestField
        let isOfRequest: Bool
        let isTrailer: Bool
    }

    /// The components in order.
    let components: [ComponentIdentifier]
    /// The bytes before each component's value: `"name": `.
    private let prefixes: [[UInt8]]
    /// The sources of the components; `field` also for derived components with `;req`, so that
    /// `ComponentReader` takes them from the related request.
    private let sources: [ComponentIdentifier.Source]
    /// The list as an inner list of RFC 9651: `("@method" "date")`.
    let innerList: [UInt8]
    /// The digests to recompute after the signature is verified.
    let digests: [Digest]
    /// The components as written in lists, in order.
    let names: [String]
    private let types: StructuredFieldTypes

    /// Compiles a list.
    ///
    /// - Throws: `SigningError`: `duplicate-component`, `unsupported-component`;
    ///   `unknown-field-type` for a field with `;sf` whose type is unknown.
    init(
        _ components: [ComponentIdentifier], types: StructuredFieldTypes
    ) throws(SigningError) {
        _ = try DistinctComponents(components)
        for component in components { try Self.requireCoverable(component, types: types) }
        let serialized = components.map(\.serialized)
        self.components = components
        self.prefixes = serialized.map { $0 + [ASCII.colon, ASCII.space] }
        self.sources = components.map { $0.isOfRequest ? .field : $0.source }
        self.innerList =
            [ASCII.leftParenthesis] + serialized.joined(separator: [ASCII.space])
            + [ASCII.rightParenthesis]
        self.digests = components.compactMap(Digest.init).reduce(into: []) { digests, digest in
            if !digests.contains(digest) { digests.append(digest) }
        }
        self.names = components.map(\.listed)
        self.types = types
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

    /// Whether `checkDigests` recomputes a digest of the message's own body.
    func provesBody(checksRepresentation: Bool) -> Bool {
        digests.contains {
            !$0.isOfRequest && (checksRepresentation || $0.field == .content)
        }
    }

    /// Returns a whole signature base.
    ///
    /// - Parameter parameters: The value of the last line.
    /// - Throws: As `appendLines`.
    func base(
        of message: SignableMessage, parameters: [UInt8]
    ) throws(SigningError) -> SignedText {
        var text = SignedText()
        text.bytes.reserveCapacity(512 + parameters.count)
        try appendLines(of: message, to: &text)
        text.bytes.append(contentsOf: RFC9421Fields.parametersPrefix)
        text.bytes.append(contentsOf: parameters)
        return text
    }

    /// Appends the lines of all components, each with LF.
    ///
    /// - Throws: `SigningError`: `missing-component`; `non-ascii-value`; for components with
    ///   parameters `malformed-field`, `repeated-parameter` and `non-utf8-value`.
    func appendLines(
        of message: SignableMessage, to text: inout SignedText
    ) throws(SigningError) {
        text.names = names
        text.values.reserveCapacity(names.count)
        if case .request(let request) = message.start { try request.requireURI() }
        var reader = ComponentReader(message, types: types)
        for index in components.indices {
            text.bytes.append(contentsOf: prefixes[index])
            let start = text.bytes.count
            if try !message.start.appendDerived(sources[index], to: &text.bytes) {
                try reader.append(components[index], to: &text.bytes)
            }
            text.values.append(start..<text.bytes.count)
            text.bytes.append(ASCII.lineFeed)
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
        guard let field = DigestField(rawValue: component.name) else { return nil }
        if let key = component.key, BodyDigest(rawValue: key) == nil { return nil }
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
