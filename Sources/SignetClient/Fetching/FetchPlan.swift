public import SignetRPC
public import SignetVault

/// The plan for fetching values of a configuration at the start, and for a start without them.
///
/// The request goes to a service that defaults and launch values alone describe. It is signed and
/// pinned like any call. So fetched values never change where the next ones come from, how that
/// request is signed or which pins hold for it, and a wrong value, once fetched, can be corrected
/// by fetching again.
public struct FetchPlan: Sendable {
    /// The action if the fetch fails and there are no last good values.
    public enum Fallback: Sendable, Hashable {
        /// The system does not start.
        case refuse
        /// It starts with defaults and launch values.
        case proceed
    }

    /// The place of the last good fetched values: a sealed dump that contains nothing else.
    public struct StoredValues: Sendable {
        /// The dump's file; it need not exist yet.
        public var file: DumpFile
        /// The keys that seal the dump, and the app and versions that it is bound to.
        public var sealing: SealingCredentials
        /// Older versions of the app whose values may be used too, after an upgrade.
        public var acceptedAppVersions: [String]

        /// Creates a place from a file and the credentials that seal it.
        public init(file: DumpFile, sealing: SealingCredentials, acceptedAppVersions: [String] = [])
        {
            self.file = file
            self.sealing = sealing
            self.acceptedAppVersions = acceptedAppVersions
        }
    }

    /// The service that is asked.
    public var service: ServiceName
    /// The remote procedure, or with REST the HTTP method. The result is the flat JSON object
    /// KEY:VALUE of the fetched values.
    public var method: RPCMethod
    /// A suffix for the base URL's path, beginning with `/`; nil for none.
    public var path: String?
    /// Names of public keys whose values are sent as parameters of these names; one that has no
    /// value is left out.
    public var parameters: [String]
    /// The time for all attempts together.
    public var timeout: Duration = .seconds(10)
    /// The maximum size of the response in bytes.
    public var maximumResponseSize = 1 << 20
    /// The place of the last good values; nil if they are not kept.
    public var lastGood: StoredValues?
    /// The action if there are no values at all.
    public var ifUnavailable: Fallback

    /// Plans a fetch.
    public init(
        service: ServiceName, method: RPCMethod, path: String? = nil, parameters: [String] = [],
        lastGood: StoredValues? = nil, ifUnavailable: Fallback = .refuse
    ) {
        self.service = service
        self.method = method
        self.path = path
        self.parameters = parameters
        self.lastGood = lastGood
        self.ifUnavailable = ifUnavailable
    }
}
