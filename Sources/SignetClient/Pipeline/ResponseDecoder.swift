import HTTPTypes
import SignetCurl
import SignetRPC
import SignetSigning
import SignetTransport

/// Undoes the content codings of responses.
struct ResponseDecoder: Sendable {
    /// The limits; nil if bodies stay as they were received.
    let limits: ContentDecoding?

    /// Returns a decoder of a response's body; nil if nothing is to be decoded.
    func makeDecoder(
        of response: HTTPResponse, answering method: HTTPRequest.Method, limit: Int
    ) throws(TransportError) -> ContentDecoder? {
        guard var limits, response.headerFields.contains(.contentEncoding) else { return nil }
        limits.maximumSize = min(limits.maximumSize, limit)
        let decoder = try ContentDecoder(response, answering: method, limits: limits)
        guard decoder.decodes else { return nil }
        return consume decoder
    }

    /// Reads a response's body.
    func collect(
        _ response: EngineResponse, answering method: HTTPRequest.Method, limit: Int
    ) async throws(TransportError) -> RawResponse {
        let status = response.status
        var fields = response.response.headerFields
        func whole(_ body: [UInt8]) -> RawResponse {
            var whole = RawResponse(status: status, fields: fields, body: body)
            whole.trailers = response.trailers
            whole.interim = response.interim
            whole.note = response.certificateNote
            return whole
        }
        guard
            var decoder = try makeDecoder(of: response.response, answering: method, limit: limit)
        else { return whole(try await response.body.collect(limit: limit)) }
        var digester = try? BodyDigester(Set(BodyDigest.allCases))
        var body: [UInt8] = []
        for try await chunk in response.body {
            try? digester?.update(chunk)
            decoder.push(chunk)
            while let piece = try decoder.next() { body.append(contentsOf: piece) }
        }
        try decoder.finish()
        guard let digests = try? digester.take()?.finish() else {
            throw TransportError(.resources, "the response could not be digested")
        }
        try Self.check(digests, of: response.response)
        fields[.contentEncoding] = nil
        fields[.contentLength] = nil
        return whole(body)
    }

    /// Checks a response's Content-Digest before the body is decoded, because the digest covers the
    /// bytes as they were received.
    static func check(
        _ digests: BodyDigests, of response: HTTPResponse
    ) throws(TransportError) {
        guard var message = try? SignableMessage(response: response) else { return }
        message.setBody(digests)
        do throws(SigningError) {
            try ContentDigest.check(message)
        } catch {
            guard error.code == .digestMismatch else { return }
            throw TransportError(
                .malformedResponse, "the response's body is not what its Content-Digest says")
        }
    }
}
