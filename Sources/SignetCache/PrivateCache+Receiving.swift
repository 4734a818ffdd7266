public import HTTPTypes
import SignetBase

extension PrivateCache {
    /// Decides what follows from the header of a response.
    ///
    /// - Parameters:
    ///   - response: The response as received, without changes to its fields. An interim response
    ///     is passed on and changes nothing.
    ///   - exchange: The exchange whose ``CacheExchange/request`` was sent.
    ///   - now: The time in Unix seconds.
    public func receive(
        _ response: HTTPResponse, to exchange: CacheExchange, at now: Int64
    ) -> CacheOutcome {
        var outcome = answer(response, to: exchange, at: now)
        outcome.changes = invalidations(by: response, to: exchange.original) + outcome.changes
        return outcome
    }

    /// Decides as ``receive(_:to:at:)``, without what the response makes invalid.
    package func answer(
        _ response: HTTPResponse, to exchange: CacheExchange, at now: Int64
    ) -> CacheOutcome {
        guard response.status.code >= 200 else { return CacheOutcome(answer: .received(response)) }
        if exchange.completion != nil, let outcome = complete(with: response, in: exchange, at: now)
        {
            return outcome
        }
        switch (exchange.original.method, response.status.code) {
        case (.get, 304): return freshen(by: response, in: exchange, at: now)
        case (.get, 500), (.get, 502...504), (.head, 500), (.head, 502...504):
            // The cache acts as if the origin failed to respond (section 4.3.3).
            guard let stale = staleAnswer(to: exchange, status: response.status.code, at: now)
            else { return store(response, in: exchange, at: now) }
            return CacheOutcome(answer: .stored(stale))
        case (.head, _):
            var outcome = received(response, in: exchange)
            outcome.changes = changesAfterHead(response, in: exchange, at: now)
            return outcome
        default: return store(response, in: exchange, at: now)
        }
    }

    /// Passes a response on, with what `Cache-Status` says of it.
    package func received(
        _ response: HTTPResponse, in exchange: CacheExchange, isStored: Bool = false
    ) -> CacheOutcome {
        var response = response
        CacheStatus(
            forwarding: exchange.reason, forwardedStatus: response.status.code, isStored: isStored
        ).add(to: &response, name: name)
        return CacheOutcome(answer: .received(response))
    }

    /// Uses a 304 (sections 4.3.3 and 4.3.4).
    private func freshen(
        by response: HTTPResponse, in exchange: CacheExchange, at now: Int64
    ) -> CacheOutcome {
        guard exchange.isValidation else { return received(response, in: exchange) }
        let identified = identified(by: response, in: exchange)
        let chosen = identified.first { $0.id == exchange.selected?.id } ?? identified.first
        guard let chosen, let content = content(of: chosen, for: exchange.original) else {
            return unidentified(response, in: exchange)
        }
        let updated = update(chosen, by: response, in: exchange, at: now)
        let mustForget =
            updated.map { !isAllowed($0.directives, status: $0.response.status) } ?? true
        var outcome = CacheOutcome(answer: .received(response))
        if mustForget {
            outcome.changes = identified.map { .remove($0.id) }
        } else if let updated {
            outcome.changes = identified.map { stored in
                stored.id == exchange.selected?.id
                    ? .update(stored, updated)
                    : variantUpdate(stored, by: response, in: exchange, at: now)
            }
            if chosen.id != exchange.selected?.id {
                outcome.changes.insert(.copy(chosen, updated), at: 0)
            }
        }
        let served = updated ?? merged(chosen, with: response, in: exchange, id: chosen.id, at: now)
        outcome.answer = .stored(
            self.served(
                served, content: content, for: exchange.original, at: now, validated: chosen.id,
                status: CacheStatus(
                    forwarding: exchange.reason, forwardedStatus: 304, isStored: !mustForget)))
        return outcome
    }

    /// Returns the stored responses that a 304 is about, the most recent one first (section 4.3.4).
    private func identified(
        by response: HTTPResponse, in exchange: CacheExchange
    ) -> [StoredResponse] {
        let nominated = exchange.nominated
        if let tag = EntityTag(response.headerFields[.eTag]) {
            if !tag.isWeak { return nominated.filter { $0.hasSameStrongValidator(as: tag) } }
            return Array(nominated.filter { $0.entityTag?.weaklyMatches(tag) == true }.prefix(1))
        }
        // A malformed tag can only be the one that is stored.
        if let text = response.headerFields[.eTag] {
            let same = nominated.filter { $0.response.headerFields[.eTag] == text }
            guard !same.isEmpty else { return [] }
        }
        if let text = response.headerFields[.lastModified] {
            let same = nominated.filter { isTime($0.lastModified, text: text) }
            return Array(same.prefix(1))
        }
        // Many servers send a 304 without the validator that it must repeat (RFC 9110, section
        // 15.4.5). If one response was asked about, and the caller asked about none of its own, the
        // 304 can be about no other one.
        return nominated.count == 1 && asksOnly(about: nominated[0], exchange.request.headerFields)
            ? nominated : []
    }

