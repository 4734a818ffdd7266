public import HTTPTypes
import SignetBase

extension PrivateCache {
    /// Passes a response on, and decides if it is stored (section 3).
    func store(
        _ response: HTTPResponse, in exchange: CacheExchange, at now: Int64
    ) -> CacheOutcome {
        let entry = entry(for: response, in: exchange, at: now)
        let changes = changes(storing: entry, by: response, in: exchange, at: now)
        let isStored = changes.contains {
            switch $0 {
            case .store, .join: true
            default: false
            }
        }
        var outcome = received(response, in: exchange, isStored: isStored)
        outcome.changes = changes
        return outcome
    }

    private func changes(
        storing entry: StoredResponse?, by response: HTTPResponse, in exchange: CacheExchange,
        at now: Int64
    ) -> [CacheChange] {
        guard let selected = exchange.selected else { return entry.map { [.store($0)] } ?? [] }
        // A failure of the server replaces nothing: what is stored may be served in its place.
        guard response.status.code < 500 else { return [] }
        guard let entry else {
            // What the origin has replaced is not served any longer.
            return isSuperseding(response.status.code) ? [.remove(selected.id)] : []
        }
        let replacing: [CacheChange] =
            entry.id == selected.id ? [.store(entry)] : [.remove(selected.id), .store(entry)]
        guard let new = entry.part, selected.hasSameStrongValidator(as: entry.entityTag),
            entry.id == selected.id, selected.totalLength == new.total,
            let updated = update(selected, by: response, in: exchange, at: now)
        else { return replacing }
        // More bytes aren't replaced by fewer ones, and adjacent parts are joined (section 3.4).
        guard let old = selected.part, !old.range.contains(new.range) else {
            return [.update(selected, updated)]
        }
        guard let joined = old.joining(new) else { return replacing }
        let whole = StoredResponse(
            id: updated.id, response: updated.response, requestTime: updated.requestTime,
            responseTime: updated.responseTime, length: Int64(joined.range.count),
            part: joined.isWhole ? nil : joined, publicKeys: updated.publicKeys)
        let isFirst = new.range.upperBound == old.range.lowerBound
        return [.join(selected, whole, receivedIsFirst: isFirst)]
    }

    private func isSuperseding(_ status: Int) -> Bool {
        (200..<400).contains(status) || status == 404 || status == 410
    }

    /// Returns the response to store, or nil if it must not or need not be stored.
    private func entry(
        for response: HTTPResponse, in exchange: CacheExchange, at now: Int64
    ) -> StoredResponse? {
        let request = exchange.original
        let directives = CacheDirectives(response.headerFields)
        guard let key = exchange.key, response.status != .notModified,
            !CacheDirectives(request.headerFields).contains(.noStore),  // section 5.2.1.5
            isAllowed(directives, status: response.status),
            isExplicit(response, directives: directives),
            let selected = SelectedField.list(namedBy: response, of: request.headerFields)
        else { return nil }
        switch request.method {
        case .get: break
        case .post where isForLaterGet(response, directives: directives, key: key): break
        default: return nil
        }
        var stored = response
        stored.headerFields = Self.storable(response.headerFields, at: now)
        var part: ContentPart?
        if response.status == .partialContent {
            // A 206 is stored as an incomplete 200 (section 3.3), if its one range is readable.
            part = ContentPart(contentRange: response.headerFields[.contentRange])
            guard part != nil, exchange.request.headerFields[.range] != nil else { return nil }
            stored.status = .ok
            stored.headerFields[.contentRange] = nil
            stored.headerFields[.contentLength] = nil
            stored.headerFields.removeContentDigest()
        }
        let entry = StoredResponse(
            id: .init(key: key, selected: selected), response: stored,
            requestTime: exchange.requestTime, responseTime: now,
            length: part.map { Int64($0.range.count) } ?? 0, part: part,
            publicKeys: exchange.publicKeys)
        return isUseful(entry) ? entry : nil
    }

    /// Whether the directives allow to store a response (sections 3 and 5.2.2).
    func isAllowed(_ directives: CacheDirectives, status: HTTPResponse.Status) -> Bool {
        // A known status overrides the no-store beside must-understand (section 5.2.2.3).
        if directives.contains(.mustUnderstand) {
            return Self.understoodStatuses.contains(status.code)
        }
        return !directives.contains(.noStore)
    }

    /// Whether something says that a response can be stored (section 3).
    private func isExplicit(_ response: HTTPResponse, directives: CacheDirectives) -> Bool {
        directives.contains(.isPublic) || directives.contains(.isPrivate)
            || directives.maxAge != nil || response.headerFields[.expires] != nil
            || Self.heuristicStatuses.contains(response.status.code)
    }

    /// The statuses whose rules this cache follows.
    private static let understoodStatuses: Set<Int> = [
        200, 203, 204, 206, 300, 301, 302, 303, 307, 308, 404, 405, 410, 414, 501,
    ]

    /// Whether a response can serve a later request: it has a lifetime, a validator, or a time for
    /// which it is served stale.
    private func isUseful(_ entry: StoredResponse) -> Bool {
        lifetime(of: entry) > 0 || entry.hasValidator
            || entry.directives.staleWhileRevalidate ?? 0 > 0
            || (entry.directives.staleIfError ?? staleIfError ?? 0) > 0
    }

    /// A POST's response answers a later GET if it says so, with a lifetime (RFC 9110, section
    /// 9.3.3).
    private func isForLaterGet(
        _ response: HTTPResponse, directives: CacheDirectives, key: CacheKey
    ) -> Bool {
        let isExplicit = directives.maxAge != nil || response.headerFields[.expires] != nil
        guard response.status == .ok, isExplicit,
            let location = response.headerFields[.contentLocation],
            let target = key.resolving(location)
        else { return false }
        return sameBytes(target.url, key.url)
    }

