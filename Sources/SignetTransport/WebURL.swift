public import HTTPTypes
public import SignetPinning

/// What of a URL decides whose it is: scheme, host and port, each in one form (RFC 6454, section 4).
public struct WebOrigin: Sendable, Hashable, CustomStringConvertible {
    /// Whether the scheme is https, else http.
    public let isSecure: Bool
    /// The host in its one form.
    public let host: HostName
    /// The port, the scheme's own where none was written.
    public let port: Int

    /// Takes the parts.
    public init(isSecure: Bool, host: HostName, port: Int) {
        self.isSecure = isSecure
        self.host = host
        self.port = port
    }

    /// Reads a scheme and what stands between `//` and the path.
    ///
    /// - Throws: `TransportError` with code `invalid-request`; user info is refused and not repeated.
    public init(scheme: String, authority: String) throws(TransportError) {
        let isSecure = scheme.lowercased() == "https"
        guard isSecure || scheme.lowercased() == "http" else {
            throw TransportError(code: .invalidRequest, message: "the scheme is http or https")
        }
        do throws(PinError) {
            let parsed = try Authority(parsing: authority)
            self.init(
                isSecure: isSecure, host: parsed.host,
                port: parsed.port(scheme: isSecure ? "https" : "http"))
        } catch {
            throw TransportError(code: .invalidRequest, message: error.message)
        }
    }

    /// `https` or `http`.
    public var scheme: String { isSecure ? "https" : "http" }

    /// Host and, where it is not the scheme's own, port.
    public var authority: String {
        port == (isSecure ? 443 : 80) ? host.uriText : "\(host.uriText):\(port)"
    }

    /// Scheme, host and port, without a path.
    public var description: String { "\(scheme)://\(authority)" }
}

/// An absolute http or https URL without user info and fragment.
public struct WebURL: Sendable, Hashable, CustomStringConvertible {
    /// Scheme, host and port.
    public let origin: WebOrigin
    /// The path, beginning with `/`; escapes stand as they were written.
    public let path: String
    /// The query without `?`; nil where there is none.
    public let query: String?

    /// Takes the parts.
    public init(origin: WebOrigin, path: String, query: String? = nil) {
        self.origin = origin
        self.path = path.isEmpty ? "/" : path
        self.query = query
    }

    /// The URL of a request.
    ///
    /// - Throws: `TransportError` with code `invalid-request`.
    public init(_ request: HTTPRequest) throws(TransportError) {
        guard let authority = request.authority, !authority.isEmpty else {
            throw TransportError(code: .invalidRequest, message: "the request names no host")
        }
        let target = request.path ?? "/"
        let mark = target.firstIndex(of: "?")
        self.init(
            origin: try WebOrigin(scheme: request.scheme ?? "https", authority: authority),
            path: String(target[..<(mark ?? target.endIndex)]),
            query: mark.map { String(target[target.index(after: $0)...]) })
    }

    /// Path and, where there is one, query.
    public var target: String { query.map { "\(path)?\($0)" } ?? path }

    /// The URL for people: at most the start of a long path, and of a query only that there is one.
    public var description: String {
        let shown = path.utf8.count > 160 ? "\(path.prefix(160))…" : path
        return "\(origin)\(shown)\(query == nil ? "" : "?…")"
    }

    /// The URL without the parameters of these names, which are compared as they are written.
    func removing(parameters names: Set<String>) -> WebURL {
        guard let query, !names.isEmpty else { return self }
        let kept = query.split(separator: "&", omittingEmptySubsequences: false).filter { pair in
            !names.contains(String(pair.prefix { $0 != "=" }))
        }
        return WebURL(
            origin: origin, path: path, query: kept.isEmpty ? nil : kept.joined(separator: "&"))
    }
}

