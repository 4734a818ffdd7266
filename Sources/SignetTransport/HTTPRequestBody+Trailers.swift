public import HTTPTypes

extension HTTPRequestBody {
    /// Returns the same body, followed by trailers (RFC 9110, section 6.5).
    ///
    /// The body is sent in chunks over HTTP/1.1, without a Content-Length. libcurl can't send
    /// trailers over HTTP/2, so such a call ends with `unsupported-trailers` before anything is
    /// sent. A signature doesn't cover trailers. A proxy or server may drop them.
    ///
    /// ```swift
    /// import HTTPTypes
    ///
    /// let (lines, producer) = AsyncStream.makeStream(of: [UInt8].self)
    /// let body = HTTPRequestBody.stream(lines).withTrailers { [HTTPField.Name("X-Lines")!: "3"] }
    /// precondition(body.hasTrailers && body.length == nil)
    /// producer.finish()
    /// ```
    ///
    /// - Parameter make: Called after the last chunk of each reading. If it throws, or returns a
    ///   field that must not be a trailer, the call ends with `body-failed` or `invalid-request`,
    ///   and the request is never sent completely.
    public func withTrailers(
        _ make: @escaping @Sendable () async throws -> HTTPFields
    ) -> HTTPRequestBody {
        var body = self
        body.makeTrailers = make
        return body
    }

    /// Whether trailers follow the body.
    public var hasTrailers: Bool { makeTrailers != nil }

    /// Returns the trailers, after a reader has reached the body's end.
    ///
    /// - Throws: `TransportError`: `invalid-request` for a field that must not be a trailer or for
    ///   more than 32 KiB, `body-failed`, `cancelled`.
    public func trailers() async throws(TransportError) -> HTTPFields? {
        guard let makeTrailers else { return nil }
        let fields: HTTPFields
        do {
            fields = try await makeTrailers()
        } catch {
            throw TransportError(error, thrownBySource: "the request's trailers could not be made")
        }
        try TrailerFields.check(fields)
        return fields
    }

    /// Returns the same body without trailers.
    package func withoutTrailers() -> HTTPRequestBody {
        var body = self
        body.makeTrailers = nil
        return body
    }

    /// Returns the same body with the trailers of another one.
    package func withTrailers(of other: HTTPRequestBody) -> HTTPRequestBody {
        var body = self
        body.makeTrailers = other.makeTrailers
        return body
    }
}
