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

    /// A response with its fields read once. It is an object, because it is handed on often.
    private final class Contents: Sendable {
        let id: ID
        let response: HTTPResponse
        let requestTime: Int64
        let responseTime: Int64
        let part: ContentPart?
        let length: Int64
        let isInvalidated: Bool
        let publicKeys: [String]
        let reading: Reading

        init(
            id: ID, response: HTTPResponse, requestTime: Int64, responseTime: Int64,
            length: Int64, part: ContentPart?, isInvalidated: Bool, publicKeys: [String],
            reading: Reading
        ) {
            self.id = id
            self.response = response
            self.requestTime = requestTime
            self.responseTime = responseTime
            self.length = length
            self.part = part
            self.isInvalidated = isInvalidated
            self.publicKeys = publicKeys
            self.reading = reading
        }
    }

    /// The values of the fields that decisions need.
    private final class Reading: Sendable {
        let directives: CacheDirectives
        let entityTag: EntityTag?
        let lastModified: Int64?
        let date: Int64
        let initialAge: Int64
        let explicitLifetime: Int64?
        let servedFields: HTTPFields

        init(_ fields: HTTPFields, requestTime: Int64, responseTime: Int64) {
            directives = CacheDirectives(fields)
            entityTag = EntityTag(fields[.eTag])
            lastModified = UnixTime.cacheDate(fields[.lastModified], now: responseTime)
            // A missing or invalid Date is the time of arrival (RFC 9110, section 6.6.1).
            date = UnixTime.cacheDate(fields[.date], now: responseTime) ?? responseTime
            initialAge = StoredResponse.initialAge(
                fields, date: date, requestTime: requestTime, responseTime: responseTime)
            explicitLifetime = StoredResponse.explicitLifetime(
                fields, directives: directives, date: date, now: responseTime)
            var served = fields
            for name in [.age] + directives.withheldFields where fields.contains(name) {
                served[name] = nil
            }
            servedFields = served
        }
    }

    private let contents: Contents

    /// The URL and the variant.
    public var id: ID { contents.id }
    /// The status and the stored fields. An incomplete response has the status 200, and neither
    /// `Content-Range` nor `Content-Length`.
    public var response: HTTPResponse { contents.response }
    /// When the request was sent, in Unix seconds.
    public var requestTime: Int64 { contents.requestTime }
    /// When the response arrived, in Unix seconds.
    public var responseTime: Int64 { contents.responseTime }
    /// The stored part of the content; `nil` if the content is complete.
    public var part: ContentPart? { contents.part }
    /// The number of stored bytes of content.
    public var length: Int64 { contents.length }
    /// Whether the response must be validated before it is used, however fresh it is.
    public var isInvalidated: Bool { contents.isInvalidated }
    /// The public keys of the verified chain by which the response arrived, as its receiver spells
    /// them. After a validation, those that both chains have. Decisions ignore them.
    public var publicKeys: [String] { contents.publicKeys }

    var directives: CacheDirectives { contents.reading.directives }
    var entityTag: EntityTag? { contents.reading.entityTag }
    /// The time of `Last-Modified`, if it is valid.
    var lastModified: Int64? { contents.reading.lastModified }
    /// `date_value` of RFC 9111, section 4.2.
    var date: Int64 { contents.reading.date }
    /// `corrected_initial_age` of section 4.2.3.
    var initialAge: Int64 { contents.reading.initialAge }
    /// The lifetime that the origin gave (section 4.2.1).
    var explicitLifetime: Int64? { contents.reading.explicitLifetime }
    /// The stored fields without `Age` and those of `no-cache="…"`, which are used after a
    /// validation only (section 5.2.2.4).
    var servedFields: HTTPFields { contents.reading.servedFields }

    /// Creates a stored response, for example from the row of a database.
    public init(
        id: ID, response: HTTPResponse, requestTime: Int64, responseTime: Int64, length: Int64,
        part: ContentPart? = nil, isInvalidated: Bool = false, publicKeys: [String] = []
    ) {
        contents = Contents(
            id: id, response: response, requestTime: requestTime, responseTime: responseTime,
            length: length, part: part, isInvalidated: isInvalidated, publicKeys: publicKeys,
            reading: Reading(
                response.headerFields, requestTime: requestTime, responseTime: responseTime))
    }

    /// Creates a response with the fields and times of another one.
    private init(_ other: Contents, id: ID, length: Int64, isInvalidated: Bool) {
        contents = Contents(
            id: id, response: other.response, requestTime: other.requestTime,
            responseTime: other.responseTime, length: length, part: other.part,
            isInvalidated: isInvalidated, publicKeys: other.publicKeys, reading: other.reading)
    }

    /// Whether both were received and stored as the same response.
    public static func == (left: StoredResponse, right: StoredResponse) -> Bool {
        let (one, other) = (left.contents, right.contents)
        return one === other
            || one.id == other.id && one.response == other.response
                && one.requestTime == other.requestTime && one.responseTime == other.responseTime
                && one.length == other.length && one.part == other.part
                && one.isInvalidated == other.isInvalidated && one.publicKeys == other.publicKeys
    }

    /// Hashes the identity and the times.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(id)
        hasher.combine(requestTime)
        hasher.combine(responseTime)
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

    /// Returns the same response with another identity, length or validity.
    func with(
        id: ID? = nil, length: Int64? = nil, isInvalidated: Bool? = nil
    ) -> StoredResponse {
        StoredResponse(
            contents, id: id ?? self.id, length: length ?? self.length,
            isInvalidated: isInvalidated ?? self.isInvalidated)
    }
}
