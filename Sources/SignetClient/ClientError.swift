package import SignetBase
public import SignetJSON
public import SignetRPC
internal import SignetSigning
internal import SignetTransport
internal import SignetVault

/// Why a call has no value to return.
///
/// The message says what was found, what was wanted and where; it never holds a key, a tag, a
/// value of the configuration or the `data` of a remote error.
public struct ClientError: Error, Sendable, Hashable, CustomStringConvertible, CustomReflectable {
    /// The four classes of failure, told apart so that a program can act on each.
    public enum Kind: Sendable, Hashable {
        /// No reply: name, connection, TLS, pins, time, or cut off. `code` says which.
        case noReply
        /// A reply whose status is not 2xx and whose body is no reply of the protocol.
        case status
        /// A reply of the service that says failure.
        case service
        /// The server sent a wrong format, or the client is at fault.
        case processing
    }

    /// What went wrong, in the words that the tool prints; open, so that it can grow.
    public struct Code: Sendable, Hashable, CustomStringConvertible {
        package let value: ErrorCode

        package init(_ value: ErrorCode) { self.value = value }

        /// The code in kebab-case, as in the tool's `--json` output.
        public var name: String { value.name }

        /// The system is not running: before its start or after its shutdown.
        public static let notRunning = Code(.notRunning)
        /// The configuration has no such service.
        public static let unknownService = Code(.usage("unknown-service"))
        /// The configuration of a service cannot be used.
        public static let invalidService = Code(.usage("invalid-service"))
        /// A key that the network system reads has a value that it cannot work with.
        public static let invalidConfiguration = Code(.usage("invalid-configuration"))
        /// The configuration says nothing of the scenario that a call names.
        public static let unknownScenario = Code(.usage("unknown-scenario"))
        /// The plan for fetching values cannot work with the configuration's defaults and launch values.
        public static let invalidPlan = Code(.usage("invalid-plan"))
        /// The reply's business code means failure.
        public static let businessCode = Code(.usage("business-code"))
        /// The system was started without what the call needs.
        public static let notConfigured = Code(.usage("not-configured"))
        /// The URL is none, or no rule of the configuration allows it.
        public static let refusedURL = Code(.usage("refused-url"))
        /// The host is pinned, and the engine that was chosen checks no pins.
        public static let engineCannotPin = Code(.usage("engine-cannot-pin"))
        /// A file that the configuration names cannot be read.
        public static let unreadableFile = Code(.unreadableFile)
        /// The parameters or the result do not fit the type.
        public static let typeMismatch = Code(.typeMismatch)
        /// A download is not what its digest says.
        public static let wrongDigest = Code(.checkFailed("wrong-digest"))
        /// A list leads back to a page that was there before.
        public static let pagingLoop = Code(.usage("paging-loop"))
        /// A list has more pages than the call takes.
        public static let tooManyPages = Code(.usage("too-many-pages"))
        /// The link to a list's next page cannot be followed.
        public static let pagingRefused = Code(.usage("paging-refused"))

        /// The name.
        public var description: String { name }
    }

    /// The class of the failure.
    public let kind: Kind
    /// The code.
    public let code: Code
    /// One line for people.
    public let message: String
    /// The HTTP status, where a reply came.
    public let status: Int?
    /// The error that the service replied, where it did.
    public let serverError: RPCServerError?
    /// What the reply says of an error in `application/problem+json` (RFC 9457), where it does.
    public let problem: ProblemDetails?
    /// The reply's body where its status is not 2xx and it is no reply of the protocol; never printed.
    public let replyBody: [UInt8]
    /// What a pin policy's refusal is about, as values, where one refused the host.
    public let pinRefusal: PinRefusal?

    package init(
        _ kind: Kind, _ code: Code, _ message: String, status: Int? = nil,
        serverError: RPCServerError? = nil, problem: ProblemDetails? = nil,
        replyBody: [UInt8] = [], pinRefusal: PinRefusal? = nil
    ) {
        self.kind = kind
        self.code = code
        self.message = message
        self.status = status
        self.serverError = serverError
        self.problem = problem
        self.replyBody = replyBody
        self.pinRefusal = pinRefusal
    }

    /// Code and message.
    public var description: String { "\(code.name): \(message)" }

    /// Code, message and status; not the reply's body.
    public var customMirror: Mirror {
        Mirror(self, children: ["code": code.name, "message": message, "status": status as Any])
    }

    /// Decodes the body of an error reply, for an API whose errors have a shape of their own.
    ///
    /// - Throws: `JSONError` where it is no strict JSON, or of another type.
    public func decodeReply<Value: Decodable>(_ type: Value.Type) throws(JSONError) -> Value {
        try StrictJSONDecoder().decode(type, from: replyBody)
    }

    /// Whether the server cannot have seen the call, so that trying again does nothing twice.
    var neverReachedTheServer: Bool {
        kind == .noReply
            && [TransportError.Code.name, .connect, .proxy].contains { $0.value == code.value }
    }
}

extension ClientError {
    init(_ error: VaultError) {
        self.init(.processing, Code(error.code.value), error.message)
    }

    init(_ error: TransportError) {
        let kind: Kind =
            switch error.code {
            case .bodyLength, .bodyFailed, .bodyChanged, .bodyNotReplayable: .processing
            default: .noReply
            }
        self.init(kind, Code(error.code.value), error.message, pinRefusal: error.pinRefusal)
    }

    init(_ error: SigningError) {
        self.init(.processing, Code(error.code.value), error.message)
    }

    init(_ error: RPCError) {
        let kind: Kind =
            switch error.code {
            case .rpcError: .service
            case .httpStatus: .status
            default: .processing
            }
        self.init(
            kind, Code(error.code.value), error.message, status: error.status,
            serverError: error.server, problem: error.problem, replyBody: error.body)
    }
}
