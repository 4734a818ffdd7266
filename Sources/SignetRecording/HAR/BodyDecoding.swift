import HTTPTypes
import SignetCurl
import SignetTransport

/// Undoes the content coding of a recorded body.
enum BodyDecoding {
    /// The largest body after decoding, in bytes, unless the caller keeps less.
    static let largest = 64 << 20
    /// The largest piece in bytes that is decoded at once.
    private static let pieceSize = 64 << 10

    /// Returns the bytes without a coding: `gzip` or `deflate`. No more is decoded than a limit
    /// allows, in bytes.
    ///
    /// - Parameter budget: The bytes that the bodies of a recording may have together; nil for any.
    static func decoded(
        _ bytes: [UInt8], coding: String, limit: Int = largest, from budget: DecodingBudget? = nil
    ) -> Result<[UInt8], TransportError> {
        var limits = ContentDecoding()
        limits.maximumSize = min(limit, budget?.rest ?? limit)
        guard limits.maximumSize > 0 else {
            return .failure(
                TransportError(
                    .responseTooLarge, "the compressed bodies are too large together"))
        }
        do throws(TransportError) {
            var decoder = try ContentDecoder(
                HTTPResponse(status: .ok, headerFields: [.contentEncoding: coding]),
                answering: .get, limits: limits)
            decoder.push(bytes)
            var whole: [UInt8] = []
            while let piece = try decoder.next() {
                // Also of a body that turns out to be damaged or too large.
                budget?.spend(piece.count)
                whole += piece
            }
            try decoder.finish()
            return .success(whole)
        } catch {
            // The rest was too little for this body, or a piece is damaged that was decoded first.
            let isCutOff = error.code == .responseTooLarge && limits.maximumSize < limit
            budget?.spend(isCutOff ? limits.maximumSize : pieceSize)
            return .failure(error)
        }
    }
}
