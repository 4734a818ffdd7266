import SignetBase

/// A request or a response to sign or verify: its first line, fields, body and trailers as bytes.
///
/// ```swift
/// var request = try SignableMessage(
///     parsing: Array("GET /orders HTTP/1.1\nHost: api.example.com\n\n".utf8))
/// try request.append(.init(name: "X-Request-Id", value: Array("r-1".utf8)))
/// var response = try SignableMessage(parsing: Array("HTTP/1.1 200 OK\n\n[]".utf8))
/// try response.setRelatedRequest(request)  // For components with ;req.
/// print(String(decoding: request.serialized(), as: UTF8.self), response.body.count)
/// ```
///
/// Fields keep their order, and repeated fields stay separate. No value contains a CR, an LF or
/// another control character except tab; ``Field/init(name:value:)`` and the parser refuse them.
public struct SignableMessage: Sendable, Hashable {
    /// The scheme of a request's connection.
    public enum Scheme: String, Sendable, Hashable {
        /// HTTP over TLS.
        case https
        /// HTTP without TLS.
        case http

        /// The default port, which an authority in canonical form omits.
        var defaultPort: [UInt8] { self == .https ? Array("443".utf8) : Array("80".utf8) }
    }

    /// The first line of a request, with the target's parts and the Host field.
    public struct Request: Sendable, Hashable {
        /// The method as sent; methods are case-sensitive.
        public let method: String
        /// The scheme in the target if there is one, otherwise the connection's.
        public let scheme: Scheme
        /// Host and port as sent, from an absolute-form target or else from the Host field; nil
        /// without both.
        public let authority: [UInt8]?
        /// The request target as sent (RFC 9112, section 3.2).
        public let target: [UInt8]

        /// The range of the path in the target; empty for `*` and for CONNECT.
        let path: Range<Int>
        /// The range of the query in the target, without `?`; nil without one.
        let query: Range<Int>?

        /// Returns the same request with another target that differs only in its query.
        func withTarget(_ target: [UInt8]) -> Request {
            let question = target[path.lowerBound...].firstIndex(of: ASCII.question)
            return Request(
                method: method, scheme: scheme, authority: authority, target: target,
                path: path.lowerBound..<(question ?? target.endIndex),
                query: question.map { ($0 + 1)..<target.endIndex })
        }
    }

    /// The first line of a response.
    public struct Response: Sendable, Hashable {
        /// The status code, in 100...999.
        public let status: Int
        /// The reason phrase as sent; often empty.
        public let reason: [UInt8]
    }

    /// The first line.
    public enum Start: Sendable, Hashable {
        /// The message is a request.
        case request(Request)
        /// The message is a response.
        case response(Response)
    }

    /// A field line.
    public struct Field: Sendable, Hashable {
        /// The name as sent, a token of RFC 9110, section 5.6.2.
        public let name: String
        /// The value's bytes in any encoding, without surrounding white space.
        public let value: [UInt8]

        /// Creates a field line.
        ///
        /// - Throws: `SigningError` with `malformed-message` if the name isn't a token or the value
        ///   contains a control character other than tab.
        public init(name: String, value: [UInt8]) throws(SigningError) {
            guard !name.isEmpty, name.utf8.allSatisfy(\.isToken) else {
                throw SigningError(.malformedMessage, "found a field name that isn't a token")
            }
            try self.init(token: name, value: value)
        }

        /// Creates a field line whose name is known to be a token.
        init(token name: String, value: [UInt8]) throws(SigningError) {
            // Without an early exit, so that the compiler checks many bytes at once.
            var controls: UInt8 = 0
            for byte in value { controls |= byte.isControl ? 1 : 0 }
            guard controls == 0 else {
                throw SigningError(
                    .malformedMessage, "the value of \(name) contains a control character")
            }
            self.init(known: name, value: value.trimmingWhiteSpace())
        }

        /// Creates a field line from valid parts.
        init(known name: String, value: [UInt8]) {
            self.name = name
            self.value = value
        }
    }

    /// The first line, with the request's target.
    public internal(set) var start: Start
    /// The field lines in order, including Host.
    public internal(set) var fields: [Field]
    /// The body, byte for byte; empty if it isn't in memory (``bodyDigests``).
    public internal(set) var body: [UInt8] {
        get { if case .bytes(let bytes) = content { bytes } else { [] } }
        set { content = .bytes(newValue) }
    }
    /// The body, its digests, or a placeholder for a body that will follow.
    var content: MessageContent
    /// The trailers (RFC 9110, section 6.5) in order. ``serialized()`` leaves them out.
    public internal(set) var trailers: [Field] = []
    /// At most one message. An array, because a structure cannot contain itself.
    private var related: [SignableMessage] = []

    init(start: Start, fields: [Field], body: [UInt8]) {
        self.start = start
        self.fields = fields
        self.content = .bytes(body)
    }

    /// The request to which this is the response, if it was set. Components with `;req` are taken
    /// from it (RFC 9421, section 2.4).
    public var relatedRequest: SignableMessage? { related.first }

    /// Sets the request to which this is the response, as it was sent, with its fields and body.
    ///
    /// - Throws: `SigningError` with `malformed-message` if this isn't a response or `request`
    ///   isn't a request.
    public mutating func setRelatedRequest(_ request: SignableMessage) throws(SigningError) {
        guard response != nil, request.request != nil else {
            throw SigningError(
                .malformedMessage, "a related request: expected a response and its request")
        }
        related = [request]
    }

