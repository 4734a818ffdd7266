import HTTPTypes
import SignetBase
import SignetJSON
import SignetVault

/// The settings for calls to all services, of a configuration and of the system's options: limits
/// of scenarios, retries, checks, the user agent.
struct CallSettings: Sendable {
    private var scenarios: [Scenario: RequestOptions] = [:]
    /// The options of all calls.
    private(set) var options = RequestOptions()
    private(set) var userAgent: String?

    /// Reads the keys, and takes the system's options, which win.
    ///
    /// - Parameter configuration: Nil for services that are given as values.
    /// - Throws: `invalid-configuration` or `invalid-options`, naming the key or the option.
    init(
        _ configuration: GlobalConfiguration?,
        options given: NetworkSystem.Options = NetworkSystem.Options()
    ) throws(ClientError) {
        if let configuration { try read(SettingsReader(configuration)) }
        for (scenario, options) in given.scenarios {
            scenarios[scenario] = scenarios[scenario]?.merging(options) ?? options
        }
        guard let userAgent = given.userAgent else { return }
        guard HTTPField.isValidValue(userAgent) else {
            throw ClientError(
                .invalidOptions, "the option userAgent is not a valid value of an HTTP field")
        }
        self.userAgent = userAgent
    }

    /// Reads the keys; the article ConfigurationKeys lists them.
    ///
    /// - Throws: `invalid-configuration`, naming the key.
    private mutating func read(_ reader: SettingsReader) throws(ClientError) {
        for name in reader.names(after: "timeouts.") {
            let timeout = try reader.positiveDuration("timeouts.\(name)")
            // The only time limit that doesn't belong to a scenario.
            if name == "connect" {
                options.connectTimeout = timeout
            } else {
                scenarios[Scenario(name), default: RequestOptions()].timeout = timeout
            }
        }
        for name in reader.names(after: "attempts.") {
            let count = try reader.number("attempts.\(name)", in: 1...10)
            scenarios[Scenario(name), default: RequestOptions()].attempts = count
        }
        if let size = try reader.positive("responseChecks.maximumBytes") {
            options.maximumResponseSize = size
        }
        userAgent = try reader.read("app.userAgent", as: String.self)
        if let userAgent, !HTTPField.isValidValue(userAgent) {
            throw reader.invalid("app.userAgent", reason: "is not a valid value of an HTTP field")
        }
        options.retry = try RetryStrategy(reader)
        _ = try BusinessCodeCheck(reader)
    }

    /// The options of a scenario; those of the service win.
    ///
    /// - Throws: `unknown-scenario` if neither the configuration, the system's options nor the
    ///   service define the scenario.
    func options(
        of scenario: Scenario, in service: ServiceConfiguration
    ) throws(ClientError) -> RequestOptions {
        let own = service.scenarios[scenario]
        guard let options = scenarios[scenario] ?? own else {
            throw ClientError(
                .unknownScenario,
                "the configuration has neither timeouts.\(scenario) nor"
                    + " attempts.\(scenario), and neither the system's options nor the service have such"
                    + " a scenario")
        }
        return own.map { options.merging($0) } ?? options
    }
}

extension RetryStrategy {
    /// Reads `retry.statusCodes`, `retry.firstPause` and `retry.longestPause`.
    init(_ reader: SettingsReader) throws(ClientError) {
        self.init()
        let codes = try reader.read("retry.statusCodes", as: [JSONValue].self)
        if codes != nil { statusCodes = [] }
        for code in codes ?? [] {
            guard let status = code.number?.int64, (400...599).contains(status) else {
                throw reader.invalid(
                    "retry.statusCodes",
                    reason: "contains a value that is not a status in 400...599")
            }
            statusCodes.insert(Int(status))
        }
        firstPause = try reader.duration("retry.firstPause") ?? firstPause
        longestPause = try reader.duration("retry.longestPause") ?? longestPause
        guard firstPause >= .zero else {
            throw reader.invalid("retry.firstPause", reason: "is below zero")
        }
        guard longestPause >= firstPause else {
            throw reader.invalid("retry.longestPause", reason: "is below retry.firstPause")
        }
    }
}

extension BusinessCodeCheck {
    /// Reads, of a service or for those that name the rule, `responseChecks.codeField` and
    /// `responseChecks.goodCodes`; nil without the first one.
    init?(_ reader: SettingsReader) throws(ClientError) {
        guard let field = try reader.read("responseChecks.codeField", as: String.self) else {
            return nil
        }
        guard !field.split(separator: ".", omittingEmptySubsequences: false).contains("") else {
            throw reader.invalid(
                "responseChecks.codeField",
                reason: "is not the name of a member, or names joined by points"
            )
        }
        let codes = try reader.read("responseChecks.goodCodes", as: [JSONValue].self) ?? []
        guard !codes.isEmpty else {
            throw reader.invalid(
                "responseChecks.goodCodes",
                reason: "is missing or empty, but responseChecks.codeField is set")
        }
        self.init(field: field, goodCodes: codes)
    }
}
