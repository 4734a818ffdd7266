import HTTPTypes
import SignetCurl
import SignetTransport

extension OutgoingCall {
    /// The call with a compressed body, if the options and the request allow it.
    func compressed(by compression: RequestCompression?) throws(ClientError) -> OutgoingCall {
        guard let minimumSize = compression?.minimumSize, body.length != 0,
            (body.length ?? .max) >= Int64(minimumSize),
            !request.headerFields.contains(where: { Self.keepsBody($0.name) })
        else { return self }
        var call = self
        do throws(TransportError) {
            if let bytes = body.bytes {
                let encoded = try ContentEncoder.encode(whole: bytes)
                guard encoded.count < bytes.count else { return self }
                call.body = HTTPRequestBody(encoded)
            } else {
                call.body = body.converted(length: nil) { body throws(TransportError) in
                    try CompressedReader(body)
                }
            }
        } catch {
            throw ClientError(error)
        }
        // A Content-Length that the caller set is that of the uncompressed body.
        call.request.headerFields[.contentLength] = nil
        call.request.headerFields[.contentEncoding] = "gzip"
        return call
    }

    private static func keepsBody(_ name: HTTPField.Name) -> Bool {
        [
            "content-encoding", "content-range", "content-digest", "content-md5", "digest",
            "repr-digest",
        ]
        .contains(name.canonicalName)
    }
}

private final class CompressedReader: RequestBodyReader {
    private var reader: HTTPRequestBody.Reader
    private var encoder: ContentEncoder?

    init(_ body: HTTPRequestBody) throws(TransportError) {
        reader = try body.makeReader()
        encoder = try ContentEncoder()
    }

    func next() async throws -> [UInt8]? {
        while let chunk = try await reader.next() {
            let encoded = encoder?.encode(chunk) ?? []
            if !encoded.isEmpty { return encoded }
        }
        return encoder.take()?.finish()
    }
}
