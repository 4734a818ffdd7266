public import SignetBase
public import SignetJSON

/// The results of the test calls of the configuration, made through each engine.
///
/// ```swift
/// func compare(_ system: NetworkSystem) async {
///     for result in await system.compareEngines().results {
///         print(result.probe, result.engine, result.medianDuration as Any, result.failures)
///     }
/// }
/// ```
public struct EngineComparison: Sendable, Hashable {
    /// The calls of one probe through one engine.
    public struct Result: Sendable, Hashable {
        /// The name of the test call.
        public let probe: String
        /// The engine.
        public let engine: EngineName
        /// The number of calls.
        public internal(set) var count = 0
        /// The calls that failed, by the code of their error.
        public internal(set) var failures: [ClientError.Code: Int] = [:]
        /// The calls whose result wasn't as expected.
        public internal(set) var unexpectedCount = 0
        /// The times of the calls that didn't fail, shortest first.
        public internal(set) var durations: [Duration] = []
        /// The bytes that were sent, header and body, as the engine tells.
        public internal(set) var bytesSent: Int64 = 0
        /// The bytes that were received.
        public internal(set) var bytesReceived: Int64 = 0

        /// The number of calls that failed or whose result wasn't as expected.
        public var failureCount: Int { failures.values.reduce(unexpectedCount, +) }
        /// The median of the times; nil if all calls failed.
        public var medianDuration: Duration? { duration(at: 0.5) }

        /// Returns the time below which a share of the calls ended; nil if all failed.
        ///
        /// - Parameter share: In 0...1.
        public func duration(at share: Double) -> Duration? {
            guard !durations.isEmpty else { return nil }
            let index = Int((min(max(share, 0), 1) * Double(durations.count)).rounded(.up)) - 1
            return durations[max(0, index)]
        }

        mutating func add(_ outcome: ProbeOutcome) {
            count += 1
            for hop in outcome.record?.attempts.flatMap(\.hops) ?? [] {
                bytesSent += hop.timings.bytesSent
                bytesReceived += hop.timings.bytesReceived
            }
            switch outcome.finding {
            case .failed(let error): failures[error.code, default: 0] += 1
            case .unexpected, .good:
                if case .unexpected = outcome.finding { unexpectedCount += 1 }
                let index = durations.firstIndex { $0 > outcome.duration } ?? durations.endIndex
                durations.insert(outcome.duration, at: index)
            }
        }
    }

    /// A result for each test call and each engine, by their names.
    public internal(set) var results: [Result]

    /// The results as JSON, an array of objects with `probe`, `engine`, `count`, `failures`,
    /// `unexpected`, `medianMilliseconds`, `p95Milliseconds`, `bytesSent` and `bytesReceived`.
    public var json: JSONValue {
        .array(
            results.map { result in
                var failures: JSONObject = [:]
                for (code, count) in result.failures.sorted(by: { $0.key.name < $1.key.name }) {
                    failures[code.name] = .number(JSONNumber(count))
                }
                func milliseconds(_ share: Double) -> JSONValue {
                    result.duration(at: share).map {
                        JSONValue.number(JSONNumber($0.wholeMilliseconds))
                    } ?? .null
                }
                return [
                    "probe": .string(result.probe), "engine": .string(result.engine.name),
                    "count": .number(JSONNumber(result.count)), "failures": .object(failures),
                    "unexpected": .number(JSONNumber(result.unexpectedCount)),
                    "medianMilliseconds": milliseconds(0.5),
                    "p95Milliseconds": milliseconds(0.95),
                    "bytesSent": .number(JSONNumber(result.bytesSent)),
                    "bytesReceived": .number(JSONNumber(result.bytesReceived)),
                ]
            })
    }
}

extension CallPipeline {
    /// Makes each test call through each engine so often, in turns, so that a busy moment meets all
    /// engines.
    func compareEngines(_ probes: [Probe], repetitions: Int) async -> EngineComparison {
        let engines = admission.engines.union([.standard]).sorted { $0.name < $1.name }
        var comparison = EngineComparison(
            results: probes.flatMap { probe in
                engines.map { EngineComparison.Result(probe: probe.name, engine: $0) }
            })
        for _ in 0..<repetitions {
            for (index, result) in comparison.results.enumerated() {
                let probe = probes[index / engines.count]
                guard !Task.isCancelled else { return comparison }
                comparison.results[index].add(await run(probe, through: result.engine))
            }
        }
        return comparison
    }
}
