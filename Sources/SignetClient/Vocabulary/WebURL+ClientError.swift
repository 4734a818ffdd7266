import HTTPTypes
import SignetTransport

extension WebURL {
    /// Parses a URL.
    ///
    /// - Throws: `refused-url`, which says what is wrong, without user info.
    init(_ text: String) throws(ClientError) {
        self = try Self.refusing { () throws(TransportError) in try WebURL(parsing: text) }
    }

    /// The URL of a request.
    ///
    /// - Throws: `refused-url`, which says what is wrong, without user info.
    init(of request: HTTPRequest) throws(ClientError) {
        self = try Self.refusing { () throws(TransportError) in
            try WebURL(request).replacing(target: request.path ?? "/")
        }
    }

    /// `https` or `http`.
    var scheme: String { origin.scheme }

    /// Returns the URL with another path and query.
    ///
    /// - Throws: `refused-url` for a target that isn't empty and doesn't begin with `/` or `?`.
    func at(target: String) throws(ClientError) -> WebURL {
        try Self.refusing { () throws(TransportError) in try replacing(target: target) }
    }

    /// Returns the URL below this one: `path`, beginning with `/`, joined to this one's path. The
    /// query of this one stays, and one of `path` joins it.
    func appending(path below: String) throws(ClientError) -> WebURL {
        guard below.utf8.first == UInt8(ascii: "/") else {
            throw .refusedURL("the path of a resource begins with /")
        }
        let base =
            path.utf8.last == UInt8(ascii: "/") ? String(Substring(path.utf8.dropLast())) : path
        let joined =
            query.map { "\(below)\(below.utf8.contains(UInt8(ascii: "?")) ? "&" : "?")\($0)" }
            ?? below
        return try at(target: base + joined)
    }

    private static func refusing(
        _ body: () throws(TransportError) -> WebURL
    ) throws(ClientError) -> WebURL {
        do throws(TransportError) {
            return try body()
        } catch {
            throw .refusedURL(error.message)
        }
    }
}

extension ClientError {
    static func refusedURL(_ message: String) -> ClientError {
        ClientError(.refusedURL, message)
    }
}
