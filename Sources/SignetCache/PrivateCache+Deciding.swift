public import HTTPTypes
import SignetBase

extension PrivateCache {
    /// Decides what to do with a request.
    ///
    /// - Parameters:
    ///   - request: The request with all fields that the caller sets.
    ///   - key: The request's key. With `nil` it isn't answered from the cache, and responses to it
    ///     aren't stored.
    ///   - stored: The responses that are stored under the key. Others are ignored.
    ///   - now: The time in Unix seconds.
    public func decide(
        _ request: HTTPRequest, key: CacheKey?, stored: [StoredResponse], at now: Int64
    ) -> CacheDecision {
        let asked = CacheDirectives(request.headerFields)
        let decision = decision(for: request, asked: asked, key: key, stored: stored, at: now)
        switch decision {
        case .serve(_, nil), .unavailable: return decision
        case .serve, .validate, .fetch:
            // Also a stale response would need a request to the origin.
            return asked.contains(.onlyIfCached) ? .unavailable(gatewayTimeout()) : decision
        }
    }

    private func decision(
        for request: HTTPRequest, asked: CacheDirectives, key: CacheKey?, stored: [StoredResponse],
        at now: Int64
    ) -> CacheDecision {
        func exchange(_ reason: CacheStatus.Forwarding) -> CacheExchange {
            CacheExchange(
                original: request, request: request, requestTime: now, reason: reason, key: key)
        }
        // Responses to other methods are never used (section 4).
        guard request.method == .get || request.method == .head else {
            return .fetch(exchange(.method))
        }
        // `no-store` could be answered from the cache (section 5.2.1.5); a caller who sends it
        // expects no cache at all. If-Match and If-Unmodified-Since are the origin's to judge
        // (section 4.3.2).
        guard let key, !asked.contains(.noStore), request.headerFields[.ifMatch] == nil,
            request.headerFields[.ifUnmodifiedSince] == nil
        else { return .fetch(exchange(.bypass)) }
        let ofKey =
            stored.allSatisfy { $0.id.key == key } ? stored : stored.filter { $0.id.key == key }
        guard !ofKey.isEmpty else { return .fetch(exchange(.uriMiss)) }
        let isWhole = ofKey.count == 1 && ofKey[0].isSelected(by: request.headerFields)
        let selected =
            isWhole
            ? ofKey
            : ofKey.filter { $0.isSelected(by: request.headerFields) }
                .sorted { isNewer($0, than: $1) }
        guard let newest = selected.first else {
            return validation(of: ofKey, in: exchange(.varyMiss))
        }
        var reason = CacheStatus.Forwarding.stale
        for candidate in selected {
            guard let content = content(of: candidate, for: request) else { continue }
            let use = use(of: candidate, for: asked, at: now)
            switch use {
            case .fresh, .accepted:
                let detail = use == .accepted ? "max-stale" : nil
                return .serve(
                    hit(candidate, content: content, for: request, at: now, detail: detail),
                    revalidation: nil)
            case .whileRevalidating where request.method == .get:
                let served = hit(
                    candidate, content: content, for: request, at: now,
                    detail: "stale-while-revalidate")
                return .serve(
                    served, revalidation: revalidation(of: candidate, in: exchange(.stale)))
            case .refusedByRequest: reason = .request
            case .refused, .whileRevalidating: break
            }
        }
        guard content(of: newest, for: request) != nil else {
            return .fetch(completion(of: newest, in: exchange(.partial)))
        }
        return validation(of: newest, in: exchange(reason))
    }

    /// The most recent response is used (section 4).
    private func isNewer(_ one: StoredResponse, than other: StoredResponse) -> Bool {
        (one.date, one.responseTime) > (other.date, other.responseTime)
    }

