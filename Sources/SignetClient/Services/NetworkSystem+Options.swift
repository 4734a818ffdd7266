public import Logging
import SignetBase
public import SignetCache
import SignetCrypto
import SignetPinning
public import SignetRPC
public import SignetSigning
package import SignetSystem
public import SignetTransport

extension NetworkSystem {
    /// The options of a network system.
    public struct Options: Sendable {
        /// A PEM file of the CAs that are trusted in place of the system's, for libcurl. If
        /// ``engine`` is set, this must be nil: give the CAs to that engine.
        public var caFile: String?
        /// Other addresses for hosts, as curl's `--connect-to`; names and pins stay those of the
        /// URL.
        public var connectTo: [EngineRequest.ConnectTo] = []
        /// How addresses of services are measured and fetched.
        public var addresses = AddressOptions()
        /// The proxies of all calls. If nil, the system uses the configuration's proxies
        /// (`proxy.…`), or no proxy if the configuration has none. The system reads no environment
        /// variables; for those, set `ProxyRules(environment:)`.
        public var proxies: ProxyRules?
        /// The rules for the URLs of all requests. If nil, the system uses the configuration's
        /// rules (`urlRules.…`).
        public var urlRules: URLRules?
        /// The `User-Agent` of all requests; a field of this name of a service, an endpoint or a
        /// call wins. If nil, the system uses the configuration's (`app.userAgent`), or sends none.
        public var userAgent: String?
        /// The options of calls in a scenario. They win over those of the scenario in the
        /// configuration (`timeouts.SCENARIO`, `attempts.SCENARIO`), and
        /// ``ServiceConfiguration/scenarios`` win over them.
        public var scenarios: [Scenario: RequestOptions] = [:]
        /// The mode to run in. If nil, it is the configuration's (`app.runMode`), or production. A
        /// release build is always in production (``RunMode/isSwitchable``), and its
        /// ``StartReport`` says that this was ignored.
        public var runMode: RunMode?
        /// The failures to simulate, but not in production. If nil, the system uses the
        /// configuration's (`simulation.…`).
        public var simulation: FailureSimulation?
        /// The program's own protocols, by the names that `services.NAME.protocol` may have in
        /// addition to the built-in ones, which can't be replaced.
        public var adapters: [String: any PayloadAdapter] = [:]
        /// The program's own response checks, by the names that
        /// `services.NAME.responseChecks.rules` may have in addition to the built-in ones, which
        /// can't be replaced.
        public var responseChecks: [String: any ResponseCheck] = [:]
        /// The largest body of a response, in bytes.
        public var maximumResponseSize = 64 << 20
        /// The options of all calls; those of services, endpoints and calls win.
        ///
        /// For pin policies and pin reports, which the system fetches and sends for itself, they
        /// hold without fields, credentials, sets, scenario, base URLs, compression, progress,
        /// queue and owner.
        public var callOptions = RequestOptions()
        /// The limits for decoding compressed responses. If nil, the system asks for no content
        /// coding and returns bodies as they were received.
        ///
        /// If set, calls send `Accept-Encoding`, which is added before they are signed; `exchange`
        /// sends only the fields that it is given. The received bytes are checked against the
        /// response's Content-Digest before they are decoded. A decoded response has no
        /// Content-Encoding and Content-Length fields.
        public var decoding: ContentDecoding?
        /// The store of responses that calls with a ``RequestOptions/cache`` keep, such as a
        /// `MemoryCacheStore` or the `DiskCacheStore` of SignetStorage; nil for no cache.
        public var cacheStore: (any CacheStore)?
        /// The choices that HTTP leaves to a cache, such as whether a stale response takes the
        /// place of a failure (`staleIfError`), for calls with ``CachePolicy/http``.
        public var cacheRules = PrivateCache()
        /// The keys with which ``NetworkSystem/monitor`` seals the configuration; nil for no
        /// monitoring.
        public var sealing: SealingCredentials?
        /// Keys that are held elsewhere, such as in a KMS or an HSM. A service whose signing key
        /// (`services.NAME.signing.key`) has the id of one signs with it, by the scheme `rfc9421`.
        /// Each attempt asks for a signature of its own; if the signer fails, nothing is sent.
        public var externalSigners: [any ExternalSigner] = []
        /// The stubs of the system, also ``NetworkSystem/stubs``. A copy of the options has the
        /// same ones.
        public var stubs = CallStubs()
        /// The observers of all calls from the system's start to its end.
        public var observers: [any CallObserver] = []
        /// The logger of the system. The system never logs a value, key or body.
        public var logger = Logger(label: "signet.client")
        /// The destinations of reports about pins that did not match. Defaults to the log.
        public var pinReports = PinReportOptions()
        /// The source of signed pin policies; nil for none.
        public var pinUpdates: PinUpdatePlan?
        /// The times, pauses and random numbers.
        package var clock = SystemClock()
        /// The source of ``NetworkSystem/connectivity``. Tests replace it.
        package var networkWatcher = NetworkWatcher.shared
        /// The engine of calls that choose no other; nil for libcurl.
        public var engine: (any HTTPEngine)? {
            get { engines[.standard] }
            set { engines[.standard] = newValue }
        }
        /// The engines of the system by name, for `RequestOptions.engine`; `.standard` is `engine`.
        /// The system shuts all of them down when it is shut down.
        public var engines: [EngineName: any HTTPEngine] = [:]
        /// The settings of libcurl. If ``engine`` is set, this must be nil. If nil, the system uses
        /// the configuration's settings (`engine.…`). `caFile` wins over theirs.
        public var engineSettings: EngineSettings?
        /// Whether the work of calls runs on the thread of the standard engine, if it has one.
        ///
        /// This saves a change of threads for each call, and with it processor time. But JSON,
        /// signatures, interceptors and credential sources of all calls then share this one thread
        /// with the network: what takes long, or blocks, holds up every call.
        public var runsOnEngineThread = false
        /// For tests: `false` makes a debug build behave like a release build. `true` changes
        /// nothing.
        package var mayBeSwitched = true
        /// Whether services without pins may be called.
        fileprivate var allowsUnpinnedServices = false

