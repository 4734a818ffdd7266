public import HTTPTypes
public import SignetPinning

/// A reply: its header, and its body as it comes.
public struct EngineResponse: Sendable {
    /// A version of HTTP.
    public struct HTTPVersion: Sendable, Hashable, CustomStringConvertible {
        /// The number before the dot.
        public let major: Int
        /// The number behind the dot.
        public let minor: Int

        /// Takes the numbers.
        public init(major: Int, minor: Int) {
            self.major = major
            self.minor = minor
        }

        /// `HTTP/1.1`, `HTTP/2`.
        public var description: String { major >= 2 ? "HTTP/\(major)" : "HTTP/\(major).\(minor)" }
    }

    /// Status and fields.
    public var response: HTTPResponse
    /// The body.
    public var body: ResponseBody
    /// The version that the server spoke.
    public var httpVersion: HTTPVersion
    /// How long the parts took until the reply's header was there.
    public var timings: Timings
    /// The timings with the whole of them, as soon as the body has been read to its end.
    public var finalTimings: Timings { record?.timings ?? timings }
    /// What the policy said of the server's keys; nil where no policy was given or none applied.
    public var verdict: PinVerdict?
    /// The verified chain, leaf first; empty where no pin was checked.
    public var peerChain: [SeenCertificate]
    private let record: TimingsRecord?

    /// Makes a response.
    public init(
        response: HTTPResponse, body: ResponseBody, httpVersion: HTTPVersion,
        timings: Timings = Timings(), verdict: PinVerdict? = nil, peerChain: [SeenCertificate] = [],
        record: TimingsRecord? = nil
    ) {
        self.response = response
        self.body = body
        self.httpVersion = httpVersion
        self.timings = timings
        self.verdict = verdict
        self.peerChain = peerChain
        self.record = record
    }
}
