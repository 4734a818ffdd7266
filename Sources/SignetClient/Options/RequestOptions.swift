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
    public var deadline: Duration? {
        get { storage.values.deadline }
        set { change { $0.deadline = newValue } }
    }
    /// The time for one attempt, from the name look-up to the response's last byte. Defaults to the
    /// service's.
    public var timeout: Duration? {
        get { storage.values.timeout }
        set { change { $0.timeout = newValue } }
    }
    /// The time for connecting, including TLS. Defaults to the engine's: 30 seconds for libcurl.
    public var connectTimeout: Duration? {
        get { storage.values.connectTimeout }
        set { change { $0.connectTimeout = newValue } }
    }
    /// The maximum size of the response's body in bytes. The system's limit holds too.
    public var maximumResponseSize: Int? {
        get { storage.values.maximumResponseSize }
        set { change { $0.maximumResponseSize = newValue } }
    }
    /// The maximum number of attempts, in 1...10.
    public var attempts: Int? {
        get { storage.values.attempts }
        set { change { $0.attempts = newValue } }
    }
    /// Which responses are worth another attempt, and the pauses.
    public var retry: RetryStrategy? {
        get { storage.values.retry }
        set { change { $0.retry = newValue } }
    }
    /// Whether the call may reach the server twice.
    public var idempotency: Idempotency? {
        get { storage.values.idempotency }
        set { change { $0.idempotency = newValue } }
    }
    /// Which redirects are followed.
    public var redirects: RedirectPolicy? {
        get { storage.values.redirects }
        set { change { $0.redirects = newValue } }
    }
    /// A base URL in place of the service's. The service's fields, signature and credentials go
    /// there; the host needs a rule of the pin policy, and the URL rules hold.
    public var baseURL: String? {
        get { storage.values.baseURL }
        set { change { $0.baseURL = newValue } }
    }
    /// A base URL in place of ``baseURL`` and the service's if the run mode is `staging` or
    /// `development`; never in production.
    public var testBaseURL: String? {
        get { storage.values.testBaseURL }
        set { change { $0.testBaseURL = newValue } }
    }
    /// The engine that sends the requests. Defaults to the standard one.
    public var engine: EngineChoice? {
        get { storage.values.engine }
        set { change { $0.engine = newValue } }
    }
    /// Additional fields. They replace common fields of the same names; the fields that the adapter
    /// makes, such as Content-Type, stay.
    public var fields: HTTPFields {
        get { storage.values.fields }
        set { change { $0.fields = newValue } }
    }
    /// The scenario whose limits replace those of the service.
    public var scenario: Scenario? {
        get { storage.values.scenario }
        set { change { $0.scenario = newValue } }
    }
    /// The rule for a call whose equal is running already. Defaults to `allow`.
    public var duplicates: DuplicatePolicy? {
        get { storage.values.duplicates }
        set { change { $0.duplicates = newValue } }
    }
    /// The source of the credentials of each attempt.
    public var credentials: (any CredentialSource)? {
        get { storage.values.credentials }
        set { change { $0.credentials = newValue } }
    }
    /// The certificate for the service's host if it asks for one (mutual TLS). Defaults to the
    /// service's; another origin, to which a redirect leads, never gets it.
    public var clientCertificate: ClientCertificate? {
        get { storage.values.clientCertificate }
        set { change { $0.clientCertificate = newValue } }
    }
    /// The checks of a successful response; the later ones replace the earlier ones, `[]` checks
    /// nothing.
    public var responseChecks: [any ResponseCheck]? {
        get { storage.values.responseChecks }
        set { change { $0.responseChecks = newValue } }
    }
    /// The forms of dates and of members' names in parameters and results of Swift types. Defaults
    /// to the service's, or to `JSONConventions()` if it has none.
    public var json: JSONConventions? {
        get { storage.values.json }
        set { change { $0.json = newValue } }
    }
    /// The sets of common fields and parameters that the call carries, and no others; with `[]` it
    /// carries no set. Of values of the same name those of the later set win. Defaults to the
    /// service's ``ServiceConfiguration/defaultSets``.
    public var sets: [String]? {
        get { storage.values.sets }
        set { change { $0.sets = newValue } }
    }
    /// Interceptors around the call. Those of the system come first, those of the call last.
    public var interceptors: [any CallInterceptor] {
        get { storage.values.interceptors }
        set { change { $0.interceptors = newValue } }
    }
    /// Interceptors around each attempt, before it is signed.
    public var attemptInterceptors: [any AttemptInterceptor] {
        get { storage.values.attemptInterceptors }
        set { change { $0.attemptInterceptors = newValue } }
    }
    /// Names to find and cancel calls by. All levels' tags together.
    public var tags: Set<String> {
        get { storage.values.tags }
        set { change { $0.tags = newValue } }
    }
    /// A handle on the call: its events, its attempts, its record.
    public var trace: CallTrace? {
        get { storage.values.trace }
        set { change { $0.trace = newValue } }
    }
    /// An object that shows the progress of uploads and downloads.
    public var progress: CallProgress? {
        get { storage.values.progress }
        set { change { $0.progress = newValue } }
    }
    /// Whether requests' bodies are compressed. Defaults to `none`.
    public var compression: RequestCompression? {
        get { storage.values.compression }
        set { change { $0.compression = newValue } }
    }
    /// Whether the record keeps what the call carried before and after each stage, redacted
    /// (``CallRecord/counted``). Defaults to `false` in production, to `true` in the other run
    /// modes.
    public var keepsContents: Bool? {
        get { storage.values.keepsContents }
        set { change { $0.keepsContents = newValue } }
    }
    /// How the program shows the call while it runs. Defaults to `indicator`.
    public var interaction: CallInteraction? {
        get { storage.values.interaction }
        set { change { $0.interaction = newValue } }
    }
    /// The queue in which the call waits for a place. Defaults to none.
    public var queue: CallQueue? {
        get { storage.values.queue }
        set { change { $0.queue = newValue } }
    }
    /// The call's priority in its queue, and among the calls that wait for a place of a service.
    /// Defaults to `normal`.
    public var priority: CallPriority? {
        get { storage.values.priority }
        set { change { $0.priority = newValue } }
    }
    /// Whether responses are kept, and until when. Defaults to not at all. `never` of any level
    /// wins over the others.
    public var cache: CachePolicy? {
        get { storage.values.cache }
        set { change { $0.cache = newValue } }
    }
    /// Whether a call that has a ``cache`` uses what is stored. Defaults to `standard`.
    public var cacheMode: CacheMode? {
        get { storage.values.cacheMode }
        set { change { $0.cacheMode = newValue } }
    }
    /// Whether and how calls of a JSON-RPC 2.0 service are merged into batches. Defaults to none.
    public var merging: CallMerging? {
        get { storage.values.merging }
        set { change { $0.merging = newValue } }
    }
    /// Whether a call that fails because the machine is offline waits until it is online, and is
    /// then sent again: after `offline`, or after `unresolved-host` without a default route. It
    /// waits until its ``deadline``, and without one as long as an attempt may take (``timeout``).
    /// The wait counts as no attempt. Defaults to `false`.
    public var waitsForConnectivity: Bool? {
        get { storage.values.waitsForConnectivity }
        set { change { $0.waitsForConnectivity = newValue } }
    }
    /// The owner, whose end cancels the call. Options hold it weakly.
    public var owner: CallOwner? {
        get { weakOwner?.object }
        set { weakOwner = newValue.map { WeakOwner(object: $0) } }
    }

    var weakOwner: WeakOwner? {
        get { storage.values.weakOwner }
        set { change { $0.weakOwner = newValue } }
    }

    /// The values, which copies of the options share.
    private var storage = Storage.none

    private mutating func change(_ change: (inout Values) -> Void) {
        var values = storage.values
        change(&values)
        storage = Storage(values)
    }

    /// Whether no value was ever set.
    var isNone: Bool { storage === Storage.none }

    /// Creates options; what isn't given is inherited.
    public init(
        scenario: Scenario? = nil, deadline: Duration? = nil, idempotency: Idempotency? = nil,
        tags: Set<String> = [], owner: CallOwner? = nil, trace: CallTrace? = nil
    ) {
        if let scenario { self.scenario = scenario }
        if let deadline { self.deadline = deadline }
        if let idempotency { self.idempotency = idempotency }
        if !tags.isEmpty { self.tags = tags }
        if let trace { self.trace = trace }
        if let owner { self.owner = owner }
    }

    /// Returns these options with those of a later level, which win.
    public func merging(_ later: RequestOptions) -> RequestOptions {
        if later.isNone { return self }
        if isNone { return later }
        var merged = self
        merged.change { $0.merge(later.storage.values) }
        return merged
    }

    /// The options of all calls without those that are meant for services and their callers, for
    /// hosts that the system calls for itself.
    var withoutThoseOfServices: RequestOptions {
        var options = self
        (options.fields, options.credentials, options.sets) = ([:], nil, nil)
        (options.baseURL, options.testBaseURL, options.scenario) = (nil, nil, nil)
        options.clientCertificate = nil
        (options.compression, options.progress, options.weakOwner) = (nil, nil, nil)
        options.queue = nil
        (options.cache, options.cacheMode) = (nil, nil)
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
        if isNone { return }
        func invalid(_ what: String) -> ClientError {
            ClientError(.invalidOptions, "the call's options: \(what)")
        }
        func requireTime(_ time: Duration?, _ name: String) throws(ClientError) {
            if let time, time <= .zero { throw invalid("\(name) is not above zero") }
        }
        try requireTime(deadline, "deadline")
        try requireTime(timeout, "timeout")
        try requireTime(connectTimeout, "connectTimeout")
        if let retry, min(retry.firstPause, retry.longestPause) < .zero {
            throw invalid("a pause of retry is below zero")
        }
        if let attempts, !(1...10).contains(attempts) {
            throw invalid("attempts is \(attempts), expected 1...10")
        }
        if let maximumResponseSize, maximumResponseSize < 1 {
            throw invalid("maximumResponseSize is not above zero")
        }
        if let problem = cache?.problem { throw invalid("cache: \(problem)") }
        if let problem = merging?.problem { throw invalid("merging: \(problem)") }
    }
}

