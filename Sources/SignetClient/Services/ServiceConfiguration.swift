public import HTTPTypes
import SignetCrypto
public import SignetJSON
public import SignetPinning
public import SignetRPC
public import SignetTransport
import SignetVault

/// The settings of one service.
///
/// In a configuration these are the keys `services.NAME.baseURL` and so on; <doc:ConfigurationKeys>
/// has all of them. Only `baseURL` and `protocol` are required.
public struct ServiceConfiguration: Sendable {
    /// The protocol that makes requests of calls and reads responses.
    public enum PayloadProtocol: String, Sendable, Hashable, CaseIterable {
        /// JSON-RPC 1.0 over POST; in a configuration `jsonrpc-1.0`.
        case jsonRPC1 = "jsonrpc-1.0"
        /// JSON-RPC 2.0 over POST; in a configuration `jsonrpc-2.0`.
        case jsonRPC2 = "jsonrpc-2.0"
        /// REST with JSON bodies; in a configuration `rest`.
        case rest
    }

    /// The URL of the service (url or string `services.NAME.baseURL`), such as
    /// `https://api.example.com/rpc`.
    ///
    /// The settings of the host (URL, pins, CAs, signing, content delivery) have a second place for
    /// each of the modes staging and development: ``staging`` and ``development``, or keys such as
    /// `services.NAME.staging.baseURL`; see ``RunMode``.
    public var baseURL: String
    /// The protocol of the service (string `services.NAME.protocol`).
    public var payloadProtocol: PayloadProtocol
    /// An adapter that makes requests and reads responses in place of the adapter of
    /// `payloadProtocol`. In a configuration, `services.NAME.protocol` names one of
    /// `NetworkSystem.Options.adapters`.
    public var adapter: (any PayloadAdapter)?
    /// The signature of requests; nil for none.
    public var signing: Signing?
    /// The encryption of bodies; nil for none.
    public var sealing: Sealing?
    /// Pins of the service's host (array of strings `services.NAME.pins`). A policy that is given
    /// in addition must enforce them.
    public var pins: [Pin]
    /// CAs that are trusted for the service's host alone (string `services.NAME.caFile`, a PEM
    /// file, and string `services.NAME.caMode`, `replace` or `add`; of its content delivery
    /// `cdnCAFile` and `cdnCAMode`).
    public var authorities: PinAuthorities?
    /// IP addresses of the service's host, with a port if it isn't that of ``baseURL`` (array of
    /// strings `services.NAME.addresses`). Connections go to the fastest of them, instead of one
    /// that the host's name resolves to. Host, SNI, pins and signature stay those of the URL, which
    /// must be an https one. They have no effect through a proxy.
    public var addresses: [ServiceAddress] = []
    /// The certificate for the service's host if it asks for one (strings
    /// `services.NAME.clientCertificate` and `services.NAME.clientKey`, the second a secret, both
    /// in PEM). Content delivery never gets it.
    public var clientCertificate: ClientCertificate?
    /// Fields that every request carries (object of strings `services.NAME.commonFields`).
    public var commonFields: HTTPFields
    /// Parameters by name that every call carries; a call's own of the same name wins (object
    /// `services.NAME.commonParameters`).
    public var commonParameters: JSONObject
    /// The time for one attempt, from the first name look-up to the last byte of the response
    /// (duration `services.NAME.timeout`). Nil is the system's
    /// (`NetworkSystem.Options.callOptions`), or else 30 seconds.
    public var timeout: Duration?
    /// The maximum number of a call's attempts (integer `services.NAME.attempts`, 1...10).
    /// `RetryStrategy` says which calls are sent again. Nil is the system's, or else 3.
    public var attempts: Int?
    /// The maximum number of calls to the service that run at once; further ones wait (integer
    /// `services.NAME.maximumCalls`). Defaults to no limit.
    public var maximumCalls: Int?
    /// Which redirects are followed (integer `services.NAME.redirects.maximum`, 0...20; booleans
    /// `.acrossOrigins` and `.bodyAcrossOrigins`). Nil is the system's, or else `RedirectPolicy()`.
    public var redirects: RedirectPolicy?
    /// Further named sets of fields and parameters (objects `services.NAME.sets.SET.fields` and
    /// `.parameters`). `commonFields` and `commonParameters` are the set `common`.
    public var sets: [String: RequestDefaults] = [:]
    /// The sets of calls whose options name none (array of strings `services.NAME.defaultSets`).
    /// Defaults to `common` alone.
    public var defaultSets = [RequestDefaults.common]
    /// Further options of all calls of the service, which win over `timeout`, `attempts` and
    /// `redirects`. In a configuration: strings `services.NAME.json.dates` and `.keys`;
    /// `services.NAME.responseChecks.…`; `services.NAME.cache.…`; `services.NAME.merging.…`;
    /// boolean `services.NAME.waitsForConnectivity`.
    public var options = RequestOptions()
    /// Options of calls in a scenario, which win over those of the scenario in all services
    /// (`services.NAME.scenarios.SCENARIO.…`).
    public var scenarios: [Scenario: RequestOptions] = [:]
    /// Options of the calls of one method, a procedure's name or an HTTP method
    /// (`services.NAME.methods.METHOD.…`). They win over those of scenarios.
    public var methods: [RPCMethod: RequestOptions] = [:]
    /// The store of the service's cookies; nil if cookies are neither kept nor sent (boolean
    /// `services.NAME.cookies`).
    public var cookies: CookieStore?
    /// The service's host in staging; nil for the service's own (`services.NAME.staging.…`).
    ///
    /// A service of a configuration has it only in the configuration.
    public var staging: Environment?
    /// The service's host in development; nil for the service's own
    /// (`services.NAME.development.…`).
    public var development: Environment?
    /// The mode whose settings contain the service's host; nil if the service's own settings do.
    var environment: RunMode?
    /// Whether the pins of another service of the same host are enough.
    var mayShareItsHostsPins = false

