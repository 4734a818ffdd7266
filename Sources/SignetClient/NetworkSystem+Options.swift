internal import SignetPinning
public import SignetTransport

extension NetworkSystem {
    /// What a program may choose about a network system.
    public struct Options: Sendable {
        /// A PEM file of the CAs that are trusted in place of the system's.
        public var caFile: String?
        /// Other addresses for hosts, as curl's `--connect-to`; names and pins stay those of the URL.
        public var connectTo: [EngineRequest.ConnectTo] = []
        /// The largest body of a reply, in bytes.
        public var maximumReplySize = 64 << 20
        /// The engine that sends; nil for libcurl.
        public var engine: (any HTTPEngine)?
        /// Whether a service without pins is spoken to.
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

            /// Lets services without pins be spoken to; CA, dates and host name are still checked.
            public mutating func allowUnpinnedServices() { base.allowsUnpinnedServices = true }
        }
    }
}

extension NetworkSystem.Options {
    /// The pin policy that the services of a configuration make together; no other host is
    /// spoken to.
    func policy(
        of services: [Service: ServiceConfiguration]
    ) throws(ClientError) -> PinPolicy {
        var pins: [HostName: [Pin]] = [:]
        var unpinned: Set<HostName> = []
        for (service, configuration) in services {
            let host = try RequestURL(configuration.baseURL).host()
            if configuration.pins.isEmpty {
                guard allowsUnpinnedServices else {
                    throw ClientError(
                        .processing, .invalidService,
                        "services.\(service).pins has no value, and a service without pins is "
                            + "spoken to only with dangerous.allowUnpinnedServices()")
                }
                unpinned.insert(host)
            } else {
                pins[host, default: []] += configuration.pins
            }
        }
        do throws(PinError) {
            var rules: [PinRule] = []
            for (host, pins) in pins { rules.append(try PinRule(host: host.text, pins: pins)) }
            for host in unpinned.subtracting(pins.keys) {
                rules.append(try PinRule(excluding: host.text))
            }
            return try PinPolicy(rules: rules)
        } catch {
            throw ClientError(.processing, .invalidService, error.message)
        }
    }
}
