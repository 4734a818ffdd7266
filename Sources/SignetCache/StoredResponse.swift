public import HTTPTypes
import SignetBase

/// A response as a cache stores it, without its content.
public struct StoredResponse: Sendable, Hashable, Identifiable {
    /// The URL and the variant. A response replaces a stored one with the same identity.
    public struct ID: Sendable, Hashable {
        /// The key under which the response is found.
        public let key: CacheKey
        /// The request fields that the response's `Vary` names, sorted by name.
        public let selected: [SelectedField]

        /// Creates an identity.
        public init(key: CacheKey, selected: [SelectedField]) {
            self.key = key
            self.selected = selected
        }
    }

    /// The URL and the variant.
    public let id: ID
    /// The status and the stored fields. An incomplete response has the status 200, and neither
    /// `Content-Range` nor `Content-Length`.
    public let response: HTTPResponse
    /// When the request was sent, in Unix seconds.
    public let requestTime: Int64
    /// When the response arrived, in Unix seconds.
    public let responseTime: Int64
    /// The stored part of the content; `nil` if the content is complete.
    public let part: ContentPart?
    /// The number of stored bytes of content.
    public let length: Int64
    /// Whether the response must be validated before it is used, however fresh it is.
    public let isInvalidated: Bool

    /// The public keys of the verified chain by which the response arrived, as its receiver spells
    /// them. After a validation, those that both chains have. Decisions ignore them.
    public let publicKeys: [String]

    let directives: CacheDirectives
    let entityTag: EntityTag?
    /// The time of `Last-Modified`, if it is valid.
    let lastModified: Int64?
    /// `date_value` of RFC 9111, section 4.2.
    let date: Int64
    /// `corrected_initial_age` of section 4.2.3.
    let initialAge: Int64
    /// The lifetime that the origin gave (section 4.2.1).
    let explicitLifetime: Int64?

    /// Creates a stored response, for example from the row of a database.
    public init(
        id: ID, response: HTTPResponse, requestTime: Int64, responseTime: Int64, length: Int64,
        part: ContentPart? = nil, isInvalidated: Bool = false, publicKeys: [String] = []
    ) {
        self.id = id
        self.response = response
        self.requestTime = requestTime
        self.responseTime = responseTime
        self.length = length
        self.part = part
        self.isInvalidated = isInvalidated
        self.publicKeys = publicKeys
        let fields = response.headerFields
        directives = CacheDirectives(fields)
        entityTag = EntityTag(fields[.eTag])
        lastModified = UnixTime.cacheDate(fields[.lastModified], now: responseTime)
        // A missing or invalid Date is the time of arrival (RFC 9110, section 6.6.1).
        date = UnixTime.cacheDate(fields[.date], now: responseTime) ?? responseTime
        initialAge = Self.initialAge(
            fields, date: date, requestTime: requestTime, responseTime: responseTime)
        explicitLifetime = Self.explicitLifetime(
            fields, directives: directives, date: date, now: responseTime)
    }

    /// The age when the response arrived (RFC 9111, section 4.2.3).
    private static func initialAge(
        _ fields: HTTPFields, date: Int64, requestTime: Int64, responseTime: Int64
    ) -> Int64 {
        // The first member counts, and an invalid one is ignored (section 5.1). Some caches take
        // an invalid Age for stale; the RFC says "ignore the field".
        let first = fields[.age]?.utf8.prefix { $0 != ASCII.comma } ?? "".utf8[...]
        let age = deltaSeconds(Array(first).trimmingBlanks()) ?? 0
        let delay = max(0, responseTime - requestTime)
        return max(responseTime - date, age + delay, 0)
    }

    /// The lifetime of section 4.2.1, without `s-maxage`, which binds shared caches only.
    private static func explicitLifetime(
        _ fields: HTTPFields, directives: CacheDirectives, date: Int64, now: Int64
    ) -> Int64? {
        if let maxAge = directives.maxAge { return maxAge }
        guard let expires = fields[.expires] else { return nil }
        // An invalid date, two dates and `0` are in the past (section 5.3).
        return UnixTime.cacheDate(expires, now: now).map { max(0, $0 - date) } ?? 0
    }

    /// The age at a time (section 4.2.3).
    ///
    /// - Returns: `nil` if the clock was set back, so that the age can't be computed.
    public func age(at now: Int64) -> Int64? {
        now < responseTime ? nil : initialAge + (now - responseTime)
    }

    /// Whether a request's fields select this response (section 4.1).
    func isSelected(by fields: HTTPFields) -> Bool {
        id.selected.allSatisfy { $0.matches(fields) }
    }

    /// Whether both have the same strong validator (section 3.4).
    func hasSameStrongValidator(as tag: EntityTag?) -> Bool {
        guard let tag, let entityTag else { return false }
        return entityTag.stronglyMatches(tag)
    }

    /// The length of the whole content.
    var totalLength: Int64 { part?.total ?? length }

    /// Whether the origin can be asked if the response is still valid.
    var hasValidator: Bool { entityTag != nil || lastModified != nil }

    /// Returns the same response with other values.
    func with(
        id: ID? = nil, response: HTTPResponse? = nil, requestTime: Int64? = nil,
        responseTime: Int64? = nil, length: Int64? = nil, isInvalidated: Bool? = nil,
        publicKeys: [String]? = nil
    ) -> StoredResponse {
        StoredResponse(
            id: id ?? self.id, response: response ?? self.response,
            requestTime: requestTime ?? self.requestTime,
            responseTime: responseTime ?? self.responseTime, length: length ?? self.length,
            part: part, isInvalidated: isInvalidated ?? self.isInvalidated,
            publicKeys: publicKeys ?? self.publicKeys)
    }
}