    /// Appends a trailer.
    public mutating func appendTrailer(_ field: Field) { trailers.append(field) }

    /// Removes the trailers, so that they can be sent after the body.
    ///
    /// - Returns: The trailers, in order.
    public mutating func removeTrailers() -> [Field] {
        defer { trailers = [] }
        return trailers
    }

    /// Appends a field line.
    ///
    /// - Throws: `SigningError` with `malformed-message` for a Host field of a request, because the
    ///   target was already determined.
    public mutating func append(_ field: Field) throws(SigningError) {
        if case .request = start, field.name.isSame(asLowercase: Self.host) {
            throw SigningError(.malformedMessage, "Host cannot be added to a complete request")
        }
        fields.append(field)
    }

    /// Replaces the body. Leaves a Content-Digest among the fields unchanged.
    public mutating func setBody(_ body: [UInt8]) { self.body = body }

    /// Replaces the body with the digests of one that isn't in memory, because it is too large or
    /// was read already. Leaves a Content-Digest among the fields unchanged.
    public mutating func setBody(_ digests: BodyDigests) { content = .digested(digests) }

    /// The digests of a body that isn't in memory; nil if the message holds the body.
    public var bodyDigests: BodyDigests? {
        if case .digested(let digests) = content { digests } else { nil }
    }

    /// The body; nil if it isn't in memory.
    var heldBody: [UInt8]? {
        if case .bytes(let bytes) = content { bytes } else { nil }
    }

    /// Returns the message as HTTP/1.1 text with CRLF line ends; only the head if the body isn't in
    /// memory.
    public func serialized() -> [UInt8] {
        var text: [UInt8] = []
        text.reserveCapacity(
            fields.reduce(128 + body.count) { $0 + $1.name.utf8.count + $1.value.count + 4 })
        switch start {
        case .request(let request):
            text.append(request.method)
            text.append(ASCII.space)
            text.append(contentsOf: request.target)
            text.append(" HTTP/1.1")
        case .response(let response):
            text.append("HTTP/1.1 ")
            text.append(decimal: Int64(response.status))
            text.append(ASCII.space)
            text.append(contentsOf: response.reason)
        }
        text.append("\r\n")
        for field in fields { field.append(to: &text) }
        text.append("\r\n")
        text.append(contentsOf: body)
        return text
    }

    static let host = Array("host".utf8)
}

extension SignableMessage {
    /// The request's first line; nil for a response.
    public var request: Request? {
        if case .request(let request) = start { request } else { nil }
    }

    /// The response's first line; nil for a request.
    public var response: Response? {
        if case .response(let response) = start { response } else { nil }
    }

    /// Returns the values of a field in order. The name must be in lower case.
    func values(of name: [UInt8]) -> [[UInt8]] { fields.values(of: name) }

    /// Returns a field's combined value, or nil if it is missing.
    func value(of name: [UInt8]) -> [UInt8]? { fields.value(of: name) }

    /// Returns a field's combined value from the head and then the trailers, because signatures can
    /// be in both (RFC 9421, sections 4.1 and 4.2); nil if it is missing.
    func valueInHeadAndTrailers(of name: [UInt8]) -> [UInt8]? {
        guard trailers.contains(name: name) else { return fields.value(of: name) }
        return (fields + trailers).value(of: name)
    }

    func contains(_ name: [UInt8]) -> Bool { fields.contains(name: name) }
}

extension [SignableMessage.Field] {
    /// Returns the values of a field in order. The name must be in lower case.
    func values(of name: [UInt8]) -> [[UInt8]] {
        filter { $0.name.isSame(asLowercase: name) }.map(\.value)
    }

    /// Appends a field's combined value.
    ///
    /// - Returns: Whether the field exists.
    func appendValue(of name: [UInt8], to target: inout [UInt8]) -> Bool {
        guard let value = value(of: name) else { return false }
        target.append(contentsOf: value)
        return true
    }

    /// Returns a field's combined value (RFC 9421, section 2.1): its lines joined by `, `. Returns
    /// nil if the field is missing. Copies nothing if it has only one line.
    func value(of name: [UInt8]) -> [UInt8]? {
        var value: [UInt8]?
        // Indices, because a loop over the fields would copy each.
        for index in indices where self[index].name.isSame(asLowercase: name) {
            guard value != nil else {
                value = self[index].value
                continue
            }
            value?.append(", ")
            value?.append(contentsOf: self[index].value)
        }
        return value
    }

    func contains(name: [UInt8]) -> Bool {
        indices.contains { self[$0].name.isSame(asLowercase: name) }
    }
}

extension SignableMessage.Field {
    /// Appends `name: value` with CRLF.
    func append(to text: inout [UInt8]) {
        text.append(name)
        text.append(": ")
        text.append(contentsOf: value)
        text.append("\r\n")
    }

    /// Returns the line as HTTP/1.1 text with CRLF.
    public func serialized() -> [UInt8] {
        var text: [UInt8] = []
        append(to: &text)
        return text
    }
}

extension [UInt8] {
    /// Returns the bytes without spaces and tabs at both ends. Doesn't copy unless it must.
    func trimmingWhiteSpace() -> [UInt8] {
        let trimmed = trimmingBlanks()
        return trimmed.count == count ? self : Array(trimmed)
    }

    /// Removes spaces and tabs at the end.
    mutating func trimTrailingWhiteSpace() {
        while let last, last.isBlank { removeLast() }
    }
}
