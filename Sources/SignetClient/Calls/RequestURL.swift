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
        guard text.utf8.count <= 65536 else {
            throw .refusedURL("the URL is longer than 65536 bytes")
        }
        guard text.utf8.allSatisfy({ $0 < 0x80 }) else {
            throw .refusedURL("the URL contains a character that is not ASCII")
        }
        let parts: URLParts
        do throws(PinError) {
            parts = try URLParts(parsing: text)
        } catch {
            throw .refusedURL(error.message)
        }
        guard parts.scheme == "https" || parts.scheme == "http" else {
            throw .refusedURL("the URL's scheme is neither https nor http")
        }
        guard parts.fragment == nil else { throw .refusedURL("the URL contains a fragment") }
        guard !parts.authority.contains("@") else {
            throw .refusedURL("the URL contains a user name or a password before its host")
        }
        guard !parts.authority.isEmpty, parts.authority.first != ":" else {
            throw .refusedURL("the URL has no host, expected \(parts.scheme)://HOST/…")
        }
        scheme = parts.scheme
        authority = parts.authority
        path = parts.path.isEmpty ? "/" : parts.path
        query = parts.query
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
        ClientError(code: .refusedURL, message: message)
    }
}
