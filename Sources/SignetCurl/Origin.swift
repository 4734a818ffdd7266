internal import SignetPinning
internal import SignetTransport
internal import Synchronization

/// Where requests go: an authority as callers write it, in its one form, and what follows from that alone.
final class Origin: Sendable {
    /// What was written.
    let written: String
    let host: HostName
    let port: Int
    let isSecure: Bool
    /// Scheme, host and port, with `/` and nothing more.
    let url: String
    /// The line `Host`, as it was written where that is ASCII (RFC 9110, section 7.2), ended by a zero byte.
    let hostLine: [UInt8]
    /// The pins that a request here last was given, and the same as libcurl's side takes them.
    private let last = Mutex<(pins: [Pin], digests: [UInt8])>(([], []))

    /// Brings an authority to its one form.
    ///
    /// - Throws: `TransportError` with code `invalid-request`.
    init(_ written: String, isSecure: Bool) throws(TransportError) {
        let authority: Authority
        do {
            authority = try Authority(parsing: written)
        } catch {
            throw TransportError(code: .invalidRequest, message: error.message)
        }
        for byte in written.utf8 where byte <= 0x20 || byte == 0x7F {
            throw TransportError(
                code: .invalidRequest, message: "the host holds a space or a control character")
        }
        let scheme = isSecure ? "https" : "http"
        self.written = written
        self.isSecure = isSecure
        host = authority.host
        port = authority.port(scheme: scheme)
        url = "\(scheme)://\(host.uriText):\(port)/"
        // As written, since signatures are made over it; but no server knows a name by its U-labels.
        let isASCII = written.utf8.allSatisfy { $0 < 0x80 }
        hostLine = Array("Host: \(isASCII ? written : authority.description)".utf8) + [0]
    }

    /// The bytes of all pins, one behind the other.
    func digests(of pins: [Pin]) -> [UInt8] {
        last.withLock { last in
            // Quick where both are the same array, as those of one policy are.
            if last.pins != pins { last = (pins, pins.flatMap(\.bytes)) }
            return last.digests
        }
    }
}

/// The origins of late, so that not every request has its host's name read anew.
final class Origins: Sendable {
    private struct Known {
        var secure: [String: Origin] = [:]
        var cleartext: [String: Origin] = [:]
    }

    private static let limit = 256
    private let known = Mutex(Known())

    /// The origin of an authority.
    ///
    /// - Throws: `TransportError` with code `invalid-request`.
    func origin(_ written: String, isSecure: Bool) throws(TransportError) -> Origin {
        let found = known.withLock { isSecure ? $0.secure[written] : $0.cleartext[written] }
        // Two Unicode forms are equal as strings; each is judged as it was written.
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
