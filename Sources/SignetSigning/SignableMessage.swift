/// A request or a response as signers and verifiers see it: HTTP semantics in bytes.
///
/// Fields keep their order and their repetitions. No value holds a CR, an LF or another control
/// character; ``Field/init(name:value:)`` and the parser see to it.
public struct SignableMessage: Sendable, Hashable {
    /// How a request travels.
    public enum Scheme: String, Sendable, Hashable {
        /// HTTP over TLS.
        case https
        /// HTTP in the clear.
        case http

        /// The port that is left out of an authority.
        var defaultPort: [UInt8] { self == .https ? Array("443".utf8) : Array("80".utf8) }
    }

    /// The first line of a request, and what it and Host say about the target.
    public struct Request: Sendable, Hashable {
        /// The method as sent; methods are case-sensitive.
        public let method: String
        /// The target's own scheme where it has one, else the connection's.
        public let scheme: Scheme
        /// Host and port as sent, of an absolute-form target or of the Host field; nil without either.
        public let authority: [UInt8]?
        /// The request target as sent (RFC 9112, section 3.2).
        public let target: [UInt8]

        /// Where the path lies in the target; empty for `*` and for a target of CONNECT.
        let path: Range<Int>
        /// Where the query lies in the target, without its `?`; nil without one.
        let query: Range<Int>?

        /// The same request with another query in its target.
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

    /// One field line; its name as sent, its value without white space around it.
    public struct Field: Sendable, Hashable {
        /// The name as sent, a token of RFC 9110, section 5.6.2.
        public let name: String
        /// The value's bytes, of any encoding.
        public let value: [UInt8]

        /// Makes a field line.
        ///
        /// - Throws: `SigningError` with `malformed-message` where the name is no token or the value
        ///   holds a control character other than a tab.
        public init(name: String, value: [UInt8]) throws(SigningError) {
            guard !name.isEmpty, name.utf8.allSatisfy(\.isToken) else {
                throw SigningError(.malformedMessage, "a field name is no token")
            }
            try self.init(token: name, value: value)
        }

        /// Makes a field line whose name is known to be a token.
        init(token name: String, value: [UInt8]) throws(SigningError) {
            let bytes = value.span
            for index in bytes.indices where bytes[index].isControl {
                throw SigningError(
                    .malformedMessage, "the value of \(name) holds a control character")
            }
            self.init(known: name, value: value.trimmingWhiteSpace())
        }

        /// Makes a field line of parts that are known to be well-formed.
        init(known name: String, value: [UInt8]) {
            self.name = name
            self.value = value
        }
    }

    /// The first line and the target.
    public internal(set) var start: Start
    /// The field lines in their order, Host among them.
    public internal(set) var fields: [Field]
    /// The body, byte for byte; empty where it lies elsewhere (``bodyDigests``).
    public internal(set) var body: [UInt8] {
        get { if case .bytes(let bytes) = content { bytes } else { [] } }
        set { content = .bytes(newValue) }
    }
    /// The body, or what is known of it.
    var content: MessageContent
    /// The trailers (RFC 9110, section 6.5) in their order; no part of ``serialized()``.
    public internal(set) var trailers: [Field] = []
    /// None or one: a structure cannot hold itself but in an array.
    private var related: [SignableMessage] = []

    init(start: Start, fields: [Field], body: [UInt8]) {
        self.start = start
        self.fields = fields
        self.content = .bytes(body)
    }

    /// The request that a response answers, where it is known; components with `;req` are taken from
    /// it (RFC 9421, section 2.4).
    public var relatedRequest: SignableMessage? { related.first }

    /// Says which request a response answers: as it was sent, its fields and body too.
    ///
    /// - Throws: `SigningError` with `malformed-message` where this is no response, or that no
    ///   request.
    public mutating func setRelatedRequest(_ request: SignableMessage) throws(SigningError) {
        guard response != nil, request.request != nil else {
            throw SigningError(.malformedMessage, "only a response answers, and only a request")
        }
        related = [request]
    }

    /// Appends a field line to the trailers.
    public mutating func appendTrailer(_ field: Field) { trailers.append(field) }

    /// Takes the trailers off, which follow a body that is still to come.
    ///
    /// - Returns: What they were, in their order.
    public mutating func removeTrailers() -> [Field] {
        defer { trailers = [] }
        return trailers
    }

    /// Appends a field line.
    ///
    /// - Throws: `SigningError` with `malformed-message` for a second Host of a request: what was
    ///   read about the target would no longer hold.
    public mutating func append(_ field: Field) throws(SigningError) {
        if case .request = start, field.name.isSame(asLowercase: Self.host) {
            throw SigningError(.malformedMessage, "Host cannot be added to a finished request")
        }
        fields.append(field)
    }

