import HTTPTypes
import SignetBase
import SignetJSON
import SignetRPC
import SignetTransport
import SignetVault

/// Writes messages down without the secrets in them.
enum Redactor {
    static let mark = "(redacted)"
    /// The maximum size of a body in bytes that is written down.
    static let maximumBodySize = 64 << 10
    static let formType = "application/x-www-form-urlencoded"

    static let secretFields: Set<String> = [
        "authorization", "proxy-authorization", "cookie", "set-cookie", "signature",
        "signet-signature", "dpop",
    ]

    static func message(_ request: HTTPRequest, body: HTTPRequestBody) -> StageContents.Message {
        let path = request.path ?? "/"
        let mark = path.utf8.firstIndex(of: UInt8(ascii: "?")) ?? path.endIndex
        let query = path[mark...].dropFirst()
        let location = CallRecord.Location(request).text
        return message(
            "\(request.method) \(location)\(query.isEmpty ? "" : "?" + form(query))",
            fields: fields(request.headerFields),
            body: text(
                body.bytes, size: body.length, type: request.headerFields[.contentType]))
    }

    static func message(_ response: RawResponse) -> StageContents.Message {
        message(
            "\(response.status)", fields: fields(response.fields),
            body: text(
                response.body, size: Int64(response.body.count),
                type: response.fields[.contentType]))
    }

    static func message(_ response: UnboxedResponse) -> StageContents.Message {
        message(
            "\(response.status)", fields: fields(response.fields),
            body: response.result.map { json($0.value) } ?? nothing)
    }

    static func message(_ request: CallRequest) -> StageContents.Message {
        switch request {
        case .procedure(let call, let path):
            let body =
                switch call.parameters {
                case nil: nothing
                case .object(let members): json(.object(members))
                case .array(let elements): json(.array(elements))
                }
            return message(
                call.method.name + (path.map { " \($0)" } ?? ""), fields: [], body: body)
        case .resource(let request):
            return message(
                "\(request.method) \(request.path.template)",
                fields: fields(request.fields), body: json(.object(request.query)))
        }
    }

    /// The text of a body, and how much of the body it has.
    private typealias Body = (text: String, kind: StageContents.BodyKind)

    private static var nothing: Body { ("", .exact) }

    private static func message(
        _ head: String, fields: [StageContents.Field], body: Body
    ) -> StageContents.Message {
        StageContents.Message(head: head, fields: fields, body: body.text, bodyKind: body.kind)
    }

    private static func fields(_ fields: HTTPFields) -> [StageContents.Field] {
        fields.map { field in
            StageContents.Field(
                name: field.name.rawName, value: isSecret(field) ? mark : field.value)
        }
    }

    /// Whether a field's name or value says that it is a secret.
    static func isSecret(_ field: HTTPField) -> Bool {
        let name = field.name.canonicalName
        return secretFields.contains(name)
            || SecretSearch.looksSecret(.string(field.value), named: name)
    }

    private static func text(_ bytes: [UInt8]?, size: Int64?, type: String?) -> Body {
        guard let bytes else {
            return (size.map { "(\($0) bytes, streamed)" } ?? "(streamed)", .omitted)
        }
        guard !bytes.isEmpty else { return nothing }
        guard bytes.count <= maximumBodySize, let text = String(validating: bytes, as: UTF8.self)
        else { return ("(\(bytes.count) bytes)", .omitted) }
        if let value = try? JSONValue(parsing: bytes) {
            // The parser refuses members of one name, so the text has no more than the value.
            return json(value, as: text)
        }
        guard type?.utf8.starts(with: formType.utf8) == true else {
            return ("(\(bytes.count) bytes)", .omitted)
        }
        let written = form(text[...])
        return (written, sameBytes(written, text) ? .exact : .redacted)
    }

    /// A query or a form.
    private static func form(_ text: Substring) -> String {
        text.split(separator: "&", omittingEmptySubsequences: false).map { pair in
            guard let equals = pair.utf8.firstIndex(of: UInt8(ascii: "=")) else {
                return SecretSearch.looksSecret(.string(plain(pair)), named: nil)
                    ? mark : String(pair)
            }
            let (name, value) = (pair[..<equals], pair[equals...].dropFirst())
            return SecretSearch.looksSecret(.string(plain(value)), named: plain(name))
                ? "\(name)=\(mark)" : String(pair)
        }.joined(separator: "&")
    }

    /// The text that is encoded in a query or a form.
    static func plain(_ text: Substring) -> String {
        PercentCoding.decoded(Array(text.utf8)[...], plusIsSpace: true)
            .flatMap { String(validating: $0, as: UTF8.self) } ?? String(text)
    }

    /// Writes a value down.
    ///
    /// - Parameter text: The value as it was written, which stays if it has no secret.
    private static func json(_ value: JSONValue, as text: String? = nil) -> Body {
        var count = 0
        let redacted = redacted(value, named: nil, counting: &count)
        if count == 0, let text { return (text, .exact) }
        return (
            String(decoding: redacted.serialized(), as: UTF8.self), count == 0 ? .exact : .redacted
        )
    }

    /// The value with marks in place of secrets, which are counted.
    private static func redacted(
        _ value: JSONValue, named name: String?, counting count: inout Int
    ) -> JSONValue {
        func marked() -> JSONValue {
            count += 1
            return .string(mark)
        }
        switch value {
        case .object(let object):
            if SecretSearch.isSecretWhole(object) { return marked() }
            return .object(
                JSONObject(
                    object.map { member in
                        // The names on the way count too: an `access` below `tokens` is secret.
                        let path = name.map { "\($0).\(member.name)" } ?? member.name
                        return (
                            name: member.name,
                            value: redacted(member.value, named: path, counting: &count)
                        )
                    }))
        case .array(let elements):
            let isOfValues = !elements.contains { $0.object != nil }
            if isOfValues, SecretSearch.looksSecret(value, named: name) { return marked() }
            return .array(elements.map { redacted($0, named: name, counting: &count) })
        case .null, .bool: return value
        default: return SecretSearch.looksSecret(value, named: name) ? marked() : value
        }
    }
}