extension RequestOptions {
    /// The values in one object, because a call hands its options through all stages.
    private final class Storage: Sendable {
        let values: Values

        init(_ values: Values) { self.values = values }

        static let none = Storage(Values())
    }

    private struct Values: Sendable {
        var deadline: Duration?
        var timeout: Duration?
        var connectTimeout: Duration?
        var maximumResponseSize: Int?
        var attempts: Int?
        var retry: RetryStrategy?
        var idempotency: Idempotency?
        var redirects: RedirectPolicy?
        var baseURL: String?
        var testBaseURL: String?
        var engine: EngineChoice?
        var fields: HTTPFields = [:]
        var scenario: Scenario?
        var duplicates: DuplicatePolicy?
        var credentials: (any CredentialSource)?
        var clientCertificate: ClientCertificate?
        var responseChecks: [any ResponseCheck]?
        var json: JSONConventions?
        var sets: [String]?
        var interceptors: [any CallInterceptor] = []
        var attemptInterceptors: [any AttemptInterceptor] = []
        var tags: Set<String> = []
        var trace: CallTrace?
        var progress: CallProgress?
        var compression: RequestCompression?
        var cache: CachePolicy?
        var cacheMode: CacheMode?
        var weakOwner: WeakOwner?
        var interaction: CallInteraction?
        var keepsContents: Bool?
        var queue: CallQueue?
        var priority: CallPriority?
        var waitsForConnectivity: Bool?
        var merging: CallMerging?

