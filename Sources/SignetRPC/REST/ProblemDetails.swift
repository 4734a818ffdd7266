import HTTPTypes
public import SignetJSON

/// What a server says of an error, for programs and people (RFC 9457, `application/problem+json`).
///
/// The texts are the server's: `detail` and the extensions may hold what no log should, so the description
/// shows the title alone, shortened and with control characters escaped.
public struct ProblemDetails: Sendable, Hashable, CustomStringConvertible, CustomReflectable {
    /// The kind of the problem, a URI reference; `about:blank` where the server names none.
    public let type: String
    /// The kind in words.
    public let title: String?
    /// The HTTP status as the body tells it; that of the response counts.
    public let status: Int?
    /// This occurrence in words.
    public let detail: String?
    /// This occurrence, a URI reference.
    public let instance: String?
    /// All other members.
    public let extensions: JSONObject

    /// Reads a body; nil where it is no object. A member of another type than the RFC wants is ignored
    /// (section 3.1).
    ///
    /// - Throws: `JSONError` where it is no strict JSON.
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

    /// The problem of a response that says by its Content-Type that it has one; nil for any other.
    init?(_ response: RawResponse) {
        guard let type = response.fields[.contentType],
            MediaType(type)?.essence == "application/problem+json",
            let problem = try? ProblemDetails(parsing: response.body)
        else { return nil }
        self = problem
    }

    /// An extension member, decoded; nil where there is none.
    ///
    /// - Throws: `JSONError` that names path and type.
    public func decode<Value: Decodable>(
        _ type: Value.Type, named name: String
    ) throws(JSONError) -> Value? {
        guard let value = extensions[name] else { return nil }
        return try StrictJSONDecoder().decode(type, from: value.serialized())
    }

    /// The problem as the object that came, without members of a wrong type.
    public var object: JSONObject {
        var object: JSONObject = ["type": .string(type)]
        object["title"] = title.map(JSONValue.string)
        object["status"] = status.map { .number(JSONNumber($0)) }
        object["detail"] = detail.map(JSONValue.string)
        object["instance"] = instance.map(JSONValue.string)
        for (name, value) in extensions { object[name] = value }
        return object
    }

    /// The title, shortened, control characters escaped.
    public var description: String { title.map { Printable.text($0) } ?? "a problem without title" }

    /// The description.
    public var customMirror: Mirror { Mirror(self, children: ["description": description]) }
}