    /// Describes a service by values.
    public init(
        baseURL: String, payloadProtocol: PayloadProtocol, signing: Signing? = nil,
        pins: [Pin] = [], commonFields: HTTPFields = [:],
        commonParameters: JSONObject = [:], timeout: Duration? = nil, attempts: Int? = nil
    ) {
        self.baseURL = baseURL
        self.payloadProtocol = payloadProtocol
        self.signing = signing
        self.pins = pins
        self.commonFields = commonFields
        self.commonParameters = commonParameters
        self.timeout = timeout
        self.attempts = attempts
    }
}

extension ServiceConfiguration {
    /// The options of the service's level.
    var levelOptions: RequestOptions {
        var level = RequestOptions()
        (level.timeout, level.attempts, level.redirects) = (timeout, attempts, redirects)
        level.clientCertificate = clientCertificate
        return level.merging(options)
    }

    /// Reads every service of a configuration.
    ///
    /// A service exists if `services.NAME.baseURL` has a value; a name has no dot. With
    /// `services.NAME.cdnURL` there is also its `ServiceName.cdn`.
    ///
    /// - Parameters:
    ///   - configuration: The configuration with the keys.
    ///   - mode: The mode that holds, whose hosts take the place of the services' own. `production`
    ///     has no other hosts.
    ///   - only: The one service that is wanted; nil is all.
    ///   - adapters: The program's adapters, by the names that a service's protocol may have; nil
    ///     accepts every name.
    ///   - checks: The program's response checks, by the names that a list of rules may have; nil
    ///     accepts every name.
    /// - Throws: `invalid-service` that names the key that is missing, unknown or of the wrong
    ///   form.
    static func all(
        in configuration: GlobalConfiguration, mode: RunMode, only wanted: ServiceName? = nil,
        adapters: [String: any PayloadAdapter]?, checks: [String: any ResponseCheck]?
    ) throws(ClientError) -> [ServiceName: ServiceConfiguration] {
        var services: [ServiceName: ServiceConfiguration] = [:]
        for key in configuration.schema.keys {
            let parts = key.split(separator: ".", omittingEmptySubsequences: false)
            guard parts.count == 3, parts[0] == "services", parts[2] == "baseURL",
                configuration.value(named: key) != nil
            else { continue }
            let service = ServiceName(String(parts[1]))
            func isWanted(_ service: ServiceName) -> Bool { wanted == nil || wanted == service }
            guard isWanted(service) || isWanted(service.cdn) else { continue }
            let reader = SettingsReader(
                configuration, prefix: "services.\(service).", code: .invalidService)
            let host = try reader.ofHost(in: mode)
            var settings = try ServiceConfiguration(reader, host: host, adapters: adapters)
            settings.environment = host.prefix == reader.prefix ? nil : mode
            try settings.readCalls(reader, checks: NamedChecks(reader, own: checks))
            if isWanted(service) { services[service] = settings }
            if isWanted(service.cdn) { services[service.cdn] = try settings.cdn(host) }
        }
        return services
    }

