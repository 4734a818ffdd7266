import HTTPTypes
import SignetBase
import SignetCrypto
import SignetJSON
import SignetRPC
import SignetTransport
import SignetVault

/// Writes messages down without the secrets in them.
struct Redactor: Sendable {
    private(set) var keepsSecrets = false

    /// The one that writes secrets too, for a page that asked for them; nil in a release build.
    static var none: Redactor? {
        #if DEBUG
        var redactor = Redactor()
        redactor.keepsSecrets = true
        return redactor
        #else
        return nil
        #endif
    }

    static let mark = "(redacted)"
    /// The maximum size of a body in bytes that is written down.
    static let maximumBodySize = 64 << 10
    static let formType = "application/x-www-form-urlencoded"

    static let secretFields: Set<String> = [
        "authorization", "proxy-authorization", "cookie", "set-cookie", "signature",
        "signet-signature", "dpop",
    ]

    func message(_ request: HTTPRequest, body: HTTPRequestBody) -> StageContents.Message {
        let location = CallRecord.Location(request).text
        let text = text(body.bytes, size: body.length, type: request.headerFields[.contentType])
        return message(
            "\(request.method) \(location)\(parts(of: request.path ?? "/").query)",
            fields: fields(request.headerFields, beside: text.kind == .exact ? body.bytes : nil),
            body: text)
    }

    /// The path of a target, and its query with the question mark; empty if there is none.
    private func parts(of target: String) -> (path: Substring, query: String) {
        let mark = target.utf8.firstIndex(of: UInt8(ascii: "?")) ?? target.endIndex
        let query = target.utf8[mark...].dropFirst()
        return (target[..<mark], query.isEmpty ? "" : "?" + form(Substring(query)))
    }

    /// The head of a response whose body isn't read yet.
    func message(_ head: HTTPResponse) -> StageContents.Message {
        message(RawResponse(status: head.status.code, fields: head.headerFields, body: []))
    }

    /// A call as interceptors see it, with the fields that they added.
    func message(_ call: PendingCall) -> StageContents.Message {
        let added = fields(call.fields)
        if let exchange = call.exchange {
            let (path, query) = parts(of: exchange.target)
            return message(
                "\(exchange.method) \(path)\(query)", fields: added,
                body: text(
                    exchange.body.bytes, size: exchange.body.length,
                    type: call.fields[.contentType]))
        }
        guard let request = try? call.request() else {
            return message(call.identity.method, fields: added, body: nothing)
        }
        let own = message(request)
        return message(own.head, fields: own.fields + added, body: (own.body, own.bodyKind))
    }

    func message(_ response: RawResponse) -> StageContents.Message {
        let text = text(
            response.body, size: Int64(response.body.count), type: response.fields[.contentType])
        return message(
            "\(response.status)",
            fields: fields(response.fields, beside: text.kind == .exact ? response.body : nil),
            body: text)
    }

    func message(_ response: UnboxedResponse) -> StageContents.Message {
        message(
            "\(response.status)", fields: fields(response.fields),
            body: response.result.map { json($0.value) } ?? nothing)
    }

