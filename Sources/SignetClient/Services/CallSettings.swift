internal import HTTPTypes
internal import SignetJSON
internal import SignetRPC
internal import SignetTransport
internal import SignetVault

/// What a configuration says about calls to every service: limits of scenarios, repeating, checks.
struct CallSettings: Sendable {
    private var connectTimeout: Duration?
    private var timeouts: [Scenario: Duration] = [:]
    private var attempts: [Scenario: Int] = [:]
    private var maximumResponseSize: Int?
    let userAgent: String?
    let retry: RetryPolicy
    let checks: ResponseChecks

    /// The defaults, for services that are given as values.
    init() {
        userAgent = nil
        retry = RetryPolicy()
        checks = ResponseChecks()
    }

    /// Reads the keys; the article ConfigurationKeys lists them.
    ///
    /// - Throws: `invalid-configuration`, naming the key.
    init(_ configuration: GlobalConfiguration) throws(ClientError) {
        let reader = SettingsReader(configuration)
        for name in reader.names(after: "timeouts.") {
            let timeout = try reader.duration("timeouts.\(name)") ?? .zero
            guard timeout > .zero else {
                throw reader.invalid("timeouts.\(name)", "is not above zero")
            }
            // The one time limit that is no scenario's.
            if name == "connect" {
                connectTimeout = timeout
            } else {
                timeouts[Scenario(name)] = timeout
            }
        }
        for name in reader.names(after: "attempts.") {
            let count = try reader.read("attempts.\(name)", Int.self) ?? 0
            guard (1...10).contains(count) else {
                throw reader.invalid("attempts.\(name)", "is not in 1...10")
            }
            attempts[Scenario(name)] = count
        }
        if let size = try reader.read("responseChecks.maximumBytes", Int.self) {
            guard size > 0 else {
                throw reader.invalid("responseChecks.maximumBytes", "is not above zero")
            }
            maximumResponseSize = size
        }
        userAgent = try reader.read("app.userAgent", String.self)
        if let userAgent, !HTTPField.isValidValue(userAgent) {
            throw reader.invalid("app.userAgent", "is no value of an HTTP field")
        }
        retry = try RetryPolicy(reader)
        checks = try ResponseChecks(reader)
    }

    /// The rules of one call; a scenario's own win over the service's.
    ///
    /// - Throws: `unknown-scenario` where the configuration says nothing of the scenario.
    func rules(
        of service: ServiceConfiguration, in scenario: Scenario?, maximumResponseSize limit: Int
    ) throws(ClientError) -> CallRules {
        var rules = CallRules(
            timeout: service.timeout, attempts: service.attempts,
            maximumResponseSize: min(limit, maximumResponseSize ?? limit), retry: retry,
            redirects: service.redirects)
        // A remote procedure's call is its body: as GET it would be another request.
        if service.payloadProtocol != .rest { rules.redirects.changesMethod = false }
        if let scenario {
            let (timeout, count) = (timeouts[scenario], attempts[scenario])
            guard timeout != nil || count != nil else {
                throw ClientError(
                    code: .unknownScenario,
                    message:
                        "the configuration has neither timeouts.\(scenario) nor attempts.\(scenario)"
                )
            }
            rules.timeout = timeout ?? rules.timeout
            rules.attempts = count ?? rules.attempts
        }
        rules.connectTimeout = connectTimeout
        return rules
    }
}

/// The limits of one call.
struct CallRules: Sendable {
    /// Of one attempt.
    var timeout: Duration
    var connectTimeout: Duration?
    var attempts: Int
    /// In bytes.
    var maximumResponseSize: Int
    var retry: RetryPolicy
    var redirects: RedirectPolicy
    /// Whether the call may reach the server twice.
    var isRepeatable = false
    /// The end of all attempts together.
    var deadline: ContinuousClock.Instant?

    /// The time that an attempt which begins now may take.
    ///
    /// - Throws: `timeout` where the deadline has passed.
    func timeLeft() throws(ClientError) -> Duration {
        guard let deadline else { return timeout }
        let left = deadline - .now
        guard left > .zero else {
            throw ClientError(
                code: .timeout, message: "the time for all attempts has passed")
        }
        return min(timeout, left)
    }
}

