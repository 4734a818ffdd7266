/// Which engine sends the requests of a call.
///
/// The engine is chosen for each request: by name, by a trial's share of the calls, by speed, and
/// if an engine fails. A repeated request may be sent by another engine than the first one; whether
/// it is repeated is `RetryStrategy`'s decision alone, so only a call that never reached the
/// server, or that is idempotent, reaches two engines. An engine that can't pin never gets a
/// request to a pinned host: such a call ends with `engine-cannot-pin`, whatever the reason for the
/// choice.
///
/// ```swift
/// import SignetCurl
///
/// var settings = EngineSettings()
/// settings.offersHTTP2 = false
/// var options = NetworkSystem.Options()
/// options.engines["http1"] = try CurlEngine(settings)
///
/// // A twentieth of all calls tries the other engine. If the standard one fails, all calls do.
/// options.callOptions.engine = EngineChoice(
///     .standard, trial: .init("http1", percent: 5), fallback: .init("http1"))
/// ```
public struct EngineChoice: Sendable, Hashable {
    /// An engine for a share of the calls.
    public struct Trial: Sendable, Hashable {
        /// The engine.
        public var engine: EngineName
        /// The share in percent, in 0...100. Each call is decided once, at random, for all of its
        /// attempts.
        public var percent: Double

        /// Gives an engine a share of the calls.
        public init(_ engine: EngineName, percent: Double) {
            self.engine = engine
            self.percent = percent
        }
    }

    /// An engine for the time after another one failed.
    public struct Fallback: Sendable, Hashable {
        /// The engine.
        public var engine: EngineName
        /// The number of failures in a row after which the first engine rests. Failures are `name`,
        /// `connect`, `resources` and `not-running`, of requests to one host. Defaults to 3.
        public var failures: Int
        /// The time for which it rests, before it gets requests again. Defaults to a minute.
        public var time: Duration

        /// Names the engine that takes over.
        public init(_ engine: EngineName, failures: Int = 3, time: Duration = .seconds(60)) {
            self.engine = engine
            self.failures = failures
            self.time = time
        }
    }

    /// The engine of calls for which nothing below chooses another one.
    public var engine: EngineName
    /// An engine that gets a share of the calls; `nil` for none.
    public var trial: Trial?
    /// Engines that compete with `engine`: a request is sent by the one whose last responses from
    /// the host began soonest. Each is measured at least once a minute.
    public var candidates: Set<EngineName>
    /// The engine that takes over if the chosen one fails; `nil` for none.
    public var fallback: Fallback?

    /// Chooses an engine.
    public init(
        _ engine: EngineName = .standard, trial: Trial? = nil, candidates: Set<EngineName> = [],
        fallback: Fallback? = nil
    ) {
        self.engine = engine
        self.trial = trial
        self.candidates = candidates
        self.fallback = fallback
    }

    /// Returns why the choice can't be used, or `nil`.
    ///
    /// - Parameter engines: The engines that a system has.
    func problem(among engines: Set<EngineName>) -> String? {
        func isKnown(_ name: EngineName) -> Bool { name == .standard || engines.contains(name) }
        guard isKnown(engine), candidates.allSatisfy(isKnown),
            trial.map({ isKnown($0.engine) }) ?? true,
            fallback.map({ isKnown($0.engine) }) ?? true
        else {
            return "names an engine that NetworkSystem.Options.engines lacks"
        }
        if let trial, !(0...100).contains(trial.percent) {
            return "has a trial.percent outside of 0...100"
        }
        if let fallback, fallback.failures < 1 { return "has a fallback.failures below 1" }
        if let fallback, fallback.time <= .zero {
            return "has a fallback.time that isn't above zero"
        }
        return nil
    }
}