extension WebURL {
    /// The URL that a reference means here (RFC 3986, section 5.2), without its fragment.
    ///
    /// Dot segments are removed, also those written `%2e`; characters that a URL does not hold as they
    /// stand, beyond ASCII too, are escaped in path and query.
    ///
    /// - Parameter reference: As a `Location` field holds it.
    /// - Throws: `TransportError`: `malformed-reply` for what is no reference, `redirect-refused` for
    ///   user info, and for a scheme that is neither http nor https. Nothing of it is repeated.
    public func resolving(_ reference: String) throws(TransportError) -> WebURL {
        let all = Array(reference.utf8)
        guard all.count <= 16384 else { throw Self.malformed("is longer than 16384 bytes") }
        if let defect = URLParts.defect(in: all) { throw Self.malformed("contains \(defect)") }
        guard !reference.unicodeScalars.contains("\u{FFFD}") else {
            throw Self.malformed("is no UTF-8")
        }
        var rest = all.prefix { $0 != UInt8(ascii: "#") }
        var query: ArraySlice<UInt8>?
        if let mark = rest.firstIndex(of: UInt8(ascii: "?")) {
            query = rest[(mark + 1)...]
            rest = rest[..<mark]
        }
        let scheme = try Self.takeScheme(&rest)
        let escapedQuery = query.map(Self.escaped)
        if rest.starts(with: "//".utf8) {
            let authority = rest.dropFirst(2).prefix { $0 != UInt8(ascii: "/") }
            return WebURL(
                origin: try Self.origin(scheme ?? origin.scheme, authority),
                path: Self.path(rest[authority.endIndex...]), query: escapedQuery)
        }
        guard scheme == nil else { throw Self.malformed("has a scheme and no host") }
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

    /// A scheme and its colon at the start of a reference; nil where it has none.
    private static func takeScheme(
        _ rest: inout ArraySlice<UInt8>
    ) throws(TransportError) -> String? {
        let end = rest.firstIndex { $0 == UInt8(ascii: ":") || $0 == UInt8(ascii: "/") }
        guard let end, rest[end] == UInt8(ascii: ":") else { return nil }
        let scheme = String(decoding: rest[..<end], as: UTF8.self).lowercased()
        guard scheme == "https" || scheme == "http" else {
            throw TransportError(
                code: .redirectRefused,
                message: "its scheme is neither https nor http")
        }
        rest = rest[(end + 1)...]
        return scheme
    }

    private static func origin(
        _ scheme: String, _ authority: ArraySlice<UInt8>
    ) throws(TransportError) -> WebOrigin {
        guard !authority.contains(UInt8(ascii: "@")) else {
            throw TransportError(
                code: .redirectRefused, message: "it holds a user name or a password")
        }
        guard !authority.isEmpty else { throw malformed("has no host") }
        do throws(TransportError) {
            return try WebOrigin(
                scheme: scheme, authority: String(decoding: authority, as: UTF8.self))
        } catch {
            throw malformed("has a host that is none: \(error.message)")
        }
    }

    /// A path without dot segments (RFC 3986, section 5.2.4); `/` where it is empty.
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

    /// How many dots a segment is that is nothing else, 1 or 2.
    private static func dots(_ segment: ArraySlice<UInt8>) -> Int? {
        guard segment.count <= 6, !segment.isEmpty else { return nil }
        let text = String(decoding: segment, as: UTF8.self).lowercased()
        return switch text {
        case ".", "%2e": 1
        case "..", ".%2e", "%2e.", "%2e%2e": 2
        default: nil
        }
    }

    private static func escaped(_ bytes: ArraySlice<UInt8>) -> String {
        let digits = Array("0123456789ABCDEF".utf8)
        var text: [UInt8] = []
        for byte in bytes {
            if byte >= 0x80 || "\"<>^`{|}".utf8.contains(byte) {
                text += [UInt8(ascii: "%"), digits[Int(byte >> 4)], digits[Int(byte & 15)]]
            } else {
                text.append(byte)
            }
        }
        return String(decoding: text, as: UTF8.self)
    }

    private static func malformed(_ what: String) -> TransportError {
        TransportError(code: .malformedResponse, message: "its Location \(what)")
    }
}
