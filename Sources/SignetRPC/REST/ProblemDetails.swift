import HTTPTypes
import SignetBase
public import SignetJSON

/// A server's description of an error (RFC 9457, `application/problem+json`).
///
/// `detail` and the extensions may contain data that must not be logged, so the description shows
/// only the title, shortened and with control characters escaped.
public struct ProblemDetails: Sendable, Hashable, CustomStringConvertible, CustomReflectable {
    /// The type of the problem, a URI reference; `about:blank` if the server names none.
    public let type: String
    /// The type of the problem in words.
    public let title: String?
    /// The HTTP status according to the body. The response's own status takes precedence.
    public let status: Int?
    /// A description of this occurrence.
    public let detail: String?
    /// A URI reference that identifies this occurrence.
    public let instance: String?
    /// All other members.
    public let extensions: JSONObject
    /// The conventions by which extension members are decoded; nil for those of
    /// `JSONConventions()`.
    package var conventions: JSONConventions?

    /// Parses a body; returns nil if it is not an object. A member of another type than RFC 9457
    /// defines is ignored (section 3.1).
    ///
    /// - Throws: `JSONError` if the body is not strict JSON.
    public init?(parsing body: [UInt8]) throws(JSONError) {
        guard case .object(var members) = try JSONValue(parsing: body) else { return nil }
        type = members["type"]?.string ?? "about:blank"
        title = members["title"]?.string
        let status = members["status"]?.number?.int64
        self.status = status.flatMap { (100...599).contains($0) ? Int($0) : nil }
        detail = members["detail"]?.string
        instance = members["instance"]?.string
        for name in ["type", "title", "status", "detail", "instance"] { members[name] = nil }
        extensions = members
    }

    /// Creates the problem of a response with Content-Type `application/problem+json`; nil for any
    /// other.
    init?(_ response: RawResponse) {
        guard let type = response.fields[.contentType],
            MediaType(type)?.essence == "application/problem+json",
            let problem = try? ProblemDetails(parsing: response.json)
        else { return nil }
        self = problem
    }

    /// Decodes an extension member; returns nil if there isn't one.
    ///
    /// - Throws: `JSONError` that names path and type.
    public func decode<Value: Decodable>(
        _ type: Value.Type, named name: String
    ) throws(JSONError) -> Value? {
        guard let value = extensions[name] else { return nil }
        return try StrictJSONDecoder(conventions: conventions ?? JSONConventions()).decode(
            type, from: value.serialized())
    }

    /// The problem as an object, without members of a wrong type.
    public var object: JSONObject {
        var object: JSONObject = ["type": .string(type)]
        object["title"] = title.map(JSONValue.string)
        object["status"] = status.map { .number(JSONNumber($0)) }
        object["detail"] = detail.map(JSONValue.string)
        object["instance"] = instance.map(JSONValue.string)
        for (name, value) in extensions { object[name] = value }
        return object
    }

    /// The title, shortened, with control characters escaped.
    public var description: String {
        title.map { printable($0, limit: 200) } ?? "a problem without title"
    }

    /// The description.
    public var customMirror: Mirror { Mirror(self, children: ["description": description]) }
}
