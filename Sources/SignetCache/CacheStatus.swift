public import HTTPTypes
import SignetBase

/// How the cache handled a request, as a member of `Cache-Status` (RFC 9211).
public struct CacheStatus: Sendable, Hashable {
    /// Why a request went to the origin (RFC 9211, section 2.2).
    public enum Forwarding: String, Sendable, Hashable {
        /// The cache wasn't asked.
        case bypass
        /// The method's responses aren't stored.
        case method
        /// No response is stored for the URL.
        case uriMiss = "uri-miss"
        /// Responses are stored, but `Vary` selects none of them.
        case varyMiss = "vary-miss"
        /// A response is stored, but the request's directives don't accept it.
        case request
        /// A response is stored, but it isn't fresh.
        case stale
        /// A part of the response is stored.
        case partial
    }

    /// Whether a stored response was served without a request to the origin.
    public var isHit = false
    /// Why the request went to the origin; `nil` for a hit.
    public var forwarding: Forwarding?
    /// The status of the origin's response.
    public var forwardedStatus: Int?
    /// The seconds for which a response that was served stays fresh; negative if it is stale.
    public var secondsToLive: Int64?
    /// Whether the origin's response was stored.
    public var isStored = false
    /// Whether the request shared the response of another one.
    public var isCollapsed = false
    /// A word that says more, such as `stale-if-error`.
    public var detail: String?

    /// Creates a status.
    public init(
        isHit: Bool = false, forwarding: Forwarding? = nil, forwardedStatus: Int? = nil,
        isStored: Bool = false, detail: String? = nil
    ) {
        self.isHit = isHit
        self.forwarding = forwarding
        self.forwardedStatus = forwardedStatus
        self.isStored = isStored
        self.detail = detail
    }

    /// Adds the status to a response's `Cache-Status`, after the members of other caches.
    ///
    /// - Parameters:
    ///   - response: The response that gets the field.
    ///   - name: The cache's name, a token such as `signet`.
    public func add(to response: inout HTTPResponse, name: String) {
        guard let field = Self.field, let value = value(name: name) else { return }
        // One line a member; a line of another cache stays as it is, even if it is malformed.
        response.headerFields.append(HTTPField(name: field, value: value))
    }

    private static let field = HTTPField.Name("Cache-Status")

    /// The member is a token whose parameters are tokens, integers and `?1`, which is left out (RFC
    /// 9651, section 4.1). It is written for each hit, so directly.
    private func value(name: String) -> String? {
        guard Self.isToken(name), detail.map(Self.isToken) != false else { return nil }
        var text = name
        if isHit { text += ";hit" }
        if let forwarding { text += ";fwd=\(forwarding.rawValue)" }
        if let forwardedStatus { text += ";fwd-status=\(forwardedStatus)" }
        if let secondsToLive { text += ";ttl=\(secondsToLive)" }
        if isStored { text += ";stored" }
        if isCollapsed { text += ";collapsed" }
        if let detail { text += ";detail=\(detail)" }
        return text
    }

    private static func isToken(_ text: String) -> Bool {
        text.utf8.first?.isLetter == true && text.utf8.allSatisfy(\.isToken)
    }
}
