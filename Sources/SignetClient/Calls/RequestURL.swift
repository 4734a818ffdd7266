internal import SignetPinning

/// An absolute http or https URL, split for a request; no user info, no fragment.
struct RequestURL: Sendable, Hashable {
    /// `https` or `http`.
    let scheme: String
    /// Host and, where it is not the scheme's own, port, as they stand in the URL.
    let authority: String
    /// The path, `/` where the URL has none.
    let path: String
    /// The query without `?`; nil where the URL has none.
    let query: String?

    /// Splits a URL.
    ///
    /// - Throws: `refused-url` that says what is missing; user info is never repeated.
    init(_ text: String) throws(ClientError) {
        guard text.utf8.count <= 65536, text.utf8.allSatisfy({ (0x21...0x7E).contains($0) }) else {
            throw .refusedURL("the URL holds a space, a control character or one that is not ASCII")
        }
        guard let colon = text.firstRange(of: "://") else {
            throw .refusedURL("the URL has no scheme, wanted https://HOST/…")
        }
        let scheme = text[..<colon.lowerBound].lowercased()
        guard scheme == "https" || scheme == "http" else {
            throw .refusedURL("the URL's scheme is neither https nor http")
        }
        let rest = text[colon.upperBound...]
        guard !rest.contains("#") else { throw .refusedURL("the URL holds a fragment") }
        let authority = rest.prefix { $0 != "/" && $0 != "?" }
        guard !authority.contains("@") else {
            throw .refusedURL("the URL holds a user name or a password before its host")
        }
        guard !authority.isEmpty, authority.first != ":" else {
            throw .refusedURL("the URL has no host, wanted \(scheme)://HOST/…")
        }
        let target = rest[authority.endIndex...]
        let mark = target.firstIndex(of: "?")
        let path = target[..<(mark ?? target.endIndex)]
        self.scheme = scheme
        self.authority = String(authority)
        self.path = path.isEmpty ? "/" : String(path)
        self.query = mark.map { String(target[target.index(after: $0)...]) }
    }

    /// The host in its one form, for pins.
    ///
    /// - Throws: `refused-url` where it is none.
    func host() throws(ClientError) -> HostName {
        do {
            return try Authority(parsing: authority).host
        } catch {
            throw .refusedURL(error.message)
        }
    }

    /// The path and, where there is one, the query.
    var target: String { query.map { path + "?" + $0 } ?? path }

    /// The URL below this one: `path`, beginning with `/`, joined to this one's path; a query of this one
    /// stays, and one of `path` joins it.
    func appending(path below: String) throws(ClientError) -> RequestURL {
        guard below.utf8.first == UInt8(ascii: "/") else {
            throw .refusedURL("the path of a resource begins with /")
        }
        let base = path.utf8.last == UInt8(ascii: "/") ? String(path.dropLast()) : path
        let joined = query.map { "\(below)\(below.contains("?") ? "&" : "?")\($0)" } ?? below
        return try RequestURL("\(scheme)://\(authority)\(base)\(joined)")
    }
}

extension ClientError {
    static func refusedURL(_ message: String) -> ClientError {
        ClientError(.processing, .refusedURL, message)
    }
}
