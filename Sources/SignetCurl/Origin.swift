internal import SignetPinning
internal import SignetTransport
internal import Synchronization

/// The origin of requests: an authority as written, its canonical form, and values derived from it.
final class Origin: Sendable {
    /// The authority as written.
    let written: String
    let host: HostName
    let port: Int
    let isSecure: Bool
    /// The scheme, host and port, followed by `/` only.
    let url: String
    /// The `Host` field (RFC 9110, section 7.2), ended by a zero byte.
    let hostField: [UInt8]
    /// The pins of the last request, and their digests as the C code expects them.
    private let last = Mutex<(pins: [Pin], digests: [UInt8])>(([], []))

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

    /// Returns the digests of all pins, concatenated.
    func digests(of pins: [Pin]) -> [UInt8] {
        last.withLock { last in
            // The comparison is fast if both are the same array, as with one policy.
            if last.pins != pins { last = (pins, pins.flatMap(\.bytes)) }
            return last.digests
        }
    }
}

/// A cache of recent origins, so that their host names aren't parsed for every request.
final class OriginCache: Sendable {
    private struct Known {
        var secure: [String: Origin] = [:]
        var cleartext: [String: Origin] = [:]
    }

    private static let limit = 256
    private let known = Mutex(Known())

    /// Returns the origin of an authority.
    ///
    /// - Throws: `TransportError` with code `invalid-request` if the authority is invalid.
    func origin(of written: String, isSecure: Bool) throws(TransportError) -> Origin {
        let found = known.withLock { isSecure ? $0.secure[written] : $0.cleartext[written] }
        // Strings in two Unicode forms are equal, but each is checked as written.
        if let found, found.written.utf8.elementsEqual(written.utf8) { return found }
        let origin = try Origin(written, isSecure: isSecure)
        known.withLock { known in
            if known.secure.count + known.cleartext.count >= Self.limit { known = Known() }
            if isSecure {
                known.secure[written] = origin
            } else {
                known.cleartext[written] = origin
            }
        }
        return origin
    }
}