    /// Whether a request has no condition but those of a stored response.
    private func asksOnly(about stored: StoredResponse, _ fields: HTTPFields) -> Bool {
        let (own, tags) = (stored.response.headerFields, fields[.ifNoneMatch])
        let time = fields[.ifModifiedSince]
        return (tags == nil || tags == own[.eTag]) && (time == nil || time == own[.lastModified])
    }

    private func isTime(_ time: Int64?, text: String) -> Bool {
        guard let time else { return false }
        return UnixTime.cacheDate(text, now: time) == time
    }

    /// Updates a variant of another request, which has the same validator. If `Vary` names other
    /// fields now, the values of that request aren't known.
    private func variantUpdate(
        _ stored: StoredResponse, by response: HTTPResponse, in exchange: CacheExchange,
        at now: Int64
    ) -> CacheChange {
        let updated = merged(stored, with: response, in: exchange, id: stored.id, at: now)
        let names = SelectedField.list(namedBy: updated.response, of: [:])?.map(\.name)
        return names == stored.id.selected.map(\.name)
            ? .update(stored, updated) : .remove(stored.id)
    }

    /// A 304 for the caller's own tags, or one that fits nothing that is stored.
    private func unidentified(_ response: HTTPResponse, in exchange: CacheExchange) -> CacheOutcome
    {
        let tags = exchange.original.headerFields[.ifNoneMatch].flatMap(EntityTag.list) ?? []
        if let tag = EntityTag(response.headerFields[.eTag]),
            tags.contains(where: { $0.weaklyMatches(tag) })
        {
            return received(response, in: exchange)
        }
        return again(exchange)
    }

    /// Sends the request again, without conditions.
    private func again(_ exchange: CacheExchange) -> CacheOutcome {
        var plain = CacheExchange(
            original: exchange.original, request: exchange.original,
            requestTime: exchange.requestTime, reason: exchange.reason, key: exchange.key)
        plain.request.headerFields[.ifNoneMatch] = nil
        plain.request.headerFields[.ifModifiedSince] = nil
        plain.selected = exchange.selected
        return CacheOutcome(answer: .again(plain))
    }

    /// Updates or invalidates what a HEAD request could have selected (section 4.3.5).
    private func changesAfterHead(
        _ response: HTTPResponse, in exchange: CacheExchange, at now: Int64
    ) -> [CacheChange] {
        guard response.status == .ok, let stored = exchange.selected else { return [] }
        let fields = response.headerFields
        var matches = true
        if let tag = fields[.eTag] { matches = tag == stored.response.headerFields[.eTag] }
        if let text = fields[.lastModified] {
            matches = matches && isTime(stored.lastModified, text: text)
        }
        if let length = fields[.contentLength] {
            matches = matches && ContentRange.number(length.utf8) == stored.totalLength
        }
        guard matches, let updated = update(stored, by: response, in: exchange, at: now) else {
            return [.update(stored, stored.with(isInvalidated: true))]
        }
        return isAllowed(updated.directives, status: updated.response.status)
            ? [.update(stored, updated)] : [.remove(stored.id)]
    }

    /// Joins a stored part with the missing one (section 3.4); nil for a response that can be used
    /// alone.
    private func complete(
        with response: HTTPResponse, in exchange: CacheExchange, at now: Int64
    ) -> CacheOutcome? {
        guard let stored = exchange.selected, let completion = exchange.completion,
            response.status == .partialContent || response.status == .rangeNotSatisfiable
        else { return nil }
        let part = ContentPart(contentRange: response.headerFields[.contentRange])
        guard response.status == .partialContent, part == completion.missing,
            stored.hasSameStrongValidator(as: EntityTag(response.headerFields[.eTag])),
            let updated = update(stored, by: response, in: exchange, at: now)
        else {
            var outcome = again(exchange)
            outcome.changes = [.remove(stored.id)]
            return outcome
        }
        let whole = StoredResponse(
            id: updated.id, response: updated.response, requestTime: updated.requestTime,
            responseTime: updated.responseTime, length: completion.missing.total,
            publicKeys: updated.publicKeys)
        let isFirst = completion.missing.range.lowerBound == 0
        let isAllowed = isAllowed(whole.directives, status: whole.response.status)
        let answer = served(
            whole, content: .whole, for: exchange.original, at: now, validated: stored.id,
            status: CacheStatus(
                forwarding: exchange.reason, forwardedStatus: 206, isStored: isAllowed))
        return CacheOutcome(
            answer: .joined(answer, receivedIsFirst: isFirst),
            changes: [
                isAllowed
                    ? .join(stored, whole, receivedIsFirst: isFirst) : .remove(stored.id)
            ])
    }
}