    /// Replaces the body. A Content-Digest among the fields is not touched.
    public mutating func setBody(_ body: [UInt8]) { self.body = body }

    /// Puts digests in the body's place, which lies elsewhere: too large for memory, or read already.
    /// A Content-Digest among the fields is not touched.
    public mutating func setBody(_ digests: BodyDigests) { content = .digested(digests) }

    /// What is known of a body that lies elsewhere; nil where the message holds it.
    public var bodyDigests: BodyDigests? {
        if case .digested(let digests) = content { digests } else { nil }
    }

    /// The body, where the message holds it.
    var heldBody: [UInt8]? {
        if case .bytes(let bytes) = content { bytes } else { nil }
    }

    /// The message as HTTP/1.1 text: CRLF after each line of the head, the body byte for byte; the
    /// head alone where the body lies elsewhere.
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
    /// The request's first line, or nil for a response.
    public var request: Request? {
        if case .request(let request) = start { request } else { nil }
    }

    /// The response's first line, or nil for a request.
    public var response: Response? {
        if case .response(let response) = start { response } else { nil }
    }

    /// The values of a field, in their order; its name is in lower case.
    func values(of name: [UInt8]) -> [[UInt8]] { fields.values(of: name) }

    /// A field's combined value, or nil without it; one line is not copied.
    func value(of name: [UInt8]) -> [UInt8]? { fields.value(of: name) }

    /// A field's combined value with the lines of the trailers behind those of the head, as signatures
    /// stand in both (RFC 9421, sections 4.1 and 4.2); nil without one.
    func valueInHeadAndTrailers(of name: [UInt8]) -> [UInt8]? {
        guard trailers.contains(name: name) else { return fields.value(of: name) }
        return (fields + trailers).value(of: name)
    }

    func contains(_ name: [UInt8]) -> Bool { fields.contains(name: name) }
}

extension [SignableMessage.Field] {
    /// The values of a field, in their order; its name is in lower case.
    func values(of name: [UInt8]) -> [[UInt8]] {
        var values: [[UInt8]] = []
        for field in self where field.name.isSame(asLowercase: name) {
            values.append(field.value)
        }
        return values
    }

    /// Appends a field's combined value (RFC 9421, section 2.1): its lines joined by `, `.
    ///
    /// - Returns: Whether there is such a field.
    func appendValue(of name: [UInt8], to target: inout [UInt8]) -> Bool {
        var isPresent = false
        for field in self where field.name.isSame(asLowercase: name) {
            if isPresent {
                target.append(ASCII.comma)
                target.append(ASCII.space)
            }
            target.append(contentsOf: field.value)
            isPresent = true
        }
        return isPresent
    }

    /// A field's combined value, or nil without it; one line is not copied.
    func value(of name: [UInt8]) -> [UInt8]? {
        var single: [UInt8]?
        for field in self where field.name.isSame(asLowercase: name) {
            if single == nil {
                single = field.value
            } else {
                var joined: [UInt8] = []
                _ = appendValue(of: name, to: &joined)
                return joined
            }
        }
        return single
    }

    func contains(name: [UInt8]) -> Bool {
        contains { $0.name.isSame(asLowercase: name) }
    }
}

extension SignableMessage.Field {
    /// Appends `name: value` and CRLF.
    func append(to text: inout [UInt8]) {
        text.append(name)
        text.append(": ")
        text.append(contentsOf: value)
        text.append("\r\n")
    }

    /// The line as HTTP/1.1 text, with its CRLF.
    public func serialized() -> [UInt8] {
        var text: [UInt8] = []
        append(to: &text)
        return text
    }
}

extension [UInt8] {
    /// The bytes without spaces and tabs at both ends; no copy where there are none.
    func trimmingWhiteSpace() -> [UInt8] {
        var lower = startIndex
        var upper = endIndex
        while lower < upper, self[lower] == ASCII.space || self[lower] == ASCII.tab { lower += 1 }
        while upper > lower, self[upper - 1] == ASCII.space || self[upper - 1] == ASCII.tab {
            upper -= 1
        }
        return lower == startIndex && upper == endIndex ? self : Array(self[lower..<upper])
    }

    /// Removes spaces and tabs at the end.
    mutating func trimTrailingWhiteSpace() {
        while let last, last == ASCII.space || last == ASCII.tab { removeLast() }
    }
}
