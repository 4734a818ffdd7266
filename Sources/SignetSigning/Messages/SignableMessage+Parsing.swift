import SignetBase

extension SignableMessage {
    /// The largest size of the lines before the body, in bytes.
    public static let maximumHeadSize = 256 * 1024
    /// The largest number of fields before the body. HTTPTypes traps at one more.
    public static let maximumFieldCount = 65_534

    /// Parses HTTP/1.1 text strictly (RFC 9112): a first line, field lines, a blank line, and the
    /// body.
    ///
    /// Lines end with LF or CRLF. In a request's first line the target is everything between the
    /// first and the last space. An absolute-form target takes precedence over Host. Folded lines
    /// are joined with one space. The body is everything after the blank line. It must be as long
    /// as Content-Length says, but may be missing: a body that isn't in memory follows later.
    ///
    /// - Parameters:
    ///   - text: The whole message.
    ///   - plainHTTP: Whether a request travels without TLS. A scheme in the target takes
    ///     precedence.
    /// - Throws: `SigningError` with `malformed-message`. The message names the line.
    public init(parsing text: [UInt8], plainHTTP: Bool = false) throws(SigningError) {
        var lines = HeadLines(text: text)
        guard let first = try lines.next() else {
            throw SigningError(.malformedMessage, "the message is empty")
        }
        var fields: [Field] = []
        var name: String?
        var value: [UInt8] = []
        var isComplete = false
        while let line = try lines.next() {
            if !line.isEmpty, text[line.lowerBound].isBlank {
                guard name != nil else {
                    throw lines.error("starts with white space, expected a field name")
                }
                value.trimTrailingWhiteSpace()
                value.append(ASCII.space)
                value.append(contentsOf: text[line].drop(while: \.isBlank))
                continue
            }
            if let name {
                fields.append(Field(known: name, value: value.trimmingWhiteSpace()))
            }
            if line.isEmpty {
                isComplete = true
                break
            }
            guard fields.count < Self.maximumFieldCount else {
                throw lines.error("is over the limit of \(Self.maximumFieldCount) fields")
            }
            (name, value) = try lines.field(line)
        }
        guard isComplete else {
            guard String(decoding: text[first], as: UTF8.self).contains("HTTP/") else {
                throw SigningError(
                    .malformedMessage,
                    "line 1 isn't the start of an HTTP message; expected METHOD TARGET HTTP/1.1 or "
                        + "HTTP/1.1 STATUS, then fields and a blank line")
            }
            throw SigningError(
                .malformedMessage, "found the end, expected a blank line after the fields")
        }
        let start = try Start(
            line: Array(text[first]), fields: fields, scheme: plainHTTP ? .http : .https)
        self.init(start: start, fields: fields, body: Array(text[lines.position...]))
        let declared = try declaredLength
        if !body.isEmpty { try requireBody(of: declared) }
    }

    /// Checks that the body isn't missing, for a message that has none of its own elsewhere.
    ///
    /// - Throws: `SigningError` with `malformed-message` if Content-Length declares a body.
    package func requireWholeBody() throws(SigningError) {
        if body.isEmpty { try requireBody(of: declaredLength) }
    }

    private func requireBody(of declared: Int64?) throws(SigningError) {
        guard let declared, declared != Int64(body.count) else { return }
        throw SigningError(
            .malformedMessage,
            "found a body of \(body.count) bytes, expected \(declared) by Content-Length"
                + (declared + 1 == Int64(body.count) && body.last == ASCII.lineFeed
                    ? "; the last byte is a line break that an editor may have added" : ""))
    }

    /// The body's length by Content-Length; nil if the field is missing or declares a body that
    /// doesn't follow (RFC 9110, section 8.6).
    ///
    /// - Throws: `SigningError` with `malformed-message` if two differ or one isn't a number.
    var declaredLength: Int64? {
        get throws(SigningError) {
            let values = values(of: Array("content-length".utf8))
            guard let value = values.first else { return nil }
            guard values.allSatisfy({ $0 == value }) else {
                throw SigningError(
                    .malformedMessage, "found two Content-Length fields that differ, expected one")
            }
            guard (1...18).contains(value.count), value.allSatisfy(\.isDigit) else {
                throw SigningError(
                    .malformedMessage, "Content-Length: expected a number of at most 18 digits")
            }
            if let response,
                response.status == 304 || relatedRequest?.request?.method == "HEAD"
            {
                return nil
            }
            return value.reduce(0) { $0 * 10 + Int64($1 - ASCII.zero) }
        }
    }
}

/// Reads the lines of a message's head one by one.
private struct HeadLines {
    let text: [UInt8]
    private(set) var position = 0
    private var number = 0

    init(text: [UInt8]) { self.text = text }

    /// Returns the next line without its end; nil if no line end follows.
    mutating func next() throws(SigningError) -> Range<Int>? {
        number += 1
        let start = position
        let limit = min(text.count, SignableMessage.maximumHeadSize)
        var index = start
        while index < limit {
            let byte = text[index]
            if byte == ASCII.lineFeed {
                position = index + 1
                return start..<index
            }
            if byte == ASCII.carriageReturn {
                guard index + 1 < text.count, text[index + 1] == ASCII.lineFeed else {
                    throw error("contains a CR without LF")
                }
                position = index + 2
                return start..<index
            }
            if byte.isControl {
                throw error("contains a control character")
            }
            index += 1
        }
        guard limit == text.count else {
            throw SigningError(
                .malformedMessage,
                "expected a blank line in the first \(SignableMessage.maximumHeadSize) bytes")
        }
        return nil
    }