    /// Makes a request conditional on the selected response (section 4.3.1).
    private func validation(
        of stored: StoredResponse, in exchange: CacheExchange
    ) -> CacheDecision {
        var exchange = exchange
        exchange.selected = stored
        // A HEAD request goes to the origin as it is: a 200 updates the stored response too
        // (section 4.3.5).
        guard exchange.original.method == .get else { return .fetch(exchange) }
        let tags = exchange.request.headerFields[.ifNoneMatch]
        let tag = stored.entityTag == nil ? nil : stored.response.headerFields[.eTag]
        if let tags {
            // The caller's tags win over a date, so that without a stored tag a 304 would be for
            // the caller; with `*` and a malformed list too.
            guard let tag, let list = EntityTag.list(tags) else { return .fetch(exchange) }
            // The union of the caller's tags and the stored one (section 4.3.2).
            let isListed = list.contains { $0 == stored.entityTag }
            exchange.request.headerFields[.ifNoneMatch] = isListed ? tags : "\(tags), \(tag)"
        } else {
            exchange.request.headerFields[.ifNoneMatch] = tag
        }
        if stored.lastModified != nil {
            exchange.request.headerFields[.ifModifiedSince] =
                stored.response.headerFields[.lastModified]
        }
        guard stored.hasValidator else { return .fetch(exchange) }
        exchange.nominated = [stored]
        return .validate(exchange)
    }

    /// Makes the request that renews a response in the background: without the caller's range and
    /// conditions.
    private func revalidation(
        of stored: StoredResponse, in exchange: CacheExchange
    ) -> CacheExchange {
        var request = exchange.original
        for name in [HTTPField.Name.range, .ifRange, .ifNoneMatch, .ifModifiedSince] {
            request.headerFields[name] = nil
        }
        let plain = CacheExchange(
            original: request, request: request, requestTime: exchange.requestTime,
            reason: exchange.reason, key: exchange.key)
        switch validation(of: stored, in: plain) {
        case .validate(let exchange), .fetch(let exchange): return exchange
        case .serve, .unavailable: return plain
        }
    }

    /// Names the tags of all stored variants, because the origin may select one of them for a
    /// request that `Vary` doesn't match (sections 4.1 and 4.3.1).
    private func validation(
        of variants: [StoredResponse], in exchange: CacheExchange
    ) -> CacheDecision {
        let fields = exchange.original.headerFields
        let nominated = variants.filter { $0.entityTag != nil && $0.part == nil }
            .sorted { isNewer($0, than: $1) }.prefix(Self.mostNominated)
        guard exchange.original.method == .get, !nominated.isEmpty, !isConditional(fields),
            fields[.range] == nil
        else { return .fetch(exchange) }
        var exchange = exchange
        let tags = nominated.compactMap { $0.response.headerFields[.eTag] }
        let unique = tags.enumerated().filter { !tags.prefix($0.offset).contains($0.element) }
        exchange.request.headerFields[.ifNoneMatch] =
            unique.map(\.element).joined(separator: ", ")
        exchange.nominated = Array(nominated)
        return .validate(exchange)
    }

    private static let mostNominated = 16

    private func isConditional(_ fields: HTTPFields) -> Bool {
        fields[.ifNoneMatch] != nil || fields[.ifModifiedSince] != nil
    }

    /// Asks for the missing bytes, if they are at one end and the response has a strong validator,
    /// without which the parts couldn't be joined (sections 3.3 and 3.4).
    private func completion(
        of stored: StoredResponse, in exchange: CacheExchange
    ) -> CacheExchange {
        var exchange = exchange
        exchange.selected = stored
        let fields = exchange.original.headerFields
        guard exchange.original.method == .get, let part = stored.part, let tag = stored.entityTag,
            !tag.isWeak, fields[.range] == nil, !isConditional(fields),
            let missing = part.missing
        else { return exchange }
        let first = missing.range.lowerBound
        let isEnd = missing.range.upperBound == missing.total
        exchange.request.headerFields[.range] =
            "bytes=\(first)-\(isEnd ? "" : String(missing.range.upperBound - 1))"
        exchange.request.headerFields[.ifRange] = stored.response.headerFields[.eTag]
        exchange.completion = .init(missing: missing)
        return exchange
    }

    private func gatewayTimeout() -> HTTPResponse {
        var response = HTTPResponse(status: .gatewayTimeout)
        response.headerFields[.contentLength] = "0"
        CacheStatus(detail: "only-if-cached").add(to: &response, name: name)
        return response
    }
}

extension ContentPart {
    /// The part that makes this one whole; nil if bytes are missing at both ends.
    fileprivate var missing: ContentPart? {
        if range.lowerBound == 0 {
            return ContentPart(range: range.upperBound..<total, total: total)
        }
        return range.upperBound == total
            ? ContentPart(range: 0..<range.lowerBound, total: total) : nil
    }
}
