#if Tool
import ArgumentParser
import Logging
import SignetBase
import SignetClient
import SignetCrypto
import SignetCurl
import SignetPinning
import SignetSigning
import SignetSystem
import SignetTransport

/// The trusted CAs, the addresses of hosts, and the time limit.
struct NetworkOptions: ParsableArguments {
    @Option(
        name: .customLong("ca-file"), help: "Trust the CAs of this PEM file, and no others.",
        completion: .file())
    var caFile: String?

    @Option(
        name: .customLong("connect-to"), parsing: .unconditionalSingleValue,
        help: ArgumentHelp(
            "Connect to another address for a host, as curl's option does.",
            valueName: "host:port:address:port"))
    var connectTo: [String] = []

    @OptionGroup var proxyOptions: ProxyOptions

    @Option(
        name: .customLong("timeout"),
        help: ArgumentHelp("The time limit of the command.", valueName: "seconds"))
    var timeoutSeconds: Double = 30

    mutating func validate() throws {
        guard timeoutSeconds > 0, timeoutSeconds <= 86400 else {
            throw ValidationError("--timeout is a number of seconds above 0 and up to 86400")
        }
    }

    /// The time limit.
    var timeout: Duration { .milliseconds(Int64(timeoutSeconds * 1000)) }

    /// The proxies of the options, or else of the environment.
    func proxies() throws -> ProxyRules { try proxyOptions.rules() }

    /// The proxy for a host that gets a TLS connection and no request.
    func proxy(for authority: Authority) throws -> Proxy? {
        try proxies().proxy(for: WebOrigin(https: authority))
    }

    /// The file of CAs: the option's, else the project's.
    ///
    /// - Throws: Wrong usage if a project that was found without trust names one.
    func caFile(of project: Project) throws(ToolError) -> String? {
        if let caFile { return caFile }
        try project.requireTrust(for: ["caFile"])
        return project.file.caFile
    }

    /// Other addresses for hosts.
    func addresses() throws -> [EngineRequest.ConnectTo] {
        try connectTo.map { try EngineRequest.ConnectTo(parsing: $0) }
    }
}

extension PinPolicy {
    /// Reads a policy; an error names the file.
    init(file: String) throws {
        let bytes = try InputFile.read(file, limit: 16 << 20)
        do {
            try self.init(parsing: bytes, filesIn: InputFile.folder(of: file))
        } catch {
            throw PinError(error.code, "\(file): \(error.message)")
        }
    }
}

/// The pins of servers, and the signing of requests.
struct CallSecurityOptions: ParsableArguments {
    @Option(name: .customLong("policy"), help: "The pin policy, a JSON file.", completion: .file())
    var policyFile: String?

    @Option(
        help: ArgumentHelp(
            "The signing scheme: a name of `signet schemes list`, or a scheme's document.",
            valueName: "name|file"), completion: .list(SigningScheme.names))
    var scheme: String?

    @Option(
        name: .customLong("max-redirects"),
        help: "How many redirects are followed; 0 returns such a response as it is.")
    var maximumRedirects = RedirectPolicy().maximum

    @Flag(
        name: [.customShort("v"), .customLong("trace")],
        help: "Print attempts, redirects and timings: on standard error, or as trace in --json.")
    var traces = false

    @Flag(
        name: .customLong("http1.1"),
        help: "Offer HTTP/1.1 alone, for a server that requires it.")
    var usesHTTP1 = false

    @OptionGroup var clientCertificate: ClientCertificateOptions

    @OptionGroup var cache: CacheOptions

    @OptionGroup var record: RecordOptions

    @OptionGroup var schemeOptions: SchemeOptions

    @Option(
        name: [.customShort("k"), .customLong("keys")],
        help: "The key set: FILE, env:NAME, fd:N, credential:NAME or command:LINE.",
        completion: .file())
    var keys: String?

    @OptionGroup var identity: IdentityOptions

    @Option(
        name: .customLong("key-id"), parsing: .unconditional,
        help: "The key to sign with; needed if the set has several.")
    var keyID: String?

    @Option(
        name: .customLong("covers"), parsing: .unconditional,
        help: "The covered components or fields, a comma list.")
    var covers: String?

    @OptionGroup var project: ProjectOptions

    func validate() throws {
        guard (0...20).contains(maximumRedirects) else {
            throw ValidationError("--max-redirects is a number from 0 to 20")
        }
    }

    private func requireComplete(
        scheme: String?, keys: String?, leftOut: String?
    ) throws(ToolError) {
        if scheme != nil && keys == nil {
            throw .usage("--scheme needs --keys\(leftOut.map { "; \($0)" } ?? "")")
        }
        let isAlone = self.keys == nil && keyID == nil && covers == nil && schemeOptions.isEmpty
        if scheme == nil && !isAlone {
            throw .usage(
                "--keys, --key-id, --covers, --set, --tag and --insecure-scheme-ok need --scheme"
                    + (leftOut.map { "; \($0)" } ?? ""))
        }
    }

