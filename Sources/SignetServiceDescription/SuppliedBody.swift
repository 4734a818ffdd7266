import SignetBase
import SignetJSON
public import SignetRPC

/// A body that is not made of parameters, described for a check before it is sent.
///
/// A ``MethodDescription`` checks its media type and, if it is JSON (`application/json`, `…+json`)
/// or a form, its content. Messages don't contain its values.
public struct SuppliedBody: Sendable, Hashable {
    enum Content: Sendable, Hashable {
        /// Not known in advance, such as a stream's.
        case unknown
        case bytes([UInt8])
        case parts(fields: [Field], files: [String])
    }

    struct Field: Sendable, Hashable {
        var name: String
        var text: String?
    }

    /// The body's media type; nil if it is not known. Then nothing is checked.
    public let contentType: String?
    let content: Content

    private init(_ contentType: String?, content: Content) {
        self.contentType = contentType
        self.content = content
    }

    /// Creates a description of a body whose bytes are not known yet.
    public init(contentType: String?) { self.init(contentType, content: .unknown) }

    /// Creates a description of a body in memory.
    public init(_ body: RESTBody) { self.init(body.contentType, content: .bytes(body.bytes)) }

    /// Creates a description of a form of several parts.
    ///
    /// - Parameters:
    ///   - form: The fields, and the files in memory.
    ///   - files: The names of the fields whose files are streams.
    public init(_ form: MultipartForm, files: [String] = []) {
        let fields = form.parts.filter { $0.fileName == nil }.map {
            Field(name: $0.name, text: String(validating: $0.content, as: UTF8.self))
        }
        self.init(
            "multipart/form-data",
            content: .parts(
                fields: fields, files: form.parts.filter { $0.fileName != nil }.map(\.name) + files)
        )
    }

    static let formType = "application/x-www-form-urlencoded"

    /// Returns the fields of a form (WHATWG URL, section 5.1).
    static func fields(ofForm bytes: [UInt8]) -> [Field] {
        bytes.split(separator: UInt8(ascii: "&")).map { pair in
            let mark = pair.firstIndex(of: UInt8(ascii: "="))
            return Field(
                name: text(pair[..<(mark ?? pair.endIndex)]) ?? "\u{FFFD}",
                text: text(pair[(mark ?? pair.endIndex)...].dropFirst()))
        }
    }

    /// Decodes a name or value of a form; returns nil if it is not UTF-8.
    private static func text(_ escaped: ArraySlice<UInt8>) -> String? {
        var bytes: [UInt8] = []
        PercentCoding.appendDecoded(escaped, plusIsSpace: true, to: &bytes)
        return String(validating: bytes, as: UTF8.self)
    }
}

extension MethodDescription {
    /// A media type or range that the method's description names for bodies.
    struct BodyType: Sendable, Hashable {
        /// The name in the description: a media type or a range, such as `image/*`.
        let name: String
        let schema: ParameterSchema

        /// Returns how closely the name matches a type, from 0 (not at all) to 3 (the type itself).
        func specificity(for type: MediaType) -> Int {
            // A name that cannot be parsed may match anything.
            guard let own = MediaType(name)?.essence, own != "*/*" else { return 1 }
            if own == type.essence { return 3 }
            return own.endsWithBytes(of: "/*") && type.essence.startsWithBytes(of: own.dropLast())
                ? 2 : 0
        }
    }

    /// The names of the body's possible types, media types or ranges such as `image/*`, in the
    /// description's order; nil if the method takes no body, and empty if the description names
    /// none.
    public var bodyTypeNames: [String]? { bodyTypes?.map(\.name) }

    /// The body's only possible type as the description spells it; nil if there are several, or
    /// only a range.
    public var onlyBodyType: String? {
        guard let types = bodyTypes, types.count == 1, MediaType(types[0].name) != nil,
            !types[0].name.utf8.contains(UInt8(ascii: "*"))
        else { return nil }
        return types[0].name
    }

    /// Returns whether the content of a body of this type would be checked, and not only its type.
    public func readsBody(ofType contentType: String) -> Bool {
        guard bodyTypes?.isEmpty == false, let type = MediaType(contentType) else { return false }
        return type.isJSON || type.essence == SuppliedBody.formType
    }

    /// Checks a body that is not made of parameters.
    func check(_ body: SuppliedBody) throws(PayloadError) {
        guard let bodyTypes else {
            throw .invalidParameters("found a body, expected none: the description names none")
        }
        guard !bodyTypes.isEmpty, let type = body.contentType.flatMap(MediaType.init) else {
            return
        }
        let closest = bodyTypes.map { $0.specificity(for: type) }.max() ?? 0
        guard closest > 0 else {
            throw .invalidParameters(
                "found a body of the type \(printable(type.essence, limit: 64)), expected "
                    + (bodyTypes.count == 1 ? "" : "one of ")
                    + Self.list(bodyTypes.map(\.name)))
        }
        let schemas = bodyTypes.filter { $0.specificity(for: type) == closest }.map(\.schema)
        let found: [ParameterSchema.Mismatch]
        switch body.content {
        case .bytes(let bytes) where type.isJSON:
            let value = try Self.json(bytes)
            found = schemas.compactMap { $0.mismatch(value, repeatsValues: false) }
        case .bytes(let bytes) where type.essence == SuppliedBody.formType:
            let fields = SuppliedBody.fields(ofForm: bytes)
            found = schemas.compactMap { $0.mismatch(form: fields, files: [], spreads: true) }
        case .parts(let fields, let files):
            found = schemas.compactMap { $0.mismatch(form: fields, files: files, spreads: false) }
        case .unknown, .bytes: return
        }
        // If the description names a type twice, the body must fit one of the schemas.
        guard let first = found.first, found.count == schemas.count else { return }
        throw refusal(of: first, in: "the body")
    }

    private static func json(_ bytes: [UInt8]) throws(PayloadError) -> JSONValue {
        do throws(JSONError) {
            return try JSONValue(parsing: bytes)
        } catch {
            throw .invalidParameters("the body is not strict JSON: \(error.message)")
        }
    }
}
