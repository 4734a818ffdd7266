public import HTTPTypes
public import SignetJSON

/// What a REST request carries: bytes and what they are.
public struct RESTBody: Sendable, Hashable {
    /// The bytes, as they are signed and sent.
    public let bytes: [UInt8]
    /// Their Content-Type; nil for a body that there is not.
    public let contentType: String?

    private init(_ bytes: [UInt8], _ contentType: String?) {
        self.bytes = bytes
        self.contentType = contentType
    }

    /// No body, and no Content-Type.
    public static let none = RESTBody([], nil)

    /// JSON.
    public static func json(_ value: JSONValue) -> RESTBody {
        RESTBody(value.serialized(), "application/json")
    }

    /// The JSON of a type.
    ///
    /// - Throws: `RPCError` with code `invalid-params`, naming the path of what cannot be encoded.
    public static func json(encoding value: some Encodable) throws(RPCError) -> RESTBody {
        do throws(JSONError) {
            return RESTBody(try StrictJSONEncoder().encode(value), "application/json")
        } catch {
            throw .invalidParameters("the body cannot be encoded: \(error.message)")
        }
    }

    /// Fields as `application/x-www-form-urlencoded` (WHATWG URL, section 5.2); an array repeats its name.
    ///
    /// - Throws: `RPCError` with code `invalid-params` for an object or null.
    public static func form(_ fields: JSONObject) throws(RPCError) -> RESTBody {
        var bytes: [UInt8] = []
        for (name, value) in fields {
            for element in value.array ?? [value] {
                guard let text = element.scalarText else {
                    throw .invalidParameters(
                        "\(Printable.name(name)) of the form is of type \(element.typeName), expected a "
                            + "string, number or boolean")
                }
                if !bytes.isEmpty { bytes.append(UInt8(ascii: "&")) }
                PercentEncoding.appendForm(name, to: &bytes)
                bytes.append(UInt8(ascii: "="))
                PercentEncoding.appendForm(text, to: &bytes)
            }
        }
        return RESTBody(bytes, "application/x-www-form-urlencoded")
    }

    /// Fields and files as `multipart/form-data` (RFC 7578), with a boundary that is not in them.
    ///
    /// - Throws: `RPCError` with code `invalid-params` for a name or type that cannot be said.
    public static func multipart(_ form: MultipartForm) throws(RPCError) -> RESTBody {
        let boundary = form.unusedBoundary()
        return RESTBody(
            try form.encoded(boundary: boundary), MultipartForm.contentType(boundary: boundary))
    }

    /// Bytes as they stand.
    ///
    /// - Throws: `RPCError` with code `invalid-params` where the type is no media type.
    public static func bytes(
        _ bytes: [UInt8], contentType: String = "application/octet-stream"
    ) throws(RPCError) -> RESTBody {
        guard MediaType(contentType) != nil, HTTPField.isValidValue(contentType) else {
            throw .invalidParameters("the body's Content-Type is no media type")
        }
        return RESTBody(bytes, contentType)
    }
}

/// A REST request that says each part by itself, where parameters by name would not do.
public struct RESTRequest: Sendable, Hashable {
    /// The HTTP method.
    public var method: HTTPRequest.Method
    /// The path below the service's URL.
    public var path: RESTPath
    /// What joins the query, in the adapter's styles.
    public var query: JSONObject
    /// Fields of this request beside those of the service; Accept is `application/json` without one, and
    /// Content-Type is the body's.
    public var fields: HTTPFields
    /// What the request carries.
    public var body: RESTBody

    /// Makes a request.
    public init(
        _ method: HTTPRequest.Method, _ path: RESTPath = RESTPath(), query: JSONObject = [:],
        fields: HTTPFields = [:], body: RESTBody = .none
    ) {
        self.method = method
        self.path = path
        self.query = query
        self.fields = fields
        self.body = body
    }
}

/// A media type (RFC 9110, section 8.3.1): its essence, in lower case.
struct MediaType: Equatable {
    let essence: String

    /// Reads the value of a Content-Type field; nil where it is none.
    init?(_ text: String) {
        let end = text.utf8.firstIndex(of: UInt8(ascii: ";")) ?? text.endIndex
        var essence = text[..<end].utf8
        while let last = essence.last, last == 0x20 || last == 0x09 { essence.removeLast() }
        while let first = essence.first, first == 0x20 || first == 0x09 { essence.removeFirst() }
        let parts = essence.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
        guard parts.count == 2, parts.allSatisfy({ !$0.isEmpty && $0.allSatisfy(Self.isToken) })
        else {
            return nil
        }
        self.essence = String(decoding: essence, as: UTF8.self).lowercased()
    }

    /// Whether it is JSON by its name (RFC 6839, section 3.1).
    var isJSON: Bool { essence == "application/json" || essence.hasSuffix("+json") }

    /// Whether a byte may stand in a token (RFC 9110, section 5.6.2).
    static func isToken(_ byte: UInt8) -> Bool {
        PercentEncoding.isAlphanumeric(byte) || "!#$%&'*+-.^_`|~".utf8.contains(byte)
    }
}
