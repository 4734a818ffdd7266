public import HTTPTypes
public import SignetBase

/// A URL's origin: scheme, host and port in canonical form (RFC 6454, section 4).
public struct WebOrigin: Sendable, Hashable, CustomStringConvertible {
    /// Whether the scheme is https; otherwise it is http.
    public let isSecure: Bool
    /// The host in canonical form.
    public let host: HostName
    /// The port; the scheme's default if the URL names none.
    public let port: Int

    /// Creates an origin from its parts.
    public init(isSecure: Bool, host: HostName, port: Int) {
        self.isSecure = isSecure
        self.host = host
        self.port = port
    }

    /// Creates the https origin of an authority. Its port defaults to 443.
    package init(https authority: Authority) {
        self.init(isSecure: true, host: authority.host, port: authority.port(scheme: "https"))
    }

    /// Parses a scheme and an authority, the part between `//` and the path.
    ///
    /// - Throws: `TransportError` with code `invalid-request` for another scheme, an invalid host
    ///   or port, or user info, which the message doesn't repeat.
    public init(scheme: String, authority: String) throws(TransportError) {
        let isSecure = try Self.isSecure(scheme: scheme)
        do throws(HostError) {
            let parsed = try Authority(parsing: authority)
            self.init(
                isSecure: isSecure, host: parsed.host,
                port: parsed.port(scheme: isSecure ? "https" : "http"))
        } catch {
            throw TransportError(.invalidRequest, error.message)
        }
    }

    /// Returns `true` for https and `false` for http.
    ///
    /// - Throws: `TransportError` with code `invalid-request` for another scheme.
    package static func isSecure(scheme: String) throws(TransportError) -> Bool {
        if scheme == "https" { return true }
        switch scheme.lowercased() {
        case "https": return true
        case "http": return false
        default:
            throw TransportError(.invalidRequest, "unknown URL scheme, expected http or https")
        }
    }

    /// `https` or `http`.
    public var scheme: String { isSecure ? "https" : "http" }

    /// The host, with the port if it isn't the scheme's default.
    public var authority: String {
        port == (isSecure ? 443 : 80) ? host.uriText : "\(host.uriText):\(port)"
    }

    /// The scheme, host and port, without a path.
    public var description: String { "\(scheme)://\(authority)" }
}

/// An absolute http or https URL without user info or a fragment.
///
/// Two URLs are equal if their origins, paths and queries are, however their hosts are written.
public struct WebURL: Sendable, Hashable, CustomStringConvertible {
    /// The scheme, host and port.
    public let origin: WebOrigin
    /// The host and the port as written, which a request names and a signature covers.
    public let authority: String
    /// The path, beginning with `/`. Percent escapes stay as written.
    public let path: String
    /// The query without `?`; `nil` if the URL has no query.
    public let query: String?

    /// Creates a URL from its parts.
    public init(origin: WebOrigin, path: String, query: String? = nil) {
        self.init(origin: origin, authority: origin.authority, path: path, query: query)
    }

    private init(origin: WebOrigin, authority: String, path: String, query: String?) {
        self.origin = origin
        self.authority = authority
        self.path = path.isEmpty ? "/" : path
        self.query = query
    }

    /// Parses a URL of ASCII characters.
    ///
    /// - Throws: `TransportError` with code `invalid-request` for more than 65,536 bytes, another
    ///   scheme, an invalid host or port, a fragment, or user info. The message repeats no part of
    ///   the URL.
    public init(parsing text: String) throws(TransportError) {
        try Self.check(text)
        let parts: URLParts
        do throws(HostError) {
            parts = try URLParts(parsing: text)
        } catch {
            throw Self.invalid(error.message)
        }
        self.init(
            origin: try WebOrigin(scheme: parts.scheme, authority: parts.authority),
            authority: parts.authority, path: parts.path, query: parts.query)
    }

    /// Returns the URL with another path and query, without parsing its host again.
    ///
    /// - Parameter target: Empty, or begins with `/` or `?`.
    /// - Throws: `TransportError` with code `invalid-request` if the target isn't a path and query.
    package func replacing(target: String) throws(TransportError) -> WebURL {
        try Self.check(target)
        guard target.isEmpty || "/?".utf8.contains(target.utf8[target.startIndex]) else {
            throw Self.invalid("the path does not begin with \"/\"")
        }
        return WebURL(origin: origin, authority: authority, target: target)
    }

    private static let plain = ASCIISet(lettersDigitsAnd: "-._~:/?@!$&'()*+,;=%[]")