    /// Reads a service's keys.
    ///
    /// - Parameter host: The location of its host's keys, in the environment that holds.
    private init(
        _ reader: SettingsReader, host: SettingsReader, adapters: [String: any PayloadAdapter]?
    ) throws(ClientError) {
        guard let baseURL = try Self.url("baseURL", from: host) else {
            throw host.invalid("baseURL", reason: "has no value")
        }
        let names = PayloadProtocol.allCases.map(\.rawValue) + (adapters?.keys.sorted() ?? [])
        guard let protocolName = try reader.read("protocol", as: String.self) else {
            throw reader.invalid(
                "protocol", reason: "has no value, expected one of \(names.joined(separator: ", "))"
            )
        }
        let given = adapters?.first { sameBytes($0.key, protocolName) }?.value
        let known = PayloadProtocol(rawValue: protocolName)
        guard known != nil || given != nil || adapters == nil else {
            throw reader.invalid(
                "protocol", reason: "is not one of \(names.joined(separator: ", "))")
        }
        // A service that isn't REST keeps the method when it is redirected.
        let like: PayloadProtocol = given is any RESTBoxing ? .rest : .jsonRPC2
        self.init(baseURL: baseURL, payloadProtocol: known ?? like)
        if known == nil { adapter = given }
        self.signing = try Signing(host)
        self.sealing = try Sealing(host)
        self.clientCertificate = try Self.clientCertificate(host)
        self.addresses = try Self.addresses(host)
        self.pins = try Self.pins("pins", from: host) ?? []
        self.authorities = try Self.authorities(host, fileKey: "caFile", modeKey: "caMode")
        self.commonParameters = try reader.read("commonParameters", as: JSONObject.self) ?? [:]
        self.commonFields = try reader.fields("commonFields") ?? [:]
        if let timeout = try reader.positiveDuration("timeout") { self.timeout = timeout }
        if let attempts = try reader.number("attempts", in: 1...10) { self.attempts = attempts }
        self.redirects = try Self.redirects(reader)
        self.options.engine = try EngineChoice(reader)
    }

    /// The CAs of the service's host. A fetched value can't name a file, because files belong to
    /// the machine.
    private static func authorities(
        _ reader: SettingsReader, fileKey: String, modeKey: String
    ) throws(ClientError) -> PinAuthorities? {
        let modeName = try reader.read(modeKey, as: String.self)
        guard let file = try reader.read(fileKey, as: String.self) else {
            guard modeName == nil else {
                throw reader.invalid(modeKey, reason: "has no place without \(fileKey)")
            }
            return nil
        }
        for name in [fileKey, modeKey] where reader.isFetched(name) {
            throw reader.invalid(
                name, reason: "can't be fetched, because it chooses the CAs")
        }
        guard let mode = PinAuthorities.Mode(rawValue: modeName ?? "replace") else {
            throw reader.invalid(modeKey, reason: "is neither add nor replace")
        }
        do throws(PinError) {
            return try PinAuthorities(file: file, mode: mode)
        } catch {
            // Its message has the path, which is a value of the configuration.
            throw reader.invalid(
                fileKey,
                reason: error.code == .unreadableFile
                    ? "names a file that cannot be read"
                    : "names a file without certificates, with an invalid one, or with too many")
        }
    }

