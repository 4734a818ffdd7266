public import HTTPTypes
public import SignetTransport
internal import Synchronization

/// A record of one call: every attempt, every redirect, and how long each part took.
///
/// A program gives a trace to a call, and the call fills it while it runs, even if the call fails. A trace
/// contains no field, body, query or user info.
public final class CallTrace: Sendable {
    /// One request and its outcome.
    public struct Hop: Sendable, Hashable {
        /// The method.
        public var method: HTTPRequest.Method
        /// Scheme, host, port and path.
        public var url: String
        /// Whether the request was signed.
        public var isSigned: Bool
        /// The reply's status; nil where none came.
        public var status: Int?
        /// The version that the server spoke; nil where no reply came.
        public var httpVersion: EngineResponse.HTTPVersion?
        /// The engine that was chosen for the request, and why.
        public var engine: EngineUse?
        /// How long the parts took; of a hop without a reply only the whole.
        public var timings = Timings()
        /// The code of the error that ended the hop.
        public var failure: String?
    }

    /// One attempt: the first request and those that redirects led to.
    public struct Attempt: Sendable, Hashable {
        /// In their order; the last one's reply is the attempt's.
        public var hops: [Hop] = []
        /// The redirects between them.
        public var redirects: [Redirect] = []
    }

    private let kept = Mutex<[Attempt]>([])

    /// Makes an empty trace.
    public init() {}

    /// The attempts so far.
    public var attempts: [Attempt] { kept.withLock { $0 } }

    func begin() { kept.withLock { $0.append(Attempt()) } }

    func add(_ hop: Hop) {
        kept.withLock { attempts in
            if attempts.isEmpty { attempts.append(Attempt()) }
            attempts[attempts.count - 1].hops.append(hop)
        }
    }

    func add(_ redirect: Redirect) {
        kept.withLock { attempts in
            if attempts.isEmpty { attempts.append(Attempt()) }
            attempts[attempts.count - 1].redirects.append(redirect)
        }
    }
}