        mutating func merge(_ later: Values) {
            deadline = later.deadline ?? deadline
            timeout = later.timeout ?? timeout
            connectTimeout = later.connectTimeout ?? connectTimeout
            maximumResponseSize = later.maximumResponseSize ?? maximumResponseSize
            attempts = later.attempts ?? attempts
            retry = later.retry ?? retry
            idempotency = later.idempotency ?? idempotency
            redirects = later.redirects ?? redirects
            baseURL = later.baseURL ?? baseURL
            testBaseURL = later.testBaseURL ?? testBaseURL
            engine = later.engine ?? engine
            for field in later.fields { fields[field.name] = nil }
            fields.append(contentsOf: later.fields)
            scenario = later.scenario ?? scenario
            duplicates = later.duplicates ?? duplicates
            credentials = later.credentials ?? credentials
            clientCertificate = later.clientCertificate ?? clientCertificate
            responseChecks = later.responseChecks ?? responseChecks
            json = later.json ?? json
            sets = later.sets ?? sets
            interceptors += later.interceptors
            attemptInterceptors += later.attemptInterceptors
            tags.formUnion(later.tags)
            trace = later.trace ?? trace
            progress = later.progress ?? progress
            compression = later.compression ?? compression
            cache = cache == .never ? .never : later.cache ?? cache
            cacheMode = later.cacheMode ?? cacheMode
            weakOwner = later.weakOwner ?? weakOwner
            interaction = later.interaction ?? interaction
            keepsContents = later.keepsContents ?? keepsContents
            queue = later.queue ?? queue
            priority = later.priority ?? priority
            waitsForConnectivity = later.waitsForConnectivity ?? waitsForConnectivity
            merging = later.merging ?? merging
        }
    }
}
