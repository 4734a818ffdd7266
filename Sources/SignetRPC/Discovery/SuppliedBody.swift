import SignetJSON

/// A body that is not made of parameters, as far as it is known before it is sent.
///
/// A ``MethodDescription`` judges its type, and looks into JSON (`application/json`, `…+json`) and forms. No
/// value of it is repeated in a message.
public struct SuppliedBody: Sendable, Hashable {
    enum Content: Sendable, Hashable {
        /// Not known, as of a stream.
        case unknown
        case bytes([UInt8])
        case parts(fields: [Field], files: [String])
    }

    struct Field: Sendable, Hashable {
        var name: String
        var text: String?
    }

    /// What the body is; nil where that is not known, and nothing is judged.
    public let contentType: String?
    let content: Content

    private init(_ contentType: String?, _ content: Content) {
        self.contentType = contentType
        self.content = content
    }

    /// A body whose bytes are not there yet.
    public init(contentType: String?) { self.init(contentType, .unknown) }

    /// A body whose bytes are there.
    public init(_ body: RESTBody) { self.init(body.contentType, .bytes(body.bytes)) }

    /// A form of several parts.
    ///
    /// - Parameters:
    ///   - form: Its fields, and those files that are in memory.
    ///   - files: The names of the fields whose files are streams.
    public init(_ form: MultipartForm, files: [String] = []) {
        let fields = form.parts.filter { $0.fileName == nil }.map {
            Field(name: $0.name, text: String(validating: $0.content, as: UTF8.self))
        }
        self.init(
            "multipart/form-data",
            .parts(
                fields: fields, files: form.parts.filter { $0.fileName != nil }.map(\.name) + files)
        )
    }

    /// Whether a body of a type is looked into.
    static func isRead(_ type: MediaType) -> Bool { type.isJSON || type.essence == formType }

    static let formType = "application/x-www-form-urlencoded"

    /// The fields of a form (WHATWG URL, section 5.1).
    static func fields(ofForm bytes: [UInt8]) -> [Field] {
        bytes.split(separator: UInt8(ascii: "&")).map { pair in
            let mark = pair.firstIndex(of: UInt8(ascii: "="))
            return Field(
                name: text(pair[..<(mark ?? pair.endIndex)]) ?? "\u{FFFD}",
                text: text(pair[(mark ?? pair.endIndex)...].dropFirst()))
        }
    }

    /// A name or value of a form; nil where it is no UTF-8.
    private static func text(_ escaped: ArraySlice<UInt8>) -> String? {
        var bytes: [UInt8] = []
        var rest = escaped
        while let byte = rest.popFirst() {
            switch byte {
            case UInt8(ascii: "+"): bytes.append(0x20)
            case UInt8(ascii: "%"):
                let digits = rest.prefix(2)
                guard digits.count == 2, let high = digit(digits[digits.startIndex]),
                    let low = digit(digits[digits.startIndex + 1])
                else {
                    bytes.append(byte)
                    continue
                }
                bytes.append(high << 4 | low)
                rest = rest.dropFirst(2)
            default: bytes.append(byte)
            }
        }
        return String(validating: bytes, as: UTF8.self)
    }

    private static func digit(_ byte: UInt8) -> UInt8? {
        Character(Unicode.Scalar(byte)).hexDigitValue.map { UInt8($0) }
    }
}

extension MethodDescription {
    /// A kind of body that a method takes.
    struct BodyType: Sendable, Hashable {
        /// As the description names it: a media type or a range, such as `image/*`.
        let name: String
        let schema: ParameterSchema

        /// How closely it names a type: 0 for one that is none of it.
        func closeness(to type: MediaType) -> Int {
            // Of a name that cannot be read nothing is known for certain.
            guard let own = MediaType(name)?.essence, own != "*/*" else { return 1 }
            if own == type.essence { return 3 }
            return own.hasSuffix("/*") && type.essence.hasPrefix(own.dropLast()) ? 2 : 0
        }
    }

    /// The types of which a body may be, media types or ranges such as `image/*`, in the description's
    /// order; nil where the method takes no body, and empty where the description names none.
    public var bodyTypeNames: [String]? { bodyTypes?.map(\.name) }

    /// The one type of which a body is, in the description's spelling; nil where there are several, or none
    /// is certain.
    public var onlyBodyType: String? {
        guard let types = bodyTypes, types.count == 1, MediaType(types[0].name) != nil,
            !types[0].name.utf8.contains(UInt8(ascii: "*"))
        else { return nil }
        return types[0].name
    }

    /// Whether a body of this type would be looked into; one of another type is judged by that alone.
    public func readsBody(ofType contentType: String) -> Bool {
        bodyTypes?.isEmpty == false && MediaType(contentType).map(SuppliedBody.isRead) == true
    }

    /// Checks a body that is not made of parameters.
    func check(_ body: SuppliedBody) throws(RPCError) {
        guard let bodyTypes else {
            throw .invalidParameters("found a body, expected none: the description has none")
        }
        guard !bodyTypes.isEmpty, let type = body.contentType.flatMap(MediaType.init) else {
            return
        }
        let closest = bodyTypes.map { $0.closeness(to: type) }.max() ?? 0
        guard closest > 0 else {
            throw .invalidParameters(
                "found a body of the type \(Printable.text(type.essence, limit: 64)), expected "
                    + (bodyTypes.count == 1 ? "" : "one of ")
                    + Self.list(bodyTypes.map(\.name)))
        }
        let schemas = bodyTypes.filter { $0.closeness(to: type) == closest }.map(\.schema)
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
        // Where one type stands there twice, with other parameters, one of the two is enough.
        guard let first = found.first, found.count == schemas.count else { return }
        throw refusal(first, "the body")
    }

    private static func json(_ bytes: [UInt8]) throws(RPCError) -> JSONValue {
        do throws(JSONError) {
            return try JSONValue(parsing: bytes)
        } catch {
            throw .invalidParameters("the body is not strict JSON: \(error.message)")
        }
    }
}
