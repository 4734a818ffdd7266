package import HTTPTypes
import SignetBase

/// The rules for trailers: fields that follow a body (RFC 9110, section 6.5).
package enum TrailerFields {
    /// The maximum size of a request's trailers, in bytes.
    static let maximumSize = 32 << 10

    /// Whether a field must not be a trailer, because it frames or routes the message,
    /// authenticates its sender, or says how its body or the whole response is to be read (section
    /// 6.5.1).
    package static func isForbidden(_ name: HTTPField.Name) -> Bool {
        let name = name.canonicalName
        return forbidden.contains(name) || name.startsWithBytes(of: "if-")
            || name.startsWithBytes(of: "content-") && name != "content-digest"
    }

    private static let forbidden: Set<String> = [
        // Framing and routing.
        "connection", "host", "http2-settings", "keep-alive", "max-forwards", "proxy-connection",
        "te", "trailer", "transfer-encoding", "upgrade",
        // Authentication and cookies.
        "authorization", "cookie", "proxy-authenticate", "proxy-authorization", "set-cookie",
        "www-authenticate",
        // Fields that change how the message is handled.
        "age", "cache-control", "date", "expect", "expires", "location", "pragma", "range",
        "retry-after", "vary", "warning",
    ]

    /// Returns the fields that may be trailers; `nil` if there are none.
    package static func allowed(of fields: HTTPFields) -> HTTPFields? {
        var allowed = HTTPFields()
        for field in fields where !isForbidden(field.name) { allowed.append(field) }
        return allowed.isEmpty ? nil : allowed
    }

    /// Checks the trailers of a request.
    ///
    /// - Throws: `TransportError` with code `invalid-request`.
    static func check(_ fields: HTTPFields) throws(TransportError) {
        var size = 0
        for field in fields {
            guard !isForbidden(field.name) else {
                throw TransportError(
                    .invalidRequest,
                    "the field \(field.name.rawName) is not allowed in trailers (RFC 9110,"
                        + " section 6.5.1)")
            }
            size += field.name.rawName.utf8.count + field.value.utf8.count + 4
        }
        guard size <= maximumSize else {
            throw TransportError(
                .invalidRequest,
                "found trailers of \(size) bytes, expected at most \(maximumSize)")
        }
    }
}