        /// The defaults: the system's CAs, every service pinned.
        public init() {}

        /// The weak choices, each by its name.
        public var dangerous: Dangerous {
            get { Dangerous(base: self) }
            set { self = newValue.base }
        }

        /// The door to the weak choices.
        public struct Dangerous: Sendable {
            fileprivate var base: Options

            /// Allows calls to services without pins. CA, dates and host name are still checked.
            public mutating func allowUnpinnedServices() { base.allowsUnpinnedServices = true }
        }
    }
}

extension NetworkSystem.Options {
    var isModeSwitchable: Bool { RunMode.isSwitchable && mayBeSwitched }

    /// The pin policy that results from all services of a configuration; no other host is called.
    func policy(
        of services: [ServiceName: ServiceConfiguration]
    ) throws(ClientError) -> PinPolicy {
        var pins: [HostName: [Pin]] = [:]
        var unpinned: Set<HostName> = []
        let authorities = try Self.authorities(of: services)
        for configuration in services.values where !configuration.pins.isEmpty {
            let host = try WebURL(configuration.baseURL).origin.host
            for pin in configuration.pins where pins[host]?.contains(pin) != true {
                pins[host, default: []].append(pin)
            }
        }
        for (service, configuration) in services {
            let host = try WebURL(configuration.baseURL).origin.host
            if configuration.pins.isEmpty {
                if configuration.mayShareItsHostsPins, pins[host] != nil { continue }
                guard allowsUnpinnedServices else {
                    throw ClientError(
                        .invalidService,
                        "services.\(Self.key("pins", forCDN: "cdnPins", of: service, with: configuration)) has no value, and a service without pins is "
                            + "spoken to only with dangerous.allowUnpinnedServices()")
                }
                unpinned.insert(host)
            }
        }
        do throws(PinError) {
            var rules: [PinRule] = []
            for (host, pins) in pins {
                rules.append(
                    try PinRule(host: host.text, pins: pins, authorities: authorities[host]))
            }
            for host in unpinned.subtracting(pins.keys) {
                rules.append(
                    try PinRule(excluding: host.text, authorities: authorities[host]))
            }
            return try PinPolicy(rules: rules)
        } catch {
            throw ClientError(.invalidService, error.message)
        }
    }

    /// Checks that a policy which is given in addition to services keeps every promise of the
    /// services' own pins and CAs: it may want fewer of their keys, but never accept another one.
    ///
    /// - Throws: `invalid-service` that names the host.
    static func requireAgreement(
        of policy: PinPolicy, with services: [ServiceName: ServiceConfiguration]
    ) throws(ClientError) {
        var pins: [HostName: Set<Pin>] = [:]
        for configuration in services.values where !configuration.pins.isEmpty {
            let host = try WebURL(configuration.baseURL).origin.host
            pins[host, default: []].formUnion(configuration.pins)
        }
        for (host, own) in pins {
            let rule = policy.rule(for: host)
            guard let rule, !rule.isExclusion, rule.mode == .enforce, own.isSuperset(of: rule.pins),
                rule.expires == nil || rule.afterExpiry == .refuse
            else { throw conflict(over: "pins", for: host) }
        }
        for (host, own) in try authorities(of: services) {
            let other = policy.rule(for: host)?.authorities
            guard other?.mode == own.mode, other?.digest == own.digest else {
                throw conflict(over: "CAs", for: host)
            }
        }
    }

    private static func conflict(over what: String, for host: HostName) -> ClientError {
        ClientError(
            .invalidService,
            "a service has \(what) for \(host.text) that the given policy does not enforce: give them in "
                + "the policy alone, or in the services alone with policy: nil")
    }

    /// The CAs of each host; those of services that share one are the same.
    private static func authorities(
        of services: [ServiceName: ServiceConfiguration]
    ) throws(ClientError) -> [HostName: PinAuthorities] {
        var authorities: [HostName: PinAuthorities] = [:]
        for (service, configuration) in services {
            guard let own = configuration.authorities else { continue }
            let host = try WebURL(configuration.baseURL).origin.host
            if let other = authorities[host], other.mode != own.mode || other.digest != own.digest {
                throw ClientError(
                    .invalidService,
                    "services.\(key("caFile", forCDN: "cdnCAFile", of: service, with: configuration)) and another service of"
                        + " \(host.text) trust different CAs"
                )
            }
            authorities[host] = own
        }
        return authorities
    }

    /// Returns the key of a setting of a service or of its content delivery, without `services.`.
    private static func key(
        _ own: String, forCDN ofCDN: String, of service: ServiceName,
        with configuration: ServiceConfiguration
    ) -> String {
        let parts = service.name.split(separator: ".", omittingEmptySubsequences: false)
        let host = configuration.environment.map { "\($0.rawValue)." } ?? ""
        return parts.count == 2 && parts[1] == "cdn"
            ? "\(parts[0]).\(host)\(ofCDN)" : "\(service).\(host)\(own)"
    }
}
