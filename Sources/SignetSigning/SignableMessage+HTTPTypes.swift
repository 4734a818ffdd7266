public import HTTPTypes

extension SignableMessage {
    /// Takes a request over. Its authority becomes the first field, Host.
    ///
    /// - Parameters:
    ///   - request: Its scheme is https where it has none; an empty path stands for `/`.
    ///   - body: The whole body.
    ///   - trailers: The trailers, where there are any.
    /// - Throws: `SigningError` with `malformed-message` for a scheme that is not HTTP's, for a Host
    ///   among the fields beside an authority, and for a value that is not UTF-8.
    public init(
        request: HTTPRequest, body: [UInt8] = [], trailers: HTTPFields = [:]
    ) throws(SigningError) {
        guard let scheme = Scheme(rawValue: request.scheme?.asciiLowercased ?? "https") else {
            throw SigningError(.malformedMessage, "the request's scheme is neither https nor http")
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
            throw SigningError(.malformedMessage, "the path holds a control character")
        }
        self.init(
            start: .request(
                try Request(
                    method: request.method.rawValue, target: target, fields: fields, scheme: scheme)
            ),
            fields: fields, body: body)
        try self.trailers.append(trailers)
    }

    /// Takes a response over.
    ///
    /// - Parameters:
    ///   - response: Its reason phrase is kept.
    ///   - body: The whole body.
    ///   - trailers: The trailers, where there are any.
    ///   - relatedRequest: The request that it answers, where components of it (`;req`) are covered.
    /// - Throws: `SigningError` with `malformed-message` for a value that is not UTF-8.
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

    /// The request in HTTPTypes' words, its Host as the authority; nil for a response.
    public var httpRequest: HTTPRequest? {
        guard let request, let method = HTTPRequest.Method(request.method) else { return nil }
        var path = Array(request.target[request.path])
        if path.isEmpty { path = [request.target == [0x2A] ? 0x2A : ASCII.slash] }
        if let query = request.query { path += [ASCII.question] + request.target[query] }
        return HTTPRequest(
            method: method, scheme: request.scheme.rawValue,
            authority: request.authority.map { String(decoding: $0, as: UTF8.self) },
            path: request.method == "CONNECT" ? nil : String(decoding: path, as: UTF8.self),
            headerFields: HTTPFields(
                fields.filter { !$0.name.isSame(asLowercase: Self.host) }.compactMap(\.httpField)))
    }

    /// The response in HTTPTypes' words; nil for a request.
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
    /// The field in HTTPTypes' words; nil for a name that it does not take.
    public var httpField: HTTPField? {
        HTTPField.Name(name).map { HTTPField(name: $0, value: value) }
    }
}

extension [SignableMessage.Field] {
    fileprivate mutating func append(_ fields: HTTPFields) throws(SigningError) {
        for field in fields {
            let value = [UInt8](field.value.utf8)
            // HTTPTypes repairs what is not UTF-8 with U+FFFD; then the bytes sent are other ones.
            if value.contains(0xEF), field.value.unicodeScalars.contains("\u{FFFD}") {
                throw SigningError(
                    .malformedMessage, "the value of \(field.name.rawName) is not UTF-8")
            }
            append(SignableMessage.Field(known: field.name.rawName, value: value))
        }
    }
}
