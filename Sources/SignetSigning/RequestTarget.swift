extension SignableMessage.Request {
    /// Appends host and port in their one form: lower case, the scheme's default port left out
    /// (RFC 9421, section 2.2.3; RFC 9110, section 4.2.3).
    ///
    /// - Throws: `SigningError` with `missing-component` where the request names no host, and with
    ///   `malformed-message` where what it names is no host and port of RFC 3986: user information
    ///   too, which HTTP forbids.
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
                    guard authority.isPercentTriplet(at: end) else { throw Self.notAnAuthority }
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

    /// Appends the absolute path, `/` where it is empty (RFC 9421, section 2.2.6).
    func appendPath(to text: inout [UInt8]) {
        if path.isEmpty {
            text.append(ASCII.slash)
        } else {
            text.append(contentsOf: target[path])
        }
    }

    /// Appends the query with its `?`, which stands alone without one (RFC 9421, section 2.2.7).
    func appendQuery(to text: inout [UInt8]) {
        text.append(ASCII.question)
        if let query { text.append(contentsOf: target[query]) }
    }

    /// Appends the target URI (RFC 9421, section 2.2.2), normalised as authority and path are.
    func appendTargetURI(to text: inout [UInt8]) throws(SigningError) {
        text.append(scheme.rawValue)
        text.append("://")
        try appendAuthority(to: &text)
        appendPath(to: &text)
        if query != nil { appendQuery(to: &text) }
    }

    /// Demands that the target is a URI's path and query in the spelling of RFC 3986.
    ///
    /// - Throws: `SigningError` with `malformed-message`, for a raw space, a byte that is not ASCII,
    ///   a lone percent sign and whatever else must be percent-encoded.
    func requireURI() throws(SigningError) {
        let bytes = target.span
        var index = path.isEmpty ? (query?.lowerBound ?? target.count) : path.lowerBound
        guard path.isEmpty || bytes[path.lowerBound] == ASCII.slash else { throw notAURI }
        while index < bytes.count {
            let byte = bytes[index]
            if !byte.isPathOrQuery {
                guard byte == 0x25, target.isPercentTriplet(at: index) else { throw notAURI }
            }
            index += 1
        }
    }

    private var notAURI: SigningError {
        SigningError(
            .malformedMessage,
            "the target is no URI: wanted a path and query of RFC 3986, percent-encoded")
    }

    private static var notAnAuthority: SigningError {
        SigningError(
            .malformedMessage, "Host is no host and port of RFC 3986: wanted HOST or HOST:PORT")
    }
}

extension [UInt8] {
    fileprivate func isPercentTriplet(at index: Int) -> Bool {
        index + 2 < count && self[index + 1].isHexDigit && self[index + 2].isHexDigit
    }
}
