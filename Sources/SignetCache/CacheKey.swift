public import HTTPTypes
import SignetBase

/// The primary key of stored responses: a scope and an absolute URL (RFC 9111, section 2).
///
/// Both are ASCII, so that no two keys differ in bytes and are equal as texts.
public struct CacheKey: Sendable, Hashable {
    /// A text that separates users and services, such as a keyed hash of credentials. A response
    /// that was stored under one scope is never found under another one.
    public let scope: String
    /// The URL without a fragment. Its scheme and host are canonical, its path and query are as
    /// written.
    public let url: String
    /// The scheme, host and port of the URL, with the port even if it is the default.
    public let origin: String

    /// Creates the key of a request.
    ///
    /// - Returns: `nil` if the request isn't for an http or https URL, its host is invalid, or its
    ///   path or the scope isn't ASCII. Responses to it are not stored.
    public init?(_ request: HTTPRequest, scope: String = "") {
        self.init(
            scheme: request.scheme ?? "https", authority: request.authority ?? "",
            target: request.path ?? "/", scope: scope)
    }

    /// Creates the key of a call, whose responses have no URL.
    ///
    /// - Parameters:
    ///   - api: The name of the service and the API, ASCII without `#`. It is the ``origin``,
    ///     after `call:`.
    ///   - call: A digest of the parameters, ASCII.
    ///   - scope: The scope.
    /// - Returns: `nil` if a text isn't ASCII.
    public init?(api: String, call: String, scope: String) {
        guard (api + call + scope).utf8.allSatisfy({ $0 < 0x80 }),
            !api.utf8.contains(UInt8(ascii: "#"))
        else { return nil }
        self.scope = scope
        origin = "call:\(api)"
        url = "\(origin)#\(call)"
    }

    /// Creates the key of a request to an origin.
    ///
    /// - Parameters:
    ///   - origin: As ``origin`` of a key.
    ///   - target: The path and query.
    ///   - scope: The scope, ASCII.
    /// - Returns: `nil` if the target isn't ASCII.
    package init?(origin: String, target: String, scope: String) {
        guard target.utf8.allSatisfy({ $0 < 0x80 }) else { return nil }
        let path = target[..<(target.utf8.firstIndex(of: UInt8(ascii: "#")) ?? target.endIndex)]
        self.scope = scope
        self.origin = origin
        url = path.utf8.first == ASCII.slash ? "\(origin)\(path)" : "\(origin)/\(path)"
    }

    /// Creates a key from its parts, such as those of a database.
    package init(scope: String, url: String, origin: String) {
        (self.scope, self.url, self.origin) = (scope, url, origin)
    }

    /// The host of the origin, with brackets if it is an IPv6 address; empty for a call.
    package var host: String {
        guard let parts = try? URLParts(parsing: url),
            let authority = try? Authority(parsing: parts.authority)
        else { return "" }
        return authority.host.uriText
    }

    private init?(scheme: String, authority: String, target: String, scope: String) {
        let scheme = scheme == "https" ? scheme : scheme.lowercased()
        guard scheme == "https" || scheme == "http", !authority.isEmpty,
            scope.utf8.allSatisfy({ $0 < 0x80 }), let parsed = try? Authority(parsing: authority)
        else { return nil }
        self.init(
            origin: "\(scheme)://\(parsed.host.uriText):\(parsed.port(scheme: scheme))",
            target: target, scope: scope)
    }

    /// Returns the key of a reference, such as the value of `Location`, if it has the same origin.
    ///
    /// - Returns: `nil` for another origin, and for a relative path with dot segments: naming fewer
    ///   URLs is allowed where this is used (RFC 9111, section 4.4).
    func resolving(_ reference: String) -> CacheKey? {
        guard URLParts.problem(in: reference.utf8) == nil else { return nil }
        let bytes = Array(reference.utf8).prefix { $0 != UInt8(ascii: "#") }
        let text = String(decoding: bytes, as: UTF8.self)
        let scheme = origin.prefix { $0 != ":" }
        var absolute = text
        if bytes.starts(with: "//".utf8) {
            absolute = "\(scheme):\(text)"
        } else if bytes.first == ASCII.slash {
            absolute = origin + text
        } else if bytes.isEmpty {
            return self
        } else if !bytes.prefix(while: { $0 != ASCII.slash }).contains(ASCII.colon) {
            guard !bytes.starts(with: "?".utf8), !bytes.contains(ASCII.dot) else { return nil }
            let path = url.utf8.prefix { $0 != ASCII.question }
            guard let end = path.lastIndex(of: ASCII.slash) else { return nil }
            absolute = "\(url[...end])\(text)"
        }
        guard let parts = try? URLParts(parsing: absolute) else { return nil }
        let key = CacheKey(
            scheme: parts.scheme, authority: parts.authority,
            target: parts.path + (parts.query.map { "?\($0)" } ?? ""), scope: scope)
        guard let key, sameBytes(key.origin, origin) else { return nil }
        return key
    }
}
