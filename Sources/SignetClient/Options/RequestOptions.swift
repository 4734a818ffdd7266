public import HTTPTypes
public import SignetJSON
public import SignetTransport

/// The settings of a call: of one call, or of all calls of an endpoint, a service or a system.
///
/// Options are merged in this order; the later one wins: the configuration,
/// `NetworkSystem.Options.callOptions`, the service, the scenario, the service's options of the
/// method, the endpoint, the call. A value that isn't set is inherited.
/// `NetworkSystem.callOptions(for:method:merging:)` returns the merged options.
///
/// ```swift
/// var options = RequestOptions(scenario: "interactive", tags: ["checkout"])
/// options.deadline = .seconds(3)
/// options.fields[.acceptLanguage] = "en"
/// ```
public struct RequestOptions: Sendable {
    /// The time for all work of the call: every attempt and pause, and interceptors. By default
    /// there is no limit besides that of each attempt.
    public var deadline: Duration?
    /// The time for one attempt, from the name look-up to the response's last byte. Defaults to the
    /// service's.
    public var timeout: Duration?
    /// The time for connecting, including TLS. Defaults to the engine's: 30 seconds for libcurl.
    public var connectTimeout: Duration?
    /// The maximum size of the response's body in bytes. The system's limit holds too.
    public var maximumResponseSize: Int?
    /// The maximum number of attempts, in 1...10.
    public var attempts: Int?
    /// Which responses are worth another attempt, and the pauses.
    public var retry: RetryStrategy?
    /// Whether the call may reach the server twice.
    public var idempotency: Idempotency?
    /// Which redirects are followed.
    public var redirects: RedirectPolicy?
    /// A base URL in place of the service's. The service's fields, signature and credentials go
    /// there; the host needs a rule of the pin policy, and the URL rules hold.
    public var baseURL: String?
    /// A base URL in place of ``baseURL`` and the service's if the run mode is `staging` or
    /// `development`; never in production.
    public var testBaseURL: String?
    /// The engine that sends the requests. Defaults to the standard one.
    public var engine: EngineChoice?
    /// Additional fields. They replace common fields of the same names; the fields that the adapter
    /// makes, such as Content-Type, stay.
    public var fields: HTTPFields = [:]
    /// The scenario whose limits replace those of the service.
    public var scenario: Scenario?
    /// The rule for a call whose equal is running already. Defaults to `allow`.
    public var duplicates: DuplicatePolicy?
    /// The source of the credentials of each attempt.
    public var credentials: (any CredentialSource)?
    /// The checks of a successful response; the later ones replace the earlier ones, `[]` checks
    /// nothing.
    public var responseChecks: [any ResponseCheck]?
    /// The forms of dates and of members' names in parameters and results of Swift types. Defaults
    /// to the service's, or to `JSONConventions()` if it has none.
    public var json: JSONConventions?
    /// The sets of common fields and parameters that the call carries, and no others; with `[]` it
    /// carries no set. Of values of the same name those of the later set win. Defaults to the
    /// service's ``ServiceConfiguration/defaultSets``.
    public var sets: [String]?
    /// Interceptors around the call. Those of the system come first, those of the call last.
    public var interceptors: [any CallInterceptor] = []
    /// Interceptors around each attempt, before it is signed.
    public var attemptInterceptors: [any AttemptInterceptor] = []
    /// Names to find and cancel calls by. All levels' tags together.
    public var tags: Set<String> = []
    /// A handle on the call: its events, its attempts, its record.
    public var trace: CallTrace?
    /// An object that shows the progress of uploads and downloads.
    public var progress: CallProgress?
    /// Whether requests' bodies are compressed. Defaults to `none`.
    public var compression: RequestCompression?
    /// The owner, whose end cancels the call. Options hold it weakly.
    public var owner: CallOwner? {
        get { weakOwner?.object }
        set { weakOwner = newValue.map { WeakOwner(object: $0) } }
    }

    var weakOwner: WeakOwner?

    /// Creates options; what isn't given is inherited.
    public init(
        scenario: Scenario? = nil, deadline: Duration? = nil, idempotency: Idempotency? = nil,
        tags: Set<String> = [], owner: CallOwner? = nil, trace: CallTrace? = nil
    ) {
        self.scenario = scenario
        self.deadline = deadline
        self.idempotency = idempotency
        self.tags = tags
        self.trace = trace
        self.owner = owner
    }

    /// Returns these options with those of a later level, which win.
    public func merging(_ later: RequestOptions) -> RequestOptions {
        var merged = self
        merged.deadline = later.deadline ?? deadline
        merged.timeout = later.timeout ?? timeout
        merged.connectTimeout = later.connectTimeout ?? connectTimeout
        merged.maximumResponseSize = later.maximumResponseSize ?? maximumResponseSize
        merged.attempts = later.attempts ?? attempts
        merged.retry = later.retry ?? retry
        merged.idempotency = later.idempotency ?? idempotency
        merged.redirects = later.redirects ?? redirects
        merged.baseURL = later.baseURL ?? baseURL
        merged.testBaseURL = later.testBaseURL ?? testBaseURL
        merged.engine = later.engine ?? engine
        for field in later.fields { merged.fields[field.name] = nil }
        merged.fields.append(contentsOf: later.fields)
        merged.scenario = later.scenario ?? scenario
        merged.duplicates = later.duplicates ?? duplicates
        merged.credentials = later.credentials ?? credentials
        merged.responseChecks = later.responseChecks ?? responseChecks
        merged.json = later.json ?? json
        merged.sets = later.sets ?? sets
        merged.interceptors += later.interceptors
        merged.attemptInterceptors += later.attemptInterceptors
        merged.tags.formUnion(later.tags)
        merged.trace = later.trace ?? trace
        merged.progress = later.progress ?? progress
        merged.compression = later.compression ?? compression
        merged.weakOwner = later.weakOwner ?? weakOwner
        return merged
    }

    /// The options of all calls without those that are meant for services and their callers, for
    /// hosts that the system calls for itself.
    var withoutThoseOfServices: RequestOptions {
        var options = self
        (options.fields, options.credentials, options.sets) = ([:], nil, nil)
        (options.baseURL, options.testBaseURL, options.scenario) = (nil, nil, nil)
        (options.compression, options.progress, options.weakOwner) = (nil, nil, nil)
        return options
    }

    /// The base URL in place of the service's; nil for the service's own.
    func baseURL(in mode: RunMode) -> String? {
        (mode == .production ? nil : testBaseURL) ?? baseURL
    }

    /// Checks the values.
    ///
    /// - Throws: `invalid-options` that names the first wrong one.
    func validate() throws(ClientError) {
        func invalid(_ what: String) -> ClientError {
            ClientError(.invalidOptions, "the call's options: \(what)")
        }
        for (name, duration) in [
            ("deadline", deadline), ("timeout", timeout), ("connectTimeout", connectTimeout),
        ] {
            if let duration, duration <= .zero { throw invalid("\(name) is not above zero") }
        }
        if let retry, min(retry.firstPause, retry.longestPause) < .zero {
            throw invalid("a pause of retry is below zero")
        }
        if let attempts, !(1...10).contains(attempts) {
            throw invalid("attempts is \(attempts), expected 1...10")
        }
        if let maximumResponseSize, maximumResponseSize < 1 {
            throw invalid("maximumResponseSize is not above zero")
        }
    }
}