    /// Returns the fields to store: without those of the connection (section 3.1), and with `Date`.
    static func storable(_ fields: HTTPFields, at now: Int64) -> HTTPFields {
        var stored = fields
        for name in fieldNames(in: fields[.connection]?.utf8 ?? "".utf8) ?? []
        where !alwaysStored.contains(name) {
            stored[name] = nil
        }
        for name in ofConnection where stored.contains(name) { stored[name] = nil }
        if stored[.date] == nil { stored[.date] = UnixTime.httpDate(now) }
        return stored
    }

    /// The fields of the decisions. A sender must not name them in Connection (RFC 9110, section
    /// 7.6.1), because without them a response would look fresher or less private than it is.
    private static let alwaysStored: Set<HTTPField.Name> = [
        .age, .cacheControl, .contentEncoding, .contentLength, .contentType, .date, .eTag, .expires,
        .lastModified, .vary,
    ]

    private static let ofConnection: [HTTPField.Name] =
        [.connection, .proxyAuthenticate, .proxyAuthenticationInfo, .proxyAuthorization]
        + [.transferEncoding, .upgrade]
        + ["Keep-Alive", "Proxy-Connection", "TE"].compactMap { HTTPField.Name($0) }

    /// The fields that describe the stored bytes, which a 304 doesn't send again (section 3.2).
    private static let ofContent: Set<HTTPField.Name> = Set(
        [.contentEncoding, .contentLength, .contentRange]
            + [HTTPField.Name.contentDigest].compactMap(\.self))

    /// Returns a stored response with the fields of a newer one (section 3.2), for the request's
    /// variant; nil if no request can select it any longer.
    func update(
        _ stored: StoredResponse, by response: HTTPResponse, in exchange: CacheExchange,
        at now: Int64
    ) -> StoredResponse? {
        let updated = merged(stored, with: response, in: exchange, id: stored.id, at: now)
        let selected = SelectedField.list(
            namedBy: updated.response, of: exchange.original.headerFields)
        return selected.map { updated.with(id: .init(key: stored.id.key, selected: $0)) }
    }

    func merged(
        _ stored: StoredResponse, with response: HTTPResponse, in exchange: CacheExchange,
        id: StoredResponse.ID, at now: Int64
    ) -> StoredResponse {
        var result = stored.response
        // The age of the old response isn't the age of the new one.
        result.headerFields[.age] = nil
        let fields = Self.storable(response.headerFields, at: now)
        let names = Set(fields.map(\.name)).subtracting(Self.ofContent)
        for name in names { result.headerFields[fields: name] = [] }
        for field in fields where names.contains(field.name) { result.headerFields.append(field) }
        return StoredResponse(
            id: id, response: result, requestTime: exchange.requestTime, responseTime: now,
            length: stored.length, part: stored.part,
            publicKeys: stored.publicKeys.filter(exchange.publicKeys.contains))
    }

    /// Returns what a method that is not safe and `Clear-Site-Data` remove, in all scopes
    /// (section 4.4). ``receive(_:to:at:)`` includes it; a request that isn't answered from the
    /// cache needs this alone.
    public func invalidations(
        by response: HTTPResponse, to request: HTTPRequest
    ) -> [CacheChange] {
        let isSuccess = (200..<400).contains(response.status.code)
        let invalidates = isSuccess && !Self.safeMethods.contains(request.method)
        let clears = response.status.code >= 200 && clearsCache(response)
        guard invalidates || clears, let key = CacheKey(request) else { return [] }
        var changes: [CacheChange] = []
        if invalidates {
            changes.append(.invalidate(url: key.url))
            for name in [HTTPField.Name.location, .contentLocation] {
                // Another origin's responses must not be invalidated.
                if let target = response.headerFields[name].flatMap(key.resolving),
                    !sameBytes(target.url, key.url)
                {
                    changes.append(.invalidate(url: target.url))
                }
            }
        }
        if clears { changes.append(.clear(origin: key.origin)) }
        return changes
    }

    private static let clearSiteData = HTTPField.Name("Clear-Site-Data")
    private static let safeMethods: Set<HTTPRequest.Method> = [.get, .head, .options, .trace]

    /// Whether `Clear-Site-Data` has the member `"cache"` or `"*"` (W3C, Clear Site Data, 3.1).
    private func clearsCache(_ response: HTTPResponse) -> Bool {
        guard let name = Self.clearSiteData,
            let members = response.headerFields[name]?.utf8.split(separator: ASCII.comma)
        else { return false }
        return members.contains { member in
            let member = Array(member).trimmingBlanks()
            return member.elementsEqual("\"cache\"".utf8) || member.elementsEqual("\"*\"".utf8)
        }
    }
}

extension ContentPart {
    /// Returns this part and an adjacent one together; nil if they aren't adjacent.
    fileprivate func joining(_ other: ContentPart) -> ContentPart? {
        if range.upperBound == other.range.lowerBound {
            return ContentPart(range: range.lowerBound..<other.range.upperBound, total: total)
        }
        return other.range.upperBound == range.lowerBound
            ? ContentPart(range: other.range.lowerBound..<range.upperBound, total: total) : nil
    }
}

extension HTTPField.Name {
    package static let contentDigest = HTTPField.Name("Content-Digest")
}

extension HTTPFields {
    /// Removes the digest of one message's content (RFC 9530, section 2), which another message
    /// with a part of that content doesn't have.
    mutating func removeContentDigest() {
        if let name = HTTPField.Name.contentDigest { self[name] = nil }
    }
}
