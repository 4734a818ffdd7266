import HTTPTypes
import SignetCurl
import SignetTransport

/// Undoes the content coding of a recorded body.
enum BodyDecoding {
    /// The largest body after decoding, in bytes.
    private static let limit = 64 << 20

    /// Returns the bytes without a coding: `gzip` or `deflate`.
    static func decoded(_ bytes: [UInt8], coding: String) -> Result<[UInt8], TransportError> {
        var limits = ContentDecoding()
        limits.maximumSize = limit
        do throws(TransportError) {
            var decoder = try ContentDecoder(
                HTTPResponse(status: .ok, headerFields: [.contentEncoding: coding]),
                answering: .get, limits: limits)
            decoder.push(bytes)
            var whole: [UInt8] = []
            while let piece = try decoder.next() { whole += piece }
            try decoder.finish()
            return .success(whole)
        } catch {
            return .failure(error)
        }
    }
}