    private static func check(_ text: String) throws(TransportError) {
        guard text.utf8.count <= 65536 else { throw invalid("the URL is longer than 65536 bytes") }
        // Nearly all URLs, in one pass.
        if text.utf8.allSatisfy({ plain.contains($0) }) { return }
        guard text.utf8.allSatisfy({ $0 < 0x80 }) else {
            throw invalid("the URL contains a character that is not ASCII")
        }
        if let problem = URLParts.problem(in: text.utf8) {
            throw invalid("the URL contains \(problem)")
        }
        guard !text.utf8.contains(UInt8(ascii: "#")) else {
            throw invalid("the URL contains a fragment")
        }
    }

    /// Creates the URL of a request.
    ///
    /// - Throws: `TransportError` with code `invalid-request` if the scheme or the authority is
    ///   missing or invalid.
    public init(_ request: HTTPRequest) throws(TransportError) {
        guard let authority = request.authority, !authority.isEmpty else {
            throw Self.invalid("the request has no host")
        }
        self.init(
            origin: try WebOrigin(scheme: request.scheme ?? "https", authority: authority),
            authority: authority, target: request.path ?? "/")
    }

    init(origin: WebOrigin, authority: String, target: String) {
        let mark = target.utf8.firstIndex(of: UInt8(ascii: "?"))
        self.init(
            origin: origin, authority: authority,
            path: String(target[..<(mark ?? target.endIndex)]),
            query: mark.map { String(target[target.utf8.index(after: $0)...]) })
    }

    /// Whether origins, paths and queries are equal.
    public static func == (left: WebURL, right: WebURL) -> Bool {
        left.origin == right.origin && left.path == right.path && left.query == right.query
    }

    /// Hashes the origin, the path and the query.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(origin)
        hasher.combine(path)
        hasher.combine(query)
    }

    /// The path and, if there is one, the query.
    public var target: String { query.map { "\(path)?\($0)" } ?? path }

    /// The URL for messages: a long path is shortened, and `?…` replaces a query.
    public var description: String {
        let shown = path.utf8.count > 160 ? "\(path.prefix(160))…" : path
        return "\(origin)\(shown)\(query == nil ? "" : "?…")"
    }

    /// Returns the URL at the https origin of another URL, if it is an http URL of the same host
    /// and names the same port or none; otherwise returns the URL itself.
    package func stayingOnHTTPS(of other: WebURL) -> WebURL {
        guard other.origin.isSecure, !origin.isSecure, origin.host == other.origin.host,
            origin.port == 80 || origin.port == other.origin.port
        else { return self }
        return WebURL(origin: other.origin, path: path, query: query)
    }

    /// Returns the URL without the query parameters of these names, which are compared as written.
    func removing(parameters names: Set<String>) -> WebURL {
        guard let query, !names.isEmpty else { return self }
        let kept = query.split(separator: "&", omittingEmptySubsequences: false).filter { pair in
            !names.contains(String(pair.prefix { $0 != "=" }))
        }
        return WebURL(
            origin: origin, authority: authority, path: path,
            query: kept.isEmpty ? nil : kept.joined(separator: "&"))
    }
}

extension WebURL {
    /// Resolves a reference against this URL (RFC 3986, section 5.2), without its fragment.
    ///
    /// Dot segments are removed, including those written as `%2e`. In the path and query,
    /// characters that a URL can't contain and all non-ASCII characters are percent-encoded.
    ///
    /// - Parameter reference: The value of a `Location` field.
    /// - Throws: `TransportError`: `malformed-response` for an invalid reference,
    ///   `redirect-refused` for user info and for a scheme other than http and https. The message
    ///   repeats no part of the reference.
    public func resolving(_ reference: String) throws(TransportError) -> WebURL {
        let all = Array(reference.utf8)
        guard all.count <= 16384 else { throw Self.malformed("is longer than 16384 bytes") }
        if let problem = URLParts.problem(in: all.filter { $0 != ASCII.space }) {
            throw Self.malformed("contains \(problem)")
        }
        guard !reference.unicodeScalars.contains("\u{FFFD}") else {
            throw Self.malformed("is not UTF-8")
        }
        var rest = all.prefix { $0 != UInt8(ascii: "#") }
        var query: ArraySlice<UInt8>?
        if let mark = rest.firstIndex(of: UInt8(ascii: "?")) {
            query = rest[(mark + 1)...]
            rest = rest[..<mark]
        }
        let scheme = try Self.removeScheme(from: &rest)
        let escapedQuery = query.map(Self.escaped)
        if rest.starts(with: "//".utf8) {
            let authority = rest.dropFirst(2).prefix { $0 != UInt8(ascii: "/") }
            return WebURL(
                origin: try Self.origin(scheme: scheme ?? origin.scheme, authority: authority),
                path: Self.path(rest[authority.endIndex...]), query: escapedQuery)
        }
        guard scheme == nil else { throw Self.malformed("has a scheme but no host") }
        if rest.isEmpty {
            return WebURL(origin: origin, path: path, query: escapedQuery ?? self.query)
        }
        if rest.first == UInt8(ascii: "/") {
            return WebURL(origin: origin, path: Self.path(rest), query: escapedQuery)
        }
        let base = Array(path.utf8)
        let folder = base[...(base.lastIndex(of: UInt8(ascii: "/")) ?? 0)]
        return WebURL(origin: origin, path: Self.path((folder + rest)[...]), query: escapedQuery)
    }

