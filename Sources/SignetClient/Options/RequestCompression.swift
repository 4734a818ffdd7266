package import HTTPTypes
internal import SignetCurl
internal import SignetTransport

/// Whether and when the bodies of requests are compressed (RFC 9110, section 8.4).
///
/// A compressed body is sent with `Content-Encoding: gzip`. Its digest and signature cover the
/// bytes as they are sent. A scheme that signs the parameters of a form or an XML body can't read
/// them in a compressed one: such a call ends with `invalid-options` before anything is sent. Turn
/// it on only for servers that are known to accept it; others respond with 415. Don't compress
/// bodies that contain both a secret and text that an attacker can choose: the size of the request
/// then reveals something about the secret.
///
/// ```swift
/// var options = CallOptions()
/// options.compression = .gzip(minimumSize: 4096)
/// ```
public struct RequestCompression: Sendable, Hashable {
    /// In bytes; nil compresses nothing.
    let minimumSize: Int?

    /// Bodies are sent as they are.
    public static let none = RequestCompression(minimumSize: nil)

    /// Bodies are compressed with gzip (RFC 1952).
    ///
    /// Bytes are sent as they are if they don't become fewer. A stream is compressed while it is
    /// sent, in chunks without a Content-Length. A body stays as it is if the request already has
    /// the field Content-Encoding, Content-Range, Content-Digest or Repr-Digest.
    ///
    /// - Parameter minimumSize: In bytes. Smaller bodies are sent as they are; a stream whose
    ///   length isn't known is compressed.
    public static func gzip(minimumSize: Int = 1024) -> RequestCompression {
        RequestCompression(minimumSize: max(minimumSize, 1))
    }
}

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
                call.body = RequestBody(encoded)
            } else {
                call.body = RequestBody(CompressedBody(body: body)).withTrailers(of: body)
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

extension RequestCompression {
    /// Returns the bytes of a request's body before they were compressed; the bytes themselves if
    /// they aren't gzip, or are more than 64 MiB.
    package static func original(of body: [UInt8], sentWith fields: HTTPFields) -> [UInt8] {
        guard fields[.contentEncoding]?.lowercased() == "gzip" else { return body }
        var limits = ContentDecoding()
        limits.maximumSize = 64 << 20
        do throws(TransportError) {
            var decoder = try ContentDecoder(
                HTTPResponse(status: .ok, headerFields: [.contentEncoding: "gzip"]),
                answering: .get, limits: limits)
            decoder.push(body)
            var whole: [UInt8] = []
            while let piece = try decoder.next() { whole += piece }
            try decoder.finish()
            return whole
        } catch {
            return body
        }
    }
}

private struct CompressedBody: RequestBodySource {
    let body: RequestBody

    var length: Int64? { nil }
    var isReplayable: Bool { body.isReplayable }

    func makeReader() throws(TransportError) -> any RequestBodyReader {
        CompressedReader(reader: try body.makeReader(), encoder: try EncoderBox())
    }
}

private struct CompressedReader: RequestBodyReader {
    var reader: RequestBody.Reader
    let encoder: EncoderBox

    mutating func next() async throws -> [UInt8]? {
        while let chunk = try await reader.next() {
            let encoded = encoder.encode(chunk)
            if !encoded.isEmpty { return encoded }
        }
        return encoder.finish()
    }
}

/// Holds a noncopyable value in a class, so that a copyable reader can own it.
private final class EncoderBox {
    private var encoder: ContentEncoder?

    init() throws(TransportError) { encoder = try ContentEncoder() }

    func encode(_ chunk: [UInt8]) -> [UInt8] { encoder?.encode(chunk) ?? [] }

    /// The end of the encoded body; nil the second time.
    func finish() -> [UInt8]? { encoder.take()?.finish() }
}
