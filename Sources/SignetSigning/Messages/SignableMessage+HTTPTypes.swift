public import HTTPTypes
import SignetBase

extension SignableMessage {
    /// Creates a message from a request. Its authority becomes the first field, Host.
    ///
    /// - Parameters:
    ///   - request: The request. A missing scheme means https; an empty path means `/`.
    ///   - body: The whole body.
    ///   - trailers: The trailers.
    /// - Throws: `SigningError` with `malformed-message` for a scheme other than https and http,
    ///   for a Host field in addition to an authority, and for a value that isn't UTF-8.
    public init(
        request: HTTPRequest, body: [UInt8] = [], trailers: HTTPFields = [:]
    ) throws(SigningError) {
        guard let scheme = Scheme(rawValue: request.scheme?.asciiLowercased ?? "https") else {
            throw SigningError(.malformedMessage, "the request's scheme: expected https or http")
        }
        var fields: [Field] = []
        fields.reserveCapacity(request.headerFields.count + 5)
        if let authority = request.authority {
            fields.append(Field(known: "Host", value: Array(authority.utf8)))
        }
        try fields.append(request.headerFields)
        let path = request.path ?? ""
        let target =
            request.method == .connect
            ? Array((request.authority ?? "").utf8)
            : path.isEmpty ? [ASCII.slash] : Array(path.utf8)
        guard !target.contains(where: { $0 < 0x20 || $0 == 0x7F }) else {
            throw SigningError(.malformedMessage, "the path contains a control character")
        }
        self.init(
            start: .request(
                try Request(
                    method: request.method.rawValue, target: target, fields: fields, scheme: scheme)
            ),
            fields: fields, body: body)
        try self.trailers.append(trailers)
    }

    /// Creates a message from a response.
    ///
    /// - Parameters:
    ///   - response: The response. Its reason phrase is kept.
    ///   - body: The whole body.
    ///   - trailers: The trailers.
    ///   - relatedRequest: The request to which this is the response, if components with `;req` are
    ///     covered.
    /// - Throws: `SigningError` with `malformed-message` for a value that isn't UTF-8.
    public init(
        response: HTTPResponse, body: [UInt8] = [], trailers: HTTPFields = [:],
        relatedRequest: SignableMessage? = nil
    ) throws(SigningError) {
        var fields: [Field] = []
        try fields.append(response.headerFields)
        self.init(
            start: .response(
                Response(
                    status: response.status.code, reason: Array(response.status.reasonPhrase.utf8))),
            fields: fields, body: body)
        try self.trailers.append(trailers)
        if let relatedRequest { try setRelatedRequest(relatedRequest) }
    }

    /// The request as an HTTPTypes value, with Host as the authority; nil for a response, and for a
    /// request whose authority or target HTTPTypes would change.
    public var httpRequest: HTTPRequest? {
        guard let request, let method = HTTPRequest.Method(request.method) else { return nil }
        var path = Array(request.target[request.path])
        if path.isEmpty { path = [request.target == [0x2A] ? 0x2A : ASCII.slash] }
        if let query = request.query { path += [ASCII.question] + request.target[query] }
        let result = HTTPRequest(
            method: method, scheme: request.scheme.rawValue,
            authority: request.authority.map { String(decoding: $0, as: UTF8.self) },
            path: request.method == "CONNECT" ? nil : String(decoding: path, as: UTF8.self),
            headerFields: HTTPFields(
                fields.filter { !$0.name.isSame(asLowercase: Self.host) }.compactMap(\.httpField)))
        // HTTPTypes drops white space around a value and replaces what isn't UTF-8.
        guard result.authority.map({ Array($0.utf8) }) == request.authority,
            result.path.map({ Array($0.utf8) == path }) != false
        else { return nil }
        return result
    }

    /// The response as an HTTPTypes value; nil for a request.
    public var httpResponse: HTTPResponse? {
        guard let response else { return nil }
        return HTTPResponse(
            status: .init(
                code: response.status,
                reasonPhrase: String(decoding: response.reason, as: UTF8.self)),
            headerFields: HTTPFields(fields.compactMap(\.httpField)))
    }
}

extension SignableMessage.Field {
    /// The field as an HTTPTypes value; nil if HTTPTypes doesn't accept the name.
    public var httpField: HTTPField? {
        HTTPField.Name(name).map { HTTPField(name: $0, value: value) }
    }
}

extension [SignableMessage.Field] {
    fileprivate mutating func append(_ fields: HTTPFields) throws(SigningError) {
        for field in fields {
            let value = [UInt8](field.value.utf8)
            // HTTPTypes replaces invalid UTF-8 with U+FFFD, so the sent bytes are different.
            if value.contains(0xEF), field.value.unicodeScalars.contains("\u{FFFD}") {
                throw SigningError(
                    .malformedMessage, "the value of \(field.name.rawName) is not UTF-8")
            }
            append(SignableMessage.Field(known: field.name.rawName, value: value))
        }
    }
}