    func message(_ request: CallRequest) -> StageContents.Message {
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

    private var nothing: Body { ("", .exact) }

    private func message(
        _ head: String, fields: [StageContents.Field], body: Body
    ) -> StageContents.Message {
        StageContents.Message(head: head, fields: fields, body: body.text, bodyKind: body.kind)
    }

    /// - Parameter body: The body if it is shown whole.
    private func fields(
        _ fields: HTTPFields, beside body: [UInt8]? = nil
    ) -> [StageContents.Field] {
        fields.map { field in
            let isHidden =
                !keepsSecrets && Self.isSecret(field) && !Self.isDigest(field.value, of: body)
            return StageContents.Field(
                name: field.name.rawName, value: isHidden ? Self.mark : field.value)
        }
    }

    /// The body of a request if nothing in it is redacted.
    func shownBody(of request: FrozenRequest) -> [UInt8]? {
        let bytes = request.body.bytes
        let text = text(
            bytes, size: request.body.length, type: request.head.headerFields[.contentType])
        return text.kind == .exact ? bytes : nil
    }

    /// Whether a value is a digest of a body, in hexadecimal, base64 or the form of Content-Digest
    /// (RFC 9530, section 2). Beside a body that is shown whole it adds nothing; beside one
    /// without its secrets a short secret could be found by it.
    static func isDigest(_ value: String, of body: [UInt8]?) -> Bool {
        guard let body, (43...300).contains(value.utf8.count) else { return false }
        let forms = [("sha-256", DigestAlgorithm.sha256), ("sha-512", .sha512)]
            .flatMap { name, algorithm -> [String] in
                guard let digest = try? Digest.of(body, using: algorithm) else { return [] }
                let base64 = Base64.encode(digest, as: .standard)
                return [
                    String(decoding: digest.hexadecimal(), as: UTF8.self), base64,
                    "\(name)=:\(base64):",
                ]
            }
        return value.split(separator: ",").allSatisfy { part in
            forms.contains { sameBytes($0, String(part.drop { $0 == " " })) }
        }
    }

    /// Whether a field is marked as a secret, or its name or value says that it is one. The mark is
    /// HPACK's, by which no table of a connection has the field (RFC 7541, section 7.1.3).
    static func isSecret(_ field: HTTPField) -> Bool {
        let name = field.name.canonicalName
        return field.indexingStrategy == .disallow || secretFields.contains(name)
            || SecretSearch.looksSecret(.string(field.value), named: name)
    }

    private func text(_ bytes: [UInt8]?, size: Int64?, type: String?) -> Body {
        guard let bytes else {
            return (size.map { "(\($0) bytes, streamed)" } ?? "(streamed)", .omitted)
        }
        guard !bytes.isEmpty else { return nothing }
        guard bytes.count <= Self.maximumBodySize,
            let text = String(validating: bytes, as: UTF8.self)
        else { return ("(\(bytes.count) bytes)", .omitted) }
        if let value = try? JSONValue(parsing: bytes) {
            // The parser refuses members of one name, so the text has no more than the value.
            return json(value, as: text)
        }
        if keepsSecrets { return (text, .exact) }
        guard type?.utf8.starts(with: Self.formType.utf8) == true else {
            return ("(\(bytes.count) bytes)", .omitted)
        }
        let written = form(text[...])
        return (written, sameBytes(written, text) ? .exact : .redacted)
    }

    /// A query or a form.
    private func form(_ text: Substring) -> String {
        guard !keepsSecrets else { return String(text) }
        let pairs = text.utf8.split(
            separator: UInt8(ascii: "&"), omittingEmptySubsequences: false)
        return pairs.map(Substring.init).map { pair in
            guard let equals = pair.utf8.firstIndex(of: UInt8(ascii: "=")) else {
                return SecretSearch.looksSecret(.string(Self.plain(pair)), named: nil)
                    ? Self.mark : String(pair)
            }
            let (name, value) = (pair[..<equals], Substring(pair.utf8[equals...].dropFirst()))
            return SecretSearch.looksSecret(.string(Self.plain(value)), named: Self.plain(name))
                ? "\(name)=\(Self.mark)" : String(pair)
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
    private func json(_ value: JSONValue, as text: String? = nil) -> Body {
        var count = 0
        let redacted = keepsSecrets ? value : Self.redacted(value, named: nil, counting: &count)
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

extension ContentsLog {
    /// Notes what a stage begins with.
    func begin(_ stage: CallRecord.Stage.Name, with before: (Redactor) -> Message?) {
        note(stage, before: before(Redactor()))
        if let everything, let redactor = Redactor.none {
            everything.note(stage, before: before(redactor))
        }
    }

    /// Notes what a stage changed that is over.
    func note(
        _ stage: CallRecord.Stage.Name, of sides: (Redactor) -> (before: Message?, after: Message)
    ) {
        begin(stage) { sides($0).before }
        end(stage) { sides($0).after }
    }

    /// Notes what the stage that began last ends with.
    func end(
        _ stage: CallRecord.Stage.Name, with after: (Redactor) -> Message,
        base: (Redactor) -> SignatureBase? = { _ in nil }
    ) {
        note(stage, after: after(Redactor()), base: base(Redactor()))
        if let everything, let redactor = Redactor.none {
            everything.note(stage, after: after(redactor), base: base(redactor))
        }
    }
}
