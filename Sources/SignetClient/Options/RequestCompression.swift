package import HTTPTypes
import SignetCurl
import SignetTransport

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
/// var options = RequestOptions()
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