    /// Splits a field line at its colon.
    func field(_ line: Range<Int>) throws(SigningError) -> (name: String, value: [UInt8]) {
        guard let colon = text[line].firstIndex(of: ASCII.colon) else {
            throw error("has no colon")
        }
        let name = text[line.lowerBound..<colon]
        guard !name.isEmpty, name.allSatisfy(\.isToken) else {
            throw error("has a field name that isn't a token")
        }
        return (
            String(decoding: name, as: UTF8.self), Array(text[(colon + 1)..<line.upperBound])
        )
    }

    func error(_ words: String) -> SigningError {
        SigningError(.malformedMessage, "line \(number) \(words)")
    }
}

extension SignableMessage.Start {
    /// Parses a first line.
    init(
        line: [UInt8], fields: [SignableMessage.Field], scheme: SignableMessage.Scheme
    ) throws(SigningError) {
        let version = Array("HTTP/1.1".utf8)
        guard !line.starts(with: Array("HTTP/".utf8)) else {
            self = .response(try SignableMessage.Response(line: line, version: version))
            return
        }
        guard let first = line.firstIndex(of: ASCII.space),
            let last = line.lastIndex(of: ASCII.space), first < last
        else {
            throw SigningError(
                .malformedMessage, "line 1: expected METHOD TARGET HTTP/1.1 or HTTP/1.1 STATUS")
        }
        guard Array(line[(last + 1)...]) == version else {
            throw SigningError(.malformedMessage, "line 1 does not end in HTTP/1.1")
        }
        self = .request(
            try SignableMessage.Request(
                method: String(decoding: line[..<first], as: UTF8.self),
                target: Array(line[(first + 1)..<last]), fields: fields, scheme: scheme))
    }
}

extension SignableMessage.Response {
    init(line: [UInt8], version: [UInt8]) throws(SigningError) {
        let rest = line.dropFirst(version.count)
        guard line.starts(with: version), rest.first == ASCII.space else {
            throw SigningError(.malformedMessage, "line 1: expected a status line of HTTP/1.1")
        }
        let digits = rest.dropFirst().prefix(3)
        let reason = rest.dropFirst(4)
        guard digits.count == 3, digits.allSatisfy(\.isDigit), digits.first != ASCII.zero,
            reason.isEmpty || reason.first == ASCII.space
        else {
            throw SigningError(.malformedMessage, "line 1: expected a status of three digits")
        }
        self.init(
            status: digits.reduce(0) { $0 * 10 + Int($1 - ASCII.zero) },
            reason: Array(reason.dropFirst()))
    }
}

extension SignableMessage.Request {
    /// Creates a request from the parts of the first line and the Host field.
    init(
        method: String, target: [UInt8], fields: [SignableMessage.Field],
        scheme: SignableMessage.Scheme
    ) throws(SigningError) {
        guard !method.isEmpty, method.utf8.allSatisfy(\.isToken) else {
            throw SigningError(.malformedMessage, "line 1: the method isn't a token")
        }
        guard !target.isEmpty else {
            throw SigningError(.malformedMessage, "line 1: the target is empty")
        }
        var host: [UInt8]?
        for field in fields where field.name.isSame(asLowercase: SignableMessage.host) {
            guard host == nil else {
                throw SigningError(.malformedMessage, "found two Host fields, expected one")
            }
            host = field.value
        }
        if method == "CONNECT" {
            self.init(
                method: method, scheme: scheme, authority: target, target: target,
                path: target.endIndex..<target.endIndex, query: nil)
            return
        }
        let absolute = Self.absoluteForm(of: target)
        let pathStart = absolute?.authority.endIndex ?? 0
        let question = target[pathStart...].firstIndex(of: ASCII.question)
        var path = pathStart..<(question ?? target.endIndex)
        if target == [0x2A] { path = target.endIndex..<target.endIndex }
        self.init(
            method: method, scheme: absolute?.scheme ?? scheme,
            authority: absolute.map { Array($0.authority) } ?? host, target: target, path: path,
            query: question.map { ($0 + 1)..<target.endIndex })
    }

    /// Returns the beginning of a target that is an absolute http or https URI (RFC 9112, section
    /// 3.2.2).
    private static func absoluteForm(
        of target: [UInt8]
    ) -> (scheme: SignableMessage.Scheme, authority: ArraySlice<UInt8>)? {
        guard let first = target.first, first != ASCII.slash,
            let colon = target.firstIndex(of: ASCII.colon),
            target[colon...].starts(with: "://".utf8),
            let scheme = SignableMessage.Scheme(
                rawValue: String(decoding: target[..<colon].map(\.lowercased), as: UTF8.self))
        else { return nil }
        return (
            scheme, target[(colon + 3)...].prefix { $0 != ASCII.slash && $0 != ASCII.question }
        )
    }
}
