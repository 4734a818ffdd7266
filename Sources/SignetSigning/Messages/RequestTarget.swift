import SignetBase

extension SignableMessage.Request {
    /// Appends host and port in canonical form: in lower case, without the scheme's default port
    /// (RFC 9421, section 2.2.3; RFC 9110, section 4.2.3).
    ///
    /// - Throws: `SigningError` with `missing-component` if the request has no host, and with
    ///   `malformed-message` if it isn't a host and port of RFC 3986. User information is malformed
    ///   too, because HTTP forbids it.
    func appendAuthority(to text: inout [UInt8]) throws(SigningError) {
        guard let authority else {
            throw SigningError(
                .missingComponent, "@authority: the request has no Host and no absolute target")
        }
        var end = 0
        if authority.first == 0x5B {
            guard let close = authority.firstIndex(of: 0x5D), close > 1,
                authority[1..<close].allSatisfy({
                    $0.isHexDigit || $0 == ASCII.colon || $0 == ASCII.dot
                })
            else { throw Self.notAnAuthority }
            end = close + 1
        } else {
            while end < authority.count, authority[end] != ASCII.colon {
                let byte = authority[end]
                if byte == 0x25 {
                    guard authority.hasPercentEscape(at: end) else { throw Self.notAnAuthority }
                } else if !byte.isHostName {
                    throw Self.notAnAuthority
                }
                end += 1
            }
        }
        guard end > 0 else { throw Self.notAnAuthority }
        for index in 0..<end { text.append(authority[index].lowercased) }
        guard end < authority.count else { return }
        let port = authority[(end + 1)...]
        guard authority[end] == ASCII.colon, port.count <= 5, port.allSatisfy(\.isDigit),
            port.first != ASCII.zero, port.reduce(0, { $0 * 10 + Int($1 - ASCII.zero) }) < 65536
        else { throw Self.notAnAuthority }
        if !port.isEmpty, !port.elementsEqual(scheme.defaultPort) {
            text.append(ASCII.colon)
            text.append(contentsOf: port)
        }
    }

    /// Appends the absolute path, or `/` if it is empty (RFC 9421, section 2.2.6).
    func appendPath(to text: inout [UInt8]) {
        text.append(contentsOf: path.isEmpty ? [ASCII.slash] : target[path])
    }

    /// Appends `?` and the query, or only `?` without a query (RFC 9421, section 2.2.7).
    func appendQuery(to text: inout [UInt8]) {
        text.append(ASCII.question)
        if let query { text.append(contentsOf: target[query]) }
    }

    /// Appends the target URI with canonical authority and path (RFC 9421, section 2.2.2).
    func appendTargetURI(to text: inout [UInt8]) throws(SigningError) {
        text.append(scheme.rawValue)
        text.append("://")
        try appendAuthority(to: &text)
        appendPath(to: &text)
        if query != nil { appendQuery(to: &text) }
    }

    /// Requires that the target is a path and query of RFC 3986.
    ///
    /// - Throws: `SigningError` with `malformed-message` for a space, a byte that isn't ASCII, a
    ///   percent sign without two hexadecimal digits, or any other byte that must be
    ///   percent-encoded.
    func requireURI() throws(SigningError) {
        let bytes = target.span
        var index = path.isEmpty ? (query?.lowerBound ?? target.count) : path.lowerBound
        guard path.isEmpty || bytes[path.lowerBound] == ASCII.slash else { throw notAURI }
        while index < bytes.count {
            let byte = bytes[index]
            if !byte.isPathOrQuery {
                guard byte == 0x25, target.hasPercentEscape(at: index) else { throw notAURI }
            }
            index += 1
        }
    }

    private var notAURI: SigningError {
        SigningError(
            .malformedMessage,
            "the target: expected a path and query of RFC 3986, percent-encoded")
    }

    private static var notAnAuthority: SigningError {
        SigningError(.malformedMessage, "Host: expected HOST or HOST:PORT of RFC 3986")
    }
}
