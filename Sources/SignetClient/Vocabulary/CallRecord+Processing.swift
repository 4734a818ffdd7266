public import HTTPTypes
public import SignetTransport

extension CallRecord {
    /// The limits of a call, merged from all levels of options.
    public struct Limits: Sendable, Hashable {
        /// The time for all work; nil for no limit.
        public internal(set) var deadline: Duration?
        /// The time for one attempt.
        public internal(set) var timeout: Duration
        /// The time for connecting; nil for the engine's.
        public internal(set) var connectTimeout: Duration?
        /// The maximum number of attempts.
        public internal(set) var attempts: Int
        /// The maximum size of a response's body in bytes.
        public internal(set) var maximumResponseSize: Int
        /// The maximum number of redirects in one attempt.
        public internal(set) var maximumRedirects: Int
    }

    /// A part of a call's way, such as an attempt or a pause.
    ///
    /// Stages contain each other: an attempt contains its requests, and interceptors around the
    /// call contain the attempts.
    public struct Stage: Sendable, Hashable {
        /// The kind of a stage. New kinds may be added.
        public struct Name: Sendable, Hashable, CustomStringConvertible {
            private enum Kind: String {
                case admission, queue, building, joining, cache, interceptors, credentials, attempt,
                    signing,
                    request, reading, pause, delay, connectivity, unboxing
                case attemptInterceptors = "attempt-interceptors"
            }

            private let kind: Kind

            /// The name in kebab-case.
            public var description: String { kind.rawValue }

            /// Options are merged, and the call gets its identity.
            public static let admission = Name(kind: .admission)
            /// The call waits for a place in its queue.
            public static let queue = Name(kind: .queue)
            /// The adapter boxes the call, and its URL and fields are joined.
            public static let building = Name(kind: .building)
            /// The call waits for work that it shares with equal ones.
            public static let joining = Name(kind: .joining)
            /// A response is looked for in the cache.
            public static let cache = Name(kind: .cache)
            /// The interceptors around the call run, with all attempts inside.
            public static let interceptors = Name(kind: .interceptors)
            /// A credential is looked up or asked for.
            public static let credentials = Name(kind: .credentials)
            /// An attempt, with its requests and its response.
            public static let attempt = Name(kind: .attempt)
            /// The interceptors around an attempt run, with its requests inside.
            public static let attemptInterceptors = Name(kind: .attemptInterceptors)
            /// A request is signed.
            public static let signing = Name(kind: .signing)
            /// A request is sent, until the header of its response has arrived.
            public static let request = Name(kind: .request)
            /// The body of a response is read.
            public static let reading = Name(kind: .reading)
            /// The pause before another attempt.
            public static let pause = Name(kind: .pause)
            /// The delay before a request that the switch `simulation.delay` makes.
            public static let delay = Name(kind: .delay)
            /// The call waits until the machine is online.
            public static let connectivity = Name(kind: .connectivity)
            /// The response is unboxed and checked.
            public static let unboxing = Name(kind: .unboxing)
        }

        /// The kind of stage.
        public internal(set) var name: Name
        /// The time from the call's start to the beginning of the stage. It is negative if a
        /// call joined work that was under way.
        public internal(set) var start: Duration
        /// The time that the stage took, at most to the end of the call.
        public internal(set) var duration: Duration
    }

    /// A change that a stub made.
    public struct StubUse: Sendable, Hashable {
        /// A place of stubs in a call.
        public enum Place: String, Sendable, Hashable {
            /// Before the adapter boxes the request.
            case beforeBoxing = "before-boxing"
            /// Before the request is signed.
            case beforeSigning = "before-signing"
            /// In place of the engine.
            case beforeEngine = "before-engine"
            /// After the engine responded.
            case afterEngine = "after-engine"
            /// Before the response is converted.
            case beforeDelivery = "before-delivery"
        }

        /// The place.
        public let place: Place
        /// The name of the stub's module.
        public let module: String
    }

    /// One request and its outcome.
    public struct Exchange: Sendable, Hashable {
        /// The method.
        public internal(set) var method: HTTPRequest.Method
        let location: Location
        /// Scheme, host, port and path.
        public var url: String { location.text }
        /// Whether the request was signed.
        public internal(set) var isSigned: Bool
        /// Whether the server's key had to be one of the pinned ones, and was.
        public internal(set) var isPinned = false
        /// The pins that the server showed, and those that were wanted; nil if no pin applied.
        public internal(set) var pins: PinUse?
        /// The response's status; nil if there was none.
        public internal(set) var status: Int?
        /// The version that the server spoke; nil if there was no response.
        public internal(set) var httpVersion: EngineResponse.HTTPVersion?
        /// The engine that was chosen for the request, and why.
        public internal(set) var engine: EngineUse?
        /// The address that the request went to; nil if the service has no
        /// ``ServiceConfiguration/addresses``.
        public internal(set) var address: AddressUse?
        /// The origin of the response.
        public internal(set) var source = ResponseSource.server
        /// The time from the call's start to the request's start.
        public internal(set) var start = Duration.zero
        /// How long the parts took; of a request without a response only the whole.
        public internal(set) var timings = Timings()
        /// The code of the error that ended the request or its response.
        public internal(set) var failure: String?
        /// The message of that error, one line for people.
        public internal(set) var message: String?
        /// Whether a switch `simulation.…` made the failure. Then nothing was sent.
        public internal(set) var isSimulated = false
    }

    /// A redirect that was followed, or refused by the URL rules.
    public struct Redirect: Sendable, Hashable {
        /// 301, 302, 303, 307 or 308.
        public internal(set) var status: Int
        /// Scheme, host, port and path of the URL that redirected.
        public internal(set) var from: String
        /// Scheme, host, port and path of the URL that the redirect leads to.
        public internal(set) var to: String
        /// The method of the next request.
        public internal(set) var method: HTTPRequest.Method

        init(_ redirect: SignetTransport.Redirect) {
            status = redirect.status
            from = "\(redirect.from.origin)\(redirect.from.path)"
            to = "\(redirect.to.origin)\(redirect.to.path)"
            method = redirect.method
        }
    }

    /// One attempt: the first request and those that redirects led to.
    public struct Attempt: Sendable, Hashable {
        /// In their order; the last one's response is the attempt's.
        public internal(set) var hops: [Exchange] = []
        /// The redirects between them.
        public internal(set) var redirects: [Redirect] = []
    }

    /// A request's URL without user info and query. Its text is made when it is read, because few
    /// records are read.
    struct Location: Sendable, Hashable {
        private let scheme: String
        private let host: String
        private let path: String

        init(_ head: HTTPRequest) {
            scheme = head.scheme ?? "https"
            host = (head.authority ?? "").part(after: UInt8(ascii: "@"))
            path = (head.path ?? "/").part(before: UInt8(ascii: "?"))
        }

        var text: String { "\(scheme)://\(host)\(path)" }
    }
}

extension String {
    fileprivate func part(before byte: UInt8) -> String {
        utf8.firstIndex(of: byte).map { String(self[..<$0]) } ?? self
    }

    fileprivate func part(after byte: UInt8) -> String {
        utf8.lastIndex(of: byte).map { String(self[utf8.index(after: $0)...]) } ?? self
    }
}