    private static func clientCertificate(
        _ reader: SettingsReader
    ) throws(ClientError) -> ClientCertificate? {
        let (name, keyName) = ("clientCertificate", "clientKey")
        for name in [name, keyName] where reader.isFetched(name) {
            throw reader.invalid(
                name, reason: "can't be fetched, because it says who the program is")
        }
        let key = try reader.read(keyName, as: String.self)
        guard let text = try reader.read(name, as: String.self) else {
            guard key == nil else {
                throw reader.invalid(keyName, reason: "has no place without \(name)")
            }
            return nil
        }
        guard let key else {
            throw reader.invalid(keyName, reason: "has no value, but \(name) has one")
        }
        do throws(TransportError) {
            return try ClientCertificate(pem: Array(text.utf8), key: Array(key.utf8))
        } catch {
            throw reader.invalid(name, reason: "can't be used: \(error.message)")
        }
    }

    /// - Returns: Nil if none of the keys has a value.
    private static func redirects(
        _ reader: SettingsReader
    ) throws(ClientError) -> RedirectPolicy? {
        let maximum = try reader.number("redirects.maximum", in: 0...20)
        let crosses = try reader.read("redirects.acrossOrigins", as: Bool.self)
        let sendsBody = try reader.read("redirects.bodyAcrossOrigins", as: Bool.self)
        guard maximum != nil || crosses != nil || sendsBody != nil else { return nil }
        var policy = RedirectPolicy()
        policy.maximum = maximum ?? policy.maximum
        policy.crossesOrigins = crosses ?? policy.crossesOrigins
        if sendsBody == true {
            guard !reader.isFetched("redirects.bodyAcrossOrigins") else {
                throw reader.invalid(
                    "redirects.bodyAcrossOrigins", reason: "can't be true in a fetched value")
            }
            policy.dangerous.sendBodyAcrossOrigins()
        }
        return policy
    }

    /// The service's content delivery: plain, unsigned, on a host that is pinned like any other.
    private func cdn(_ reader: SettingsReader) throws(ClientError) -> ServiceConfiguration? {
        guard let url = try Self.url("cdnURL", from: reader) else { return nil }
        var cdn = ServiceConfiguration(
            baseURL: url, payloadProtocol: .rest,
            pins: try Self.pins("cdnPins", from: reader) ?? [],
            timeout: timeout, attempts: attempts)
        cdn.authorities = try Self.authorities(reader, fileKey: "cdnCAFile", modeKey: "cdnCAMode")
        cdn.redirects = redirects
        cdn.environment = environment
        cdn.options.engine = options.engine
        cdn.mayShareItsHostsPins = true
        return cdn
    }

    private static func url(
        _ name: String, from reader: SettingsReader
    ) throws(ClientError) -> String? {
        guard let text = try reader.read(name, as: String.self) else { return nil }
        do {
            _ = try WebURL(text)
        } catch {
            throw reader.invalid(name, reason: "cannot be used: \(error.message)")
        }
        return text
    }

    private static func pins(
        _ name: String, from reader: SettingsReader
    ) throws(ClientError) -> [Pin]? {
        guard let texts = try reader.read(name, as: [String].self) else { return nil }
        var pins: [Pin] = []
        for text in texts {
            do {
                pins.append(try Pin(parsing: text))
            } catch {
                throw reader.invalid(name, reason: error.message)
            }
        }
        return pins
    }
}
