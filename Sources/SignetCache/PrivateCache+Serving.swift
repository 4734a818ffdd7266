import HTTPTypes
import SignetBase

/// The content that answers a request.
enum ServedContent: Equatable {
    case whole
    /// Positions in the whole content.
    case range(Range<Int64>)
    /// The range is after the end of the content.
    case unsatisfiable
}

extension PrivateCache {
    /// Returns the content of a stored response that answers a request; nil if bytes are missing
    /// (RFC 9111, section 3.3).
    func content(of stored: StoredResponse, for request: HTTPRequest) -> ServedContent? {
        // Range is defined for GET only (RFC 9110, section 14.2).
        guard request.method == .get else { return .whole }
        guard stored.response.status == .ok, let text = request.headerFields[.range],
            let range = RangeRequest(text),
            isRangeAllowed(by: request.headerFields[.ifRange], for: stored)
        else { return stored.part == nil ? .whole : nil }
        guard let positions = range.resolved(in: stored.totalLength) else { return .unsatisfiable }
        let available = stored.part?.range ?? 0..<stored.length
        guard positions.lowerBound >= available.lowerBound,
            positions.upperBound <= available.upperBound
        else { return nil }
        return .range(positions)
    }

    /// Whether a range may be served under an `If-Range` (RFC 9110, section 13.1.5).
    private func isRangeAllowed(by condition: String?, for stored: StoredResponse) -> Bool {
        guard let condition else { return true }
        if let tag = EntityTag(condition) { return stored.hasSameStrongValidator(as: tag) }
        // A date is strong if it is at least a second older than Date (section 8.8.2.2).
        guard let date = UnixTime.cacheDate(condition, now: stored.responseTime) else {
            return false
        }
        return stored.lastModified == date && date < stored.date
    }

    /// Returns the answer for a hit.
    func hit(
        _ stored: StoredResponse, content: ServedContent, for request: HTTPRequest, at now: Int64,
        detail: String?
    ) -> ServedResponse {
        served(
            stored, content: content, for: request, at: now,
            status: CacheStatus(isHit: true, detail: detail))
    }

    /// Returns the answer that a stored response gives to a request (sections 4 and 5.1).
    ///
    /// - Parameter source: The identity of the stored content, if the origin has just validated it.
    func served(
        _ stored: StoredResponse, content: ServedContent, for request: HTTPRequest, at now: Int64,
        validated source: StoredResponse.ID? = nil, status: CacheStatus
    ) -> ServedResponse {
        var (response, bytes) = (stored.response, 0..<stored.length)
        let age = min(stored.age(at: now) ?? stored.initialAge, CacheDirectives.mostSeconds)
        if source == nil {
            response.headerFields = stored.servedFields
        } else {
            response.headerFields[.age] = nil
        }
        if isNotModified(stored, for: request.headerFields) {
            response = notModified(response.headerFields)
            bytes = 0..<0
        } else {
            switch content {
            case .whole: break
            case .range(let positions):
                let start = stored.part?.range.lowerBound ?? 0
                bytes = (positions.lowerBound - start)..<(positions.upperBound - start)
                response.status = .partialContent
                response.headerFields[.contentLength] = String(bytes.count)
                let part = ContentPart(range: positions, total: stored.totalLength)
                response.headerFields[.contentRange] = part?.contentRange
                response.headerFields.removeContentDigest()
            case .unsatisfiable:
                bytes = 0..<0
                response.status = .rangeNotSatisfiable
                response.headerFields[.contentLength] = "0"
                response.headerFields[.contentRange] = "bytes */\(stored.totalLength)"
                response.headerFields.removeContentDigest()
            }
        }
        if request.method == .head { bytes = 0..<0 }
        response.headerFields.append(HTTPField(name: .age, value: String(age)))
        var status = status
        status.secondsToLive = lifetime(of: stored) - age
        status.add(to: &response, name: name)
        return ServedResponse(
            response: response, content: bytes, age: age, source: source ?? stored.id,
            status: status)
    }

    /// Evaluates the caller's conditions against a stored response (section 4.3.2).
    private func isNotModified(_ stored: StoredResponse, for fields: HTTPFields) -> Bool {
        guard stored.response.status == .ok else { return false }
        if let tags = fields[.ifNoneMatch] {
            if Array(tags.utf8).trimmingBlanks().elementsEqual("*".utf8) { return true }
            guard let tag = stored.entityTag, let list = EntityTag.list(tags) else { return false }
            return list.contains { $0.weaklyMatches(tag) }
        }
        guard let text = fields[.ifModifiedSince],
            let since = UnixTime.cacheDate(text, now: stored.responseTime)
        else { return false }
        // Without Last-Modified, its Date counts. A response of after that time has been modified:
        // the public suite's conditional-lm-fresh-no-lm wants a 304, and section 4.3.2 forbids it.
        return (stored.lastModified ?? stored.date) <= since
    }

    /// A 304 with the fields of RFC 9110, section 15.4.5.
    private func notModified(_ fields: HTTPFields) -> HTTPResponse {
        var response = HTTPResponse(status: .notModified)
        let names: [HTTPField.Name] = [
            .cacheControl, .contentLocation, .date, .eTag, .expires, .lastModified, .vary,
        ]
        for name in names {
            response.headerFields[fields: name] = fields[fields: name]
        }
        return response
    }

    /// Returns a stored response to serve because the origin can't be reached, or nil.
    ///
    /// Call this for a failure of the name look-up or the connection, a time limit of the
    /// connection and a connection that was cut off; not for an error of TLS or pins, a malformed
    /// response or a deadline of the caller. A `nil` means that the error reaches the caller.
    public func fail(_ exchange: CacheExchange, at now: Int64) -> ServedResponse? {
        staleAnswer(to: exchange, status: nil, at: now)
    }

    func staleAnswer(
        to exchange: CacheExchange, status: Int?, at now: Int64
    ) -> ServedResponse? {
        let request = exchange.original
        guard let stored = exchange.selected,
            servesAfterFailure(stored, for: CacheDirectives(request.headerFields), at: now),
            let content = content(of: stored, for: request)
        else { return nil }
        return served(
            stored, content: content, for: request, at: now,
            status: CacheStatus(
                forwarding: exchange.reason, forwardedStatus: status, detail: "stale-if-error"))
    }
}
