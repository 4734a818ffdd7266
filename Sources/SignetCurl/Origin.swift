internal import SignetPinning
internal import SignetTransport

/// The origin of a request: an authority as written, its canonical form, and values derived from
/// it.
struct Origin: Sendable {
    /// The authority as written.
    let written: String
    let host: HostName
    let port: Int
    let isSecure: Bool
    /// The scheme, host and port, followed by `/` only.
    let url: String
    /// The `Host` field (RFC 9110, section 7.2), ended by a zero byte.
    let hostField: [UInt8]

    /// Parses an authority.
    ///
    /// - Throws: `TransportError` with code `invalid-request` if the authority is invalid.
    init(_ written: String, isSecure: Bool) throws(TransportError) {
        let origin = try WebOrigin(scheme: isSecure ? "https" : "http", authority: written)
        for byte in written.utf8 where byte <= 0x20 || byte == 0x7F {
            throw TransportError(
                .invalidRequest, "the host contains a space or a control character")
        }
        self.written = written
        self.isSecure = isSecure
        (host, port) = (origin.host, origin.port)
        url = "\(origin.scheme)://\(host.uriText):\(port)/"
        // An ASCII authority is sent as written, because signatures cover it. Servers know an
        // internationalised name only by its A-labels.
        let isASCII = written.utf8.allSatisfy { $0 < 0x80 }
        hostField = Array("Host: \(isASCII ? written : origin.authority)".utf8) + [0]
    }
}
