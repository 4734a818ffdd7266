public import HTTPTypes
public import SignetPinning

/// A response: its header, and a body that is read as it arrives.
public struct EngineResponse: Sendable {
    /// A version of HTTP.
    public struct HTTPVersion: Sendable, Hashable, CustomStringConvertible {
        /// The number before the dot.
        public let major: Int
        /// The number after the dot.
        public let minor: Int

        /// Creates a version.
        public init(major: Int, minor: Int) {
            self.major = major
            self.minor = minor
        }

        /// The version as text: `HTTP/1.1` or `HTTP/2`.
        public var description: String { major >= 2 ? "HTTP/\(major)" : "HTTP/\(major).\(minor)" }
    }

    /// Whether a server asked for a client certificate, and got one.
    package enum CertificateRequest: Sendable, Hashable {
        /// It didn't ask.
        case none
        /// It asked, and the call has none.
        case unanswered
        /// It asked, and got the one with this subject.
        case answered(subject: String)
    }

    /// The status and fields.
    public var response: HTTPResponse { didSet { status = response.status.code } }
    /// The code of the status, which a response has as text.
    public private(set) var status: Int
    /// The interim responses that came before it, such as a 103 (RFC 9110, section 15.2). A 100,
    /// which is the engine's, isn't among them.
    public var interim: [HTTPResponse] = []
    /// The body.
    public var body: HTTPResponseBody
    /// The trailers, after the body has been read to its end; `nil` if there were none.
    public var trailers: HTTPFields? { body.trailers }
    /// The HTTP version that the server used.
    public var httpVersion: HTTPVersion
    /// The timings up to the response's header.
    public var timings: Timings { details?.timings ?? Timings() }
    /// The timings of the whole call after the body has been read to its end; until then `timings`.
    public var finalTimings: Timings { details?.record?.timings ?? timings }
    /// The policy's verdict on the server's keys; `nil` if no pins applied to the host.
    public var verdict: PinVerdict? { details?.verdict }
    /// The verified chain, leaf first; empty if no pin was checked.
    public var peerChain: [SeenCertificate] { details?.peerChain ?? [] }
    /// The server's wish for a client certificate, in the handshake of the connection.
    package var certificateRequest = CertificateRequest.none
    /// A reason of statuses by which servers refuse a client certificate; nil for another response.
    package var certificateNote: String? {
        guard [400, 401, 403, 495, 496].contains(status) else { return nil }
        return switch certificateRequest {
        case .none: nil
        case .unanswered: "it asked for a client certificate, and the call has none"
        case .answered(let subject): "it got the client certificate \"\(subject)\""
        }
    }
    /// Whether the engine made the response up, as a stub or a replay does. No cache stores it.
    public var isMadeUp = false
    /// The origin of the response, for an engine that responds from several, and for an interceptor
    /// that responds itself; nil for that of ``EngineCapabilities/source``, or `interceptor`.
    public var source: ResponseSource?
    private let details: Details?

    /// The connection's part. It is an object, because a response is handed on through many stages
    /// (benchmark row `system-exchange`).
    private final class Details: Sendable {
        let timings: Timings
        let verdict: PinVerdict?
        let peerChain: [SeenCertificate]
        let record: TimingsRecord?

        init(
            _ timings: Timings, _ verdict: PinVerdict?, peerChain: [SeenCertificate],
            record: TimingsRecord?
        ) {
            self.timings = timings
            self.verdict = verdict
            self.peerChain = peerChain
            self.record = record
        }
    }

    /// Creates a response. The engine stores the timings in `record` while the body arrives.
    public init(
        response: HTTPResponse, body: HTTPResponseBody, httpVersion: HTTPVersion,
        timings: Timings = Timings(), verdict: PinVerdict? = nil, peerChain: [SeenCertificate] = [],
        record: TimingsRecord? = nil
    ) {
        self.response = response
        status = response.status.code
        self.body = body
        self.httpVersion = httpVersion
        let isEmpty =
            record == nil && verdict == nil && peerChain.isEmpty && timings == Timings()
        details =
            isEmpty ? nil : Details(timings, verdict, peerChain: peerChain, record: record)
    }
}
