public import HTTPTypes
import SignetBase
public import SignetJSON

/// The body of a REST request: bytes and their media type.
public struct RESTBody: Sendable, Hashable {
    /// The bytes, signed and sent unchanged.
    public let bytes: [UInt8]
    /// The Content-Type; nil if there is no body.
    public let contentType: String?

    private init(_ bytes: [UInt8], contentType: String?) {
        self.bytes = bytes
        self.contentType = contentType
    }

    /// No body and no Content-Type.
    public static let none = RESTBody([], contentType: nil)

    /// Creates a JSON body.
    public static func json(_ value: JSONValue) -> RESTBody {
        RESTBody(value.serialized(), contentType: "application/json")
    }

    /// Encodes a value as a JSON body.
    ///
    /// - Parameters:
    ///   - value: The value.
    ///   - conventions: How dates are written, and how members are named. Defaults to those of the
    ///     call whose `request()` encodes the body.
    /// - Throws: `PayloadError` with code `invalid-params`, naming the path of the value that
    ///   cannot be encoded.
    public static func json(
        encoding value: some Encodable, conventions: JSONConventions? = nil
    ) throws(PayloadError) -> RESTBody {
        do throws(JSONError) {
            let encoder = StrictJSONEncoder(conventions: conventions ?? .ofCall)
            return RESTBody(try encoder.encode(value), contentType: "application/json")
        } catch {
            throw .invalidParameters("the body cannot be encoded: \(error.message)")
        }
    }

    /// Creates a body of fields as `application/x-www-form-urlencoded` (WHATWG URL, section 5.2).
    /// An array repeats its name.
    ///
    /// - Throws: `PayloadError` with code `invalid-params` for an object or null.
    public static func form(_ fields: JSONObject) throws(PayloadError) -> RESTBody {
        var bytes: [UInt8] = []
        for (name, value) in fields {
            for text in try value.texts(of: "the form's field", named: name) {
                if !bytes.isEmpty { bytes.append(UInt8(ascii: "&")) }
                bytes += formText(name)
                bytes.append(UInt8(ascii: "="))
                bytes += formText(text)
            }
        }
        return RESTBody(bytes, contentType: "application/x-www-form-urlencoded")
    }

    private static func formText(_ text: String) -> [UInt8] {
        PercentCoding.encoded(text, keeping: formCharacters).utf8.map { $0 == 0x20 ? 0x2B : $0 }
    }

    private static let formCharacters = ASCIISet(lettersDigitsAnd: " *-._")

    /// Creates a body of fields and files as `multipart/form-data` (RFC 7578), with a boundary that
    /// none of them contains.
    ///
    /// - Throws: `PayloadError` with code `invalid-params` for an invalid name or media type.
    public static func multipart(_ form: MultipartForm) throws(PayloadError) -> RESTBody {
        let boundary = form.unusedBoundary()
        return RESTBody(
            try form.encoded(boundary: boundary),
            contentType: MultipartForm.contentType(boundary: boundary))
    }

    /// Creates a body of bytes, sent unchanged.
    ///
    /// - Throws: `PayloadError` with code `invalid-params` if `contentType` is not a media type.
    public static func bytes(
        _ bytes: [UInt8], contentType: String = "application/octet-stream"
    ) throws(PayloadError) -> RESTBody {
        guard MediaType(contentType) != nil, HTTPField.isValidValue(contentType) else {
            throw .invalidParameters("the body's Content-Type is not a media type")
        }
        return RESTBody(bytes, contentType: contentType)
    }
}

/// A REST request given part by part, for requests that parameters by name cannot express.
///
/// ```swift
/// import HTTPTypes
/// import SignetJSON
/// import SignetRPC
///
/// let id = "7/../8"
/// // POST /orders/7%2F..%2F8/items?notify=true with a JSON body
/// let request = RESTRequest(
///     .post, "/orders/\(id)/items", query: ["notify": true],
///     body: .json(["item": "tea", "quantity": 2]))
/// let boxed = try RESTAdapter().box(request)
/// ```
public struct RESTRequest: Sendable, Hashable {
    /// The HTTP method.
    public var method: HTTPRequest.Method
    /// The path below the service's URL.
    public var path: RESTPath
    /// The query's parameters, written in the adapter's styles.
    public var query: JSONObject
    /// The request's own fields. Accept defaults to `application/json`, and Content-Type is the
    /// body's.
    public var fields: HTTPFields
    /// The body.
    public var body: RESTBody
    /// The content of the response that the caller can read. With any content, Accept defaults to
    /// `*/*`.
    public var responseContent = ResponseContent.json

    /// Creates a request.
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
