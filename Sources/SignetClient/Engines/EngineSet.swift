import SignetSystem
import SignetTransport
import Synchronization

/// The engine choice of one call.
struct CallEngine: Sendable {
    let choice: EngineChoice
    /// Whether the call belongs to the trial's share.
    let isTrial: Bool
    /// Whether its responses and failures decide about the engines of later calls.
    let isMarked: Bool

    /// Decides for a call.
    ///
    /// - Parameter random: In 0..<1; asked only if there is a trial.
    init(_ choice: EngineChoice, isMarked: Bool = true, random: () -> Double) {
        self.choice = choice
        self.isMarked = isMarked
        self.isTrial = choice.trial.map { random() * 100 < $0.percent } ?? false
    }
}

/// The engines of a system by name, and how their last requests to each host ended.
final class EngineSet: Sendable {
    private struct Place: Hashable {
        let engine: EngineName
        let authority: String
    }

    private struct Mark {
        /// In a row.
        var failures = 0
        var restsUntil: MonotonicTime?
        /// The time to the response's header, of several requests.
        var time: Duration?
        var measuredAt: MonotonicTime?
    }

    /// The time after which an engine's speed is measured again.
    private static let freshness = Duration.seconds(60)
    /// The time of an engine that failed, or that the caller didn't wait for any longer.
    private static let penalty = Duration.seconds(3600)
    private static let maximumMarks = 4096
    private static let failures: Set<ClientError.Code> = [
        .unresolvedHost, .connect, .resources, .notRunning,
    ]

    /// Failures that aren't counted, but after which a rival is faster: slow ones, and requests
    /// that the engine can't send. Otherwise an engine that refuses everything would be chosen
    /// again to be measured.
    private static let penalized: Set<ClientError.Code> = [
        .timeout, .cutOff, .invalidRequest, .unsupportedTrailers, .engineCannotPin,
    ]

    /// The engine of calls that choose no other.
    let standard: any HTTPEngine
    /// The same if it ends requests without the cancellation of their tasks.
    let cancellable: (any CancellableHTTPEngine)?
    private let engines: [EngineName: any HTTPEngine]
    /// The engines whose responses aren't a server's.
    private let sources: [EngineName: ResponseSource]
    /// The engines that record.
    private let recorders: [EngineName: any RecordingHTTPEngine]
    private let now: @Sendable () -> MonotonicTime
    private let marks = Mutex<[Place: Mark]>([:])

    /// - Parameters:
    ///   - engines: The others by name.
    ///   - now: The monotonic time.
    init(
        standard: any HTTPEngine, _ engines: [EngineName: any HTTPEngine],
        now: @escaping @Sendable () -> MonotonicTime
    ) {
        self.standard = standard
        cancellable = standard as? any CancellableHTTPEngine
        self.engines = engines
        self.now = now
        var sources: [EngineName: ResponseSource] = [:]
        for (name, engine) in engines { sources[name] = engine.capabilities.source }
        sources[.standard] = standard.capabilities.source
        self.sources = sources.filter { $0.value != .server }
        var recorders = engines.compactMapValues { $0 as? any RecordingHTTPEngine }
        recorders[.standard] = standard as? any RecordingHTTPEngine
        self.recorders = recorders
    }

    /// Refuses an engine that may not record in a run mode.
    func requireRecordable(of use: EngineUse, in mode: RunMode) throws(ClientError) {
        guard !recorders.isEmpty else { return }
        do throws(TransportError) {
            try recorders[use.engine]?.requireRecordable(in: mode)
        } catch {
            throw ClientError(error)
        }
    }

    /// The origin of the responses of an engine.
    func source(of use: EngineUse) -> ResponseSource {
        sources.isEmpty ? .server : sources[use.engine] ?? .server
    }

    /// Returns the engine of a use; the choice was checked before.
    func engine(of use: EngineUse) -> any HTTPEngine {
        use == .standard ? standard : engines[use.engine] ?? standard
    }

    /// Chooses the engine of a request.
    func use(_ call: CallEngine?, at authority: String) -> EngineUse {
        guard let call else { return .standard }
        let choice = call.choice
        return marks.withLock { marks in
            var use = EngineUse(engine: choice.engine, reason: .chosen)
            if call.isTrial, let trial = choice.trial {
                use = EngineUse(engine: trial.engine, reason: .trial)
            } else if !choice.candidates.isEmpty {
                use = EngineUse(
                    engine: fastest(of: choice, at: authority, in: marks), reason: .speed)
            }
            let rest = marks[Place(engine: use.engine, authority: authority)]?.restsUntil
            if let fallback = choice.fallback, let rest, now() < rest {
                use = EngineUse(engine: fallback.engine, reason: .fallback)
            }
            return use
        }
    }

    /// Returns an engine that was not measured lately, or else the fastest one.
    private func fastest(
        of choice: EngineChoice, at authority: String, in marks: [Place: Mark]
    ) -> EngineName {
        let names = choice.candidates.union([choice.engine]).sorted { $0.name < $1.name }
        func time(_ name: EngineName) -> Duration {
            guard let mark = marks[Place(engine: name, authority: authority)],
                let time = mark.time, let measured = mark.measuredAt,
                now() - measured < Self.freshness
            else { return .seconds(-1) }
            return time
        }
        return names.min { time($0) < time($1) } ?? choice.engine
    }

    /// Notes that a response began after some time.
    func noteResponse(
        of use: EngineUse, for call: CallEngine, at authority: String, after: Duration
    ) {
        guard call.isMarked else { return }
        let place = Place(engine: use.engine, authority: authority)
        marks.withLock { marks in
            guard !call.choice.candidates.isEmpty else {
                marks[place] = nil
                return
            }
            if marks.count >= Self.maximumMarks { marks = [:] }
            var time = after
            if let before = marks[place]?.time, before != Self.penalty {
                time = (before * 3 + after) / 4
            }
            marks[place] = Mark(time: time, measuredAt: now())
        }
    }

    /// Notes that a request failed.
    func noteFailure(
        _ code: ClientError.Code, of use: EngineUse, for call: CallEngine?, at authority: String
    ) {
        guard let call, call.isMarked, use.reason != .fallback else { return }
        let hasFailed = Self.failures.contains(code)
        let isSlow = !call.choice.candidates.isEmpty && Self.penalized.contains(code)
        guard hasFailed || isSlow else { return }
        let place = Place(engine: use.engine, authority: authority)
        marks.withLock { marks in
            if marks.count >= Self.maximumMarks { marks = [:] }
            var mark = marks[place] ?? Mark()
            mark.time = Self.penalty
            mark.measuredAt = now()
            if hasFailed { mark.failures += 1 }
            if let fallback = call.choice.fallback, mark.failures >= fallback.failures {
                mark.restsUntil = now() + fallback.time
            }
            marks[place] = mark
        }
    }

    /// Shuts every engine down.
    func shutdown() async {
        await standard.shutdown()
        for (name, engine) in engines where name != .standard { await engine.shutdown() }
    }
}