/// When a call is tried again, and after which pause.
struct RetryPolicy: Sendable {
    private var statusCodes: Set<Int> = []
    private var firstPause = Duration.milliseconds(100)
    private var longestPause = Duration.seconds(5)

    /// Only what cannot have reached the server is tried again.
    init() {}

    /// Reads `retry.statusCodes`, `retry.firstPause` and `retry.longestPause`.
    init(_ reader: SettingsReader) throws(ClientError) {
        for code in try reader.read("retry.statusCodes", [JSONValue].self) ?? [] {
            guard let status = code.number?.int64, (400...599).contains(status) else {
                throw reader.invalid("retry.statusCodes", "holds what is no status of 400...599")
            }
            statusCodes.insert(Int(status))
        }
        firstPause = try reader.duration("retry.firstPause") ?? firstPause
        longestPause = try reader.duration("retry.longestPause") ?? longestPause
        guard firstPause >= .zero else { throw reader.invalid("retry.firstPause", "is below zero") }
        guard longestPause >= firstPause else {
            throw reader.invalid("retry.longestPause", "is below retry.firstPause")
        }
    }

    /// The pause before the next attempt: doubled with each, and up to half of it at random, so
    /// that many clients do not come back at once.
    func pause(after attempt: Int) -> Duration {
        let whole = min(longestPause, firstPause * (1 << min(attempt - 1, 16)))
        return whole * Double.random(in: 0.5...1)
    }

    /// Whether a method does no more when it comes twice (RFC 9110, section 9.2.2).
    static func isIdempotent(_ method: HTTPRequest.Method) -> Bool {
        [.get, .head, .options, .put, .delete].contains(method)
    }

    /// The pause that a reply is worth, or nil where it is final.
    ///
    /// A call that may have reached the server is repeated only where its HTTP method is idempotent
    /// (RFC 9110, section 9.2.2) or the program says so. A server that asks for a longer pause than
    /// the longest is not asked again.
    func pause(
        after attempt: Int, of request: HTTPRequest, isRepeatable: Bool, reply: RawResponse
    ) -> Duration? {
        guard statusCodes.contains(reply.status) else { return nil }
        guard isRepeatable || Self.isIdempotent(request.method) else { return nil }
        let pause = pause(after: attempt)
        guard let text = reply.fields[.retryAfter] else { return pause }
        guard let seconds = Int(text), seconds >= 0 else { return pause }
        return .seconds(seconds) > longestPause ? nil : max(pause, .seconds(seconds))
    }
}

/// Which replies that the protocol calls good are failures all the same.
struct ResponseChecks: Sendable {
    private var codePath: [String] = []
    private var goodCodes: [JSONValue] = []

    /// Nothing is checked.
    init() {}

    /// Reads `responseChecks.codeField` and `responseChecks.goodCodes`.
    init(_ reader: SettingsReader) throws(ClientError) {
        guard let path = try reader.read("responseChecks.codeField", String.self) else { return }
        codePath = path.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
        guard !codePath.contains("") else {
            throw reader.invalid(
                "responseChecks.codeField", "is no member's name, or names joined by points")
        }
        goodCodes = try reader.read("responseChecks.goodCodes", [JSONValue].self) ?? []
        guard !goodCodes.isEmpty else {
            throw reader.invalid(
                "responseChecks.goodCodes", "lists nothing beside responseChecks.codeField")
        }
    }

    /// Step 12: a result whose business code is none of the good ones is the service's error. A
    /// result without the code passes.
    ///
    /// - Throws: `business-code` of kind `service`.
    func check(_ reply: UnboxedResponse) throws(ClientError) {
        guard !codePath.isEmpty, let result = reply.result else { return }
        var code: JSONValue? = result.value
        for name in codePath { code = code?[name] }
        guard let code, !goodCodes.contains(code) else { return }
        let found = code.number.flatMap(\.int64).map { " (\($0))" } ?? ""
        throw ClientError(
            code: .businessCode,
            message:
                "the reply's \(codePath.joined(separator: "."))\(found) is none of responseChecks.goodCodes",
            status: reply.status)
    }
}