    /// Removes and returns the scheme at the start of a reference; `nil` if it has none.
    private static func removeScheme(
        from rest: inout ArraySlice<UInt8>
    ) throws(TransportError) -> String? {
        let end = rest.firstIndex { $0 == UInt8(ascii: ":") || $0 == UInt8(ascii: "/") }
        guard let end, rest[end] == UInt8(ascii: ":") else { return nil }
        let scheme = String(decoding: rest[..<end], as: UTF8.self).lowercased()
        guard scheme == "https" || scheme == "http" else {
            throw TransportError(
                .redirectRefused,
                "its Location has an unknown scheme, expected https or http")
        }
        rest = rest[(end + 1)...]
        return scheme
    }

    private static func origin(
        scheme: String, authority: ArraySlice<UInt8>
    ) throws(TransportError) -> WebOrigin {
        guard !authority.contains(UInt8(ascii: "@")) else {
            throw TransportError(
                .redirectRefused,
                "its Location contains a user name or a password")
        }
        guard !authority.isEmpty else { throw malformed("has no host") }
        do throws(TransportError) {
            return try WebOrigin(
                scheme: scheme, authority: String(decoding: authority, as: UTF8.self))
        } catch {
            throw malformed("has an invalid host: \(error.message)")
        }
    }

    /// Returns a path without dot segments (RFC 3986, section 5.2.4); `/` if it is empty.
    private static func path(_ bytes: ArraySlice<UInt8>) -> String {
        let segments = bytes.dropFirst().split(
            separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
        var kept: [ArraySlice<UInt8>] = []
        for (index, segment) in segments.enumerated() {
            guard let dots = dots(segment) else {
                kept.append(segment)
                continue
            }
            if dots == 2, !kept.isEmpty { kept.removeLast() }
            if index == segments.count - 1 { kept.append([]) }
        }
        return "/" + kept.map(escaped).joined(separator: "/")
    }

    /// Returns the number of dots, 1 or 2, of a dot segment; `nil` for any other segment.
    private static func dots(_ segment: ArraySlice<UInt8>) -> Int? {
        guard segment.count <= 6, !segment.isEmpty else { return nil }
        let text = String(decoding: segment, as: UTF8.self).lowercased()
        return switch text {
        case ".", "%2e": 1
        case "..", ".%2e", "%2e.", "%2e%2e": 2
        default: nil
        }
    }

    private static let unescaped = ASCIISet(allExcept: " \"<>[]^`{|}%")

    /// Returns a part of a URL with escapes for what it can't contain, and for a percent sign that
    /// begins no escape.
    private static func escaped(_ bytes: ArraySlice<UInt8>) -> String {
        if bytes.allSatisfy(unescaped.contains) { return String(decoding: bytes, as: UTF8.self) }
        var text: [UInt8] = []
        for (index, byte) in zip(bytes.indices, bytes) {
            let isEscape = byte == UInt8(ascii: "%") && bytes.hasPercentEscape(at: index)
            if isEscape {
                text.append(byte)
            } else {
                PercentCoding.append([byte], keeping: unescaped, to: &text)
            }
        }
        return String(decoding: text, as: UTF8.self)
    }

    /// Returns an absolute URL that a person typed, with escapes in its path and query as
    /// ``resolving(_:)`` makes them; a text of another form as it is.
    package static func escaping(typed text: String) -> String {
        let bytes = Array(text.utf8)
        guard let colon = bytes.firstIndex(of: ASCII.colon),
            bytes[colon...].starts(with: "://".utf8)
        else { return text }
        let start = bytes[(colon + 3)...].firstIndex { $0 == ASCII.slash || $0 == ASCII.question }
        guard let start, URLParts.problem(in: bytes.filter { $0 != ASCII.space }) == nil
        else { return text }
        return String(decoding: bytes[..<start], as: UTF8.self) + escaped(bytes[start...])
    }

    private static func invalid(_ message: String) -> TransportError {
        TransportError(.invalidRequest, message)
    }

    private static func malformed(_ problem: String) -> TransportError {
        TransportError(.malformedResponse, "its Location \(problem)")
    }
}