    /// The pin policy, of the option or of the project; nil without one.
    func policy(of project: Project, notingOn terminal: Terminal) throws -> PinPolicy? {
        if policyFile == nil { project.note(on: terminal) }
        return try project.pinPolicy(policyFile)
    }

    /// The keys and the rule, of the options or of the project; nil if nothing is signed.
    func signing(
        by project: Project, notingOn terminal: Terminal
    ) throws -> (keys: KeySet, rule: ServiceConfiguration.Signing)? {
        let scheme = scheme ?? project.scheme
        let keys = keys ?? project.keySource
        try requireComplete(scheme: scheme, keys: keys, leftOut: project.leftOut)
        guard let scheme, let keys else { return nil }
        let set = try identity.load(keys, of: project, notingOn: terminal)
        let id = try keyID ?? set.onlySigningKey().id
        let covered = try covers.map { try ComponentIdentifier.list(parsing: $0).map(\.listed) }
        return (set, try schemeOptions.rule(scheme: scheme, keyID: id, covered: covered))
    }
}

extension KeySet {
    /// The set's only key that signs now, if no `--key-id` names one. Keys that can't be used, and
    /// revoked, expired and not yet valid ones, don't count.
    func onlySigningKey() throws(ToolError) -> CryptoKey {
        let now = UnixTime.now()
        let candidates = keys.filter { key in
            ![.vault, .aes, .unsupported].contains(key.kind) && key.isPrivate
                && (key.use == nil || key.use == "sig")
                && (try? key.requireUsable(at: now)) != nil
        }
        guard let key = candidates.first, candidates.count == 1 else {
            let ids = candidates.map { "\"\(printable($0.id))\"" }.joined(separator: ", ")
            throw .usage(
                candidates.isEmpty
                    ? "\(printable(source)): found no key that signs, expected one"
                    : "\(printable(source)): found \(candidates.count) keys that sign (\(ids)), "
                        + "expected one; choose one with --key-id ID")
        }
        return key
    }
}

/// Runs work with a network system for one URL, and stops the system even if the work fails.
///
/// - Parameters:
///   - others: The URLs of further services with the same settings.
///   - secrets: Values of the call that no recording may have.
///   - showsProgress: Whether a bar is drawn, which a command that prints meanwhile has no place
///     for.
func withNetworkSystem<Result>(
    for url: String, and others: [ServiceName: String] = [:],
    payloadProtocol: ServiceConfiguration.PayloadProtocol,
    network: NetworkOptions, call: CallSecurityOptions, output: CallOutput,
    hiding secrets: [String] = [], showsProgress: Bool = true,
    configure: (inout ServiceConfiguration) -> Void = { _ in },
    _ work: (NetworkSystem, ServiceName) async throws -> Result
) async throws -> Result {
    let service: ServiceName = "call"
    let recorder = try call.record.open(hiding: secrets)
    let project = try call.project.load()
    if call.scheme == nil { try project.requireTrust(for: ["scheme"]) }
    let caFile = try network.caFile(of: project)
    let signer = try call.signing(by: project.acting, notingOn: output.terminal)
    var configuration = ServiceConfiguration(
        baseURL: url, payloadProtocol: payloadProtocol, signing: signer?.rule,
        timeout: network.timeout, attempts: 1)
    var redirects = RedirectPolicy()
    redirects.maximum = call.maximumRedirects
    configuration.redirects = redirects
    // A server may redirect until a request has the cookie that it set.
    configuration.cookies = CookieStore()
    configuration.clientCertificate = try call.clientCertificate.load()
    configure(&configuration)
    var services = others.mapValues { url in
        var other = configuration
        other.baseURL = url
        return other
    }
    services[service] = configuration
    var options = NetworkSystem.Options()
    // Its start and the weaknesses of its policy are for a program's log. `pins lint` lists the
    // latter.
    options.logger.logLevel = .error
    options.caFile = caFile
    if call.usesHTTP1 {
        var settings = EngineSettings()
        settings.offersHTTP2 = false
        options.engineSettings = settings
    }
    options.connectTo = try network.addresses()
    // The command's own error already reports a refusal.
    options.pinReports.logs = false
    options.pinReports.sinks = [output]
    options.proxies = try network.proxies()
    let bar = showsProgress ? ProgressBar(on: output.terminal) : nil
    options.callOptions.progress = bar?.progress
    // The stages are a part of a recording.
    if recorder != nil { options.callOptions.keepsContents = true }
    try call.cache.add(to: &options)
    let system = try await NetworkSystem.start(
        services: services, keys: signer?.keys,
        policy: try call.policy(of: project, notingOn: output.terminal)
            ?? PinPolicy(rules: [], unlisted: .allow),
        options: options)
    try recorder?.start(on: system)
    do {
        let result = try await ProgressBar.showing(bar) { try await work(system, service) }
        // A response that is renewed in the background has the time of the command.
        await system.shutdown(gracePeriod: network.timeout)
        try await recorder?.finish()
        return result
    } catch {
        await system.shutdown()
        try await recorder?.finish()
        throw error
    }
}
#endif
