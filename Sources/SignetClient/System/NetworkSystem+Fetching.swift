import SignetBase
public import SignetCrypto
public import SignetVault

extension NetworkSystem {
    /// Starts a system whose configuration is merged from defaults, launch values and values
    /// fetched from a service.
    ///
    /// The request for the fetched values is built from defaults and launch values, signed and
    /// pinned. The response is parsed strictly and checked against the schema like any input. The
    /// system refuses values that it couldn't work with. If fetching fails, the system checks the
    /// last good fetched values again and uses them, and ``startReport`` gives the reason. Good
    /// values are sealed and kept for the next start.
    ///
    /// - Parameters:
    ///   - schema: The keys, their types, and the inputs that may set them.
    ///   - defaults: The values built into the program.
    ///   - launch: The values given when the program was started.
    ///   - plan: The service to ask, the place of the last good values, and the action if there are
    ///     none.
    ///   - required: The public keys that the program reads.
    ///   - keys: The keys that the services sign with.
    ///   - options: Trust, limits and the weak choices.
    ///   - now: Unix seconds for the dates of keys and dumps; nil is the clock's.
    /// - Throws: The errors of the other `start`; `invalid-plan` if defaults and launch values lack
    ///   the service, or a parameter isn't a public key; the error of the fetch if there are no
    ///   last good values and the plan says to refuse; `cancelled`; the last good values aren't
    ///   used then.
    public static func start<each Value: ConfigurationValue>(
        schema: Schema, defaults: ConfigurationInput, launch: ConfigurationInput = .none,
        fetching plan: FetchPlan,
        requiring required: repeat ConfigurationKey<each Value, PublicValue>,
        keys: KeySet? = nil, options: Options = Options(), now: Int64? = nil
    ) async throws(ClientError) -> NetworkSystem {
        let base: GlobalConfiguration
        do {
            base = try GlobalConfiguration(schema: schema, defaults: defaults, launch: launch)
        } catch {
            throw ClientError(error)
        }
        let request = try FetchRequest(plan, base: base, keys: keys, options: options)
        return try await start(request, from: base, now: now ?? UnixTime.now(), options: options) {
            configuration throws(VaultError) in
            let live = LiveConfiguration(configuration)
            try live.require(repeat each required)
            return live.current
        }
    }

    /// Asks for the fetched values again and changes the configuration to them.
    ///
    /// The service is the one that was asked at the start, even if other values have been fetched
    /// since. If the pin policy was replaced since, the new one applies. On failure nothing
    /// changes.
    ///
    /// - Parameter now: Unix seconds; nil is the clock's.
    /// - Returns: The report of the fetch, as ``lastFetch``.
    /// - Throws: `not-configured` if the system was started without a plan; the failure of the
    ///   fetch; as `update`.
    @discardableResult
    public func refetch(now: Int64? = nil) async throws(ClientError) -> FetchReport {
        guard let fetcher else {
            throw ClientError(.notConfigured, "the system was started without a plan for fetching")
        }
        return try await fetcher.refetch(now: now ?? UnixTime.now())
    }

    /// The outcome of the last fetch of values; nil if no fetch was planned.
    public var lastFetch: FetchReport? { fetcher?.lastReport }
}
