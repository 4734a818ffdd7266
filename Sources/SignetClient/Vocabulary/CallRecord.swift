public import HTTPTypes
public import SignetTransport

/// The record of one call, from its start to its end, in three parts: what was asked, what the
/// system did, and what came back. It never changes, and it is one reference, so a copy costs
/// nothing.
///
/// A record contains no value of a field, no body, no query and no user info, unless its contents
/// are kept (``counted``), which never happens in production without being asked for.
///
/// ```swift
/// func explain(_ error: ClientError) {
///     guard let record = error.record else { return }
///     print(record)
///     for stage in record.work.stages { print(stage.start, stage.name, stage.duration) }
/// }
/// ```
public struct CallRecord: Sendable, Hashable, CustomStringConvertible {
    /// The request as the caller asked for it.
    public struct Request: Sendable, Hashable {
        /// The HTTP method; nil if the call failed before its request was built.
        public internal(set) var method: HTTPRequest.Method?
        /// Scheme, host, port and path; nil if the call failed before its request was built.
        public var url: String? { location?.text }
        var location: Location?
        /// The body's size in bytes; nil for a stream of unknown length.
        public internal(set) var bodySize: Int64?
        /// The scenario whose limits the call had.
        public internal(set) var scenario: Scenario?
    }

    /// The work of the system.
    public struct Processing: Sendable, Hashable {
        /// The mode that the system ran in.
        public internal(set) var mode: RunMode
        /// The merged limits of the call.
        public internal(set) var limits: Limits
        /// The stages in the order in which they began.
        public internal(set) var stages: [Stage] = []
        /// The attempts with their requests and redirects.
        public internal(set) var attempts: [Attempt] = []
        /// The stubs that changed something, in their order.
        public internal(set) var stubs: [StubUse] = []
        /// The call whose work this one shared (`DuplicatePolicy.join`), or in whose request it
        /// left (``RequestOptions/merging``). Stages and attempts are then those of the shared
        /// work.
        public internal(set) var joinedCall: CallIdentity.ID?
        /// The number of calls in the request, this one included; 0 if it wasn't merged with
        /// others.
        public internal(set) var mergedCount = 0
        /// How the cache handled the call; nil if no cache was asked.
        public internal(set) var cache: CacheUse?
        /// Whether a switch `simulation.…` failed an attempt.
        public var isSimulated: Bool { attempts.contains { $0.hops.contains { $0.isSimulated } } }
    }

    /// The response.
    public struct Response: Sendable, Hashable {
        /// The origin of a response.
        public typealias Source = ResponseSource

        /// The HTTP status.
        public internal(set) var status: Int
        /// The version that the server spoke; nil if no server was asked.
        public internal(set) var httpVersion: EngineResponse.HTTPVersion?
        /// The size of the decoded body in bytes; nil for a download or a stream, or if the body
        /// wasn't read to its end.
        public internal(set) var bodySize: Int?
        /// The origin of the response.
        public internal(set) var source: Source
        /// Whether an interceptor around the call changed the response.
        public internal(set) var isChanged = false
    }

    /// How a call ended.
    public enum Outcome: Sendable, Hashable {
        /// The caller has a value.
        case success
        /// The call failed.
        case failed(ClientError.Code)
        /// The call was ended: by its task or owner, by `cancelCall`, by a call that replaced it,
        /// or by the shutdown of the system.
        case cancelled(ClientError.Code)

        /// The code of the call's error; nil for a success.
        public var code: ClientError.Code? {
            switch self {
            case .success: nil
            case .failed(let code), .cancelled(let code): code
            }
        }

        init(_ code: ClientError.Code?) {
            guard let code else {
                self = .success
                return
            }
            let fromOutside: Set<ClientError.Code> = [.cancelled, .replaced, .notRunning]
            self = fromOutside.contains(code) ? .cancelled(code) : .failed(code)
        }
    }

    struct Contents: Sendable, Hashable {
        let identity: CallIdentity
        let request: Request
        let work: Processing
        let response: Response?
        let outcome: Outcome
        var message: String?
        var serverCode: String?
        let duration: Duration
        var ordinal: Int?
        var contents: [StageContents] = []
        var everything = SecretContents()
    }

    private final class Storage: Sendable {
        let contents: Contents
        init(_ contents: Contents) { self.contents = contents }
    }

    private let storage: Storage

    init(_ contents: Contents) { storage = Storage(contents) }

    /// Which call it was.
    public var identity: CallIdentity { storage.contents.identity }
    /// The request as the caller asked for it.
    public var request: Request { storage.contents.request }
    /// The work of the system.
    public var work: Processing { storage.contents.work }
    /// The last response; nil if there was none.
    public var response: Response? { storage.contents.response }
    /// How the call ended.
    public var outcome: Outcome { storage.contents.outcome }
    /// The message of the call's error, one line for people; nil for a success.
    public var message: String? { storage.contents.message }
    /// The service's own code of its error: of an RPC error, or that a ``BusinessCodeCheck`` found.
    public var serverCode: String? { storage.contents.serverCode }
    /// The time from the call's start to its end.
    public var duration: Duration { storage.contents.duration }

    /// The call with its counting part.
    public var counted: CountedCall {
        CountedCall(
            record: self, ordinal: storage.contents.ordinal, contents: storage.contents.contents)
    }

    /// The contents of the call with their secrets; empty unless a page asked for them
    /// (``SecretKeeping``).
    package var everything: [StageContents] { storage.contents.everything.contents }

    /// The URL without its query; nil if the call failed before it was built.
    public var url: String? { request.url }
    /// The attempts with their requests, redirects and timings.
    public var attempts: [Attempt] { work.attempts }
    /// The status of the last response; nil if there was none.
    public var status: Int? { response?.status }
    /// The code of the call's error; nil for a success.
    public var failure: ClientError.Code? { outcome.code }

    /// One line: number, service, method, URL, attempts, outcome and duration.
    public var description: String {
        let outcome = failure?.name ?? status.map { "\($0)" } ?? "success"
        return "call \(identity.id), \(identity.service) \(identity.method)"
            + (url.map { " \($0)" } ?? "")
            + ", attempts: \(attempts.count), outcome: \(outcome), after \(duration)"
    }

    /// Whether two records have the same contents.
    public static func == (left: CallRecord, right: CallRecord) -> Bool {
        left.storage === right.storage || left.storage.contents == right.storage.contents
    }

    /// Hashes the call's identity.
    public func hash(into hasher: inout Hasher) { hasher.combine(identity) }
}
