import ArgumentParser
import Logging
import SignetClient
import SignetCrypto
import SignetPinning
import SignetSigning
internal import SignetSystem
import SignetTransport

/// Whom to trust, where hosts are, and how long to wait.
struct NetworkOptions: ParsableArguments {
    @Option(name: .customLong("ca-file"), help: "Trust the CAs of this PEM file, and no others.")
    var caFile: String?

    @Option(
        name: .customLong("connect-to"), parsing: .unconditionalSingleValue,
        help: "HOST:PORT:ADDRESS:PORT: connect there for this host, as curl's option does.")
    var connectTo: [String] = []

    @OptionGroup var proxyOptions: ProxyOptions

    @Option(name: .customLong("timeout"), help: "Seconds until the call is given up (30).")
    var timeoutSeconds: Double = 30

    mutating func validate() throws {
        guard timeoutSeconds > 0, timeoutSeconds <= 86400 else {
            throw ValidationError("--timeout is a number of seconds above 0 and up to 86400")
        }
    }

    /// The time limit.
    var timeout: Duration { .milliseconds(Int64(timeoutSeconds * 1000)) }

    /// The proxies: of the options, else of the environment.
    func proxies() throws -> ProxyRules { try proxyOptions.rules() }

    /// The proxy for a host that is greeted and not asked.
    func proxy(for authority: Authority) throws -> Proxy? {
        let origin = WebOrigin(
            isSecure: true, host: authority.host, port: authority.port(scheme: "https"))
        return try proxies().proxy(for: origin)
    }

    /// Other addresses for hosts.
    func addresses() throws -> [EngineRequest.ConnectTo] {
        try connectTo.map { try EngineRequest.ConnectTo(parsing: $0) }
    }
}

/// Prints on standard error what a policy in report mode let pass.
struct PinWarnings: PinReportSink {
    var name: String { "standard error" }

    func receive(_ report: PinReport) async throws(PinError) {
        guard !report.isEnforced else { return }
        let seen = report.chain.isEmpty ? "no verified chain" : pinsText(report.chain)
        let wanted = report.wanted.map(\.text).joined(separator: ", ")
        let rule = report.rule.map { " (rule \($0.pattern), mode report)" } ?? ""
        Terminal(json: false).note(
            "warning: \(report.kind.name) at \(report.host.uriText):\(report.port)\(rule), the call went "
                + "on: seen \(seen); wanted \(wanted)")
    }
}

extension PinPolicy {
    /// Reads a policy; an error names the file.
    init(file: String) throws {
        let bytes = try InputFile.read(file, limit: 16 << 20)
        do {
            try self.init(parsing: bytes, filesIn: InputFile.folder(of: file))
        } catch {
            throw PinError(code: error.code, message: "\(file): \(error.message)")
        }
    }
}

/// Which servers' keys are wanted, and how a request is signed before it is sent.
struct CallOptions: ParsableArguments {
    @Option(name: .customLong("policy"), help: "The pin policy, a JSON file.")
    var policyFile: String?

    @Option(
        help: ArgumentHelp(
            "How it is signed: a name of `signet schemes list`, or a scheme's document.",
            valueName: "name|file"))
    var scheme: String?

    @Option(
        name: .customLong("max-redirects"),
        help: "How many redirects are followed (5); 0 hands such a reply back as it is.")
    var maximumRedirects = RedirectPolicy().maximum

    @Flag(
        name: .customLong("trace"),
        help: "Tell attempts, redirects and timings: on standard error, or as trace in --json.")
    var traces = false

    @OptionGroup var schemeOptions: SchemeOptions

    @Option(
        name: .customLong("keys"),
        help: "The key set: FILE, env:NAME, fd:N, credential:NAME or command:LINE.")
    var keys: String?

    @Option(name: .customLong("key-id"), help: "The key to sign with; needless with a single one.")
    var keyID: String?

    @Option(
        name: .customLong("covers"), parsing: .unconditional,
        help: "What is signed: a comma list of components or fields.")
    var covers: String?

    func validate() throws {
        guard (0...20).contains(maximumRedirects) else {
            throw ValidationError("--max-redirects is a number from 0 to 20")
        }
        if scheme != nil && keys == nil { throw ValidationError("--scheme needs --keys") }
        let isAlone = keys == nil && keyID == nil && covers == nil && schemeOptions.isEmpty
        if scheme == nil && !isAlone {
            throw ValidationError(
                "--keys, --key-id, --covers, --set, --tag and --insecure-scheme-ok need --scheme")
        }
    }

    /// The keys and the rule, or nil where nothing is signed.
    func signing() throws -> (keys: KeySet, rule: ServiceConfiguration.Signing)? {
        guard let scheme, let keys else { return nil }
        let set = try KeySource(keys).load()
        let id = try keyID ?? set.onlySigningKey().id
        let covered = try covers.map { try ComponentIdentifier.list(parsing: $0).map(\.listed) }
        return (set, try schemeOptions.rule(scheme: scheme, keyID: id, covered: covered))
    }
}

extension KeySet {
    /// The set's one key that signs, where no `--key-id` names one.
    func onlySigningKey() throws(ToolError) -> Key {
        let candidates = keys.filter { $0.kind != .vault && $0.isPrivate }
        guard let key = candidates.first, candidates.count == 1 else {
            throw .usage(
                "the key set has \(candidates.count) keys that sign: name one with --key-id")
        }
        return key
    }
}

/// Runs one piece of work with a network system for one URL, and stops the system whatever happens.
func withNetworkSystem<Result>(
    for url: String, _ payloadProtocol: ServiceConfiguration.PayloadProtocol,
    _ network: NetworkOptions, _ call: CallOptions,
    configure: (inout ServiceConfiguration) -> Void = { _ in },
    _ work: (NetworkSystem, Service) async throws -> Result
) async throws -> Result {
    let service: Service = "call"
    let signer = try call.signing()
    var configuration = ServiceConfiguration(
        baseURL: url, payloadProtocol: payloadProtocol, signing: signer?.rule,
        timeout: network.timeout, attempts: 1)
    configuration.redirects.maximum = call.maximumRedirects
    configure(&configuration)
    var options = NetworkSystem.Options()
    // That it has started, and what its policy lacks, is news for a program's log, not for who waits for
    // an answer; of policies `pins lint` tells.
    options.logger.logLevel = .error
    options.caFile = network.caFile
    options.connectTo = try network.addresses()
    // Of a refusal the command's own error says the same.
    options.pinReports.logs = false
    options.pinReports.sinks = [PinWarnings()]
    options.proxies = try network.proxies()
    let system = try await NetworkSystem.start(
        services: [service: configuration], keys: signer?.keys,
        policy: try call.policyFile.map { try PinPolicy(file: $0) }
            ?? PinPolicy(rules: [], unlisted: .allow),
        options: options)
    do {
        let result = try await work(system, service)
        await system.shutdown()
        return result
    } catch {
        await system.shutdown()
        throw error
    }
}
