import HTTPTypes
import SignetBase

extension StoredResponse {
    /// Returns the response to store when its content has ended.
    ///
    /// - Parameters:
    ///   - length: The number of bytes that were received, before any content coding is removed.
    ///   - isWhole: Whether the content ended as its framing says. If it didn't, a response with a
    ///     strong validator is stored as incomplete (RFC 9111, section 3.3).
    /// - Returns: `nil` if the length isn't the one that the fields tell, or the response can't be
    ///   stored as incomplete.
    public func finished(length: Int64, isWhole: Bool) -> StoredResponse? {
        if let part { return isWhole && Int64(part.range.count) == length ? self : nil }
        let text = response.headerFields[.contentLength]
        if response.status == .noContent { return isWhole && length == 0 ? with(length: 0) : nil }
        guard let text else { return isWhole ? with(length: length) : nil }
        guard let total = ContentRange.number(text.utf8) else { return nil }
        if isWhole { return total == length ? with(length: length) : nil }
        guard response.status == .ok, let entityTag, !entityTag.isWeak, length > 0, length < total,
            let part = ContentPart(range: 0..<length, total: total)
        else { return nil }
        var incomplete = response
        incomplete.headerFields[.contentLength] = nil
        return StoredResponse(
            id: id, response: incomplete, requestTime: requestTime, responseTime: responseTime,
            length: length, part: part, isInvalidated: isInvalidated, publicKeys: publicKeys)
    }
}
