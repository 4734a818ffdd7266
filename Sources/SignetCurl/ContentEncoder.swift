import CSignetCurl
package import SignetTransport

/// Encodes one request's body with gzip (RFC 1952), piece by piece.
///
/// Equal bodies have equal encodings, so a body that is read again still matches its signature.
@safe package struct ContentEncoder: ~Copyable {
    private static let pieceSize = 65_536

    private let deflater: OpaquePointer

    /// Creates an encoder.
    ///
    /// - Throws: `TransportError` with code `resources` if the system has no memory.
    package init() throws(TransportError) {
        guard let deflater = unsafe signet_coder_new(false, true) else {
            throw TransportError(
                .resources, "the system provided no memory to encode the request's body")
        }
        unsafe self.deflater = deflater
    }

    deinit { unsafe signet_coder_free(deflater) }

    /// Returns the encoding of the next bytes; empty if the encoder needs more of them.
    package mutating func encode(_ bytes: [UInt8]) -> [UInt8] { run(bytes, isEnd: false) }

    /// Returns the end of the encoded body.
    package consuming func finish() -> [UInt8] { run([], isEnd: true) }

    /// Returns the encoding of a whole body.
    ///
    /// - Throws: `TransportError` with code `resources` if the system has no memory.
    package static func encode(whole bytes: [UInt8]) throws(TransportError) -> [UInt8] {
        let encoder = try ContentEncoder()
        return encoder.run(bytes, isEnd: true)
    }

    private borrowing func run(_ bytes: [UInt8], isEnd: Bool) -> [UInt8] {
        var encoded: [UInt8] = []
        var position = 0
        while true {
            var (taken, hasEnded) = (0, false)
            let piece = unsafe [UInt8](unsafeUninitializedCapacity: Self.pieceSize) {
                piece, filled in
                hasEnded = unsafe bytes.withUnsafeBufferPointer { bytes in
                    let rest = unsafe UnsafeBufferPointer(rebasing: bytes[position...])
                    return unsafe signet_coder_run(
                        deflater, rest.baseAddress, rest.count, isEnd, &taken, piece.baseAddress,
                        piece.count, &filled) == SIGNET_CODED_END
                }
            }
            position += taken
            encoded.append(contentsOf: piece)
            let needsRoom = piece.count == Self.pieceSize
            if hasEnded || (!isEnd && position == bytes.count && !needsRoom) { return encoded }
        }
    }
}
