/// Failures that a system simulates, to test how a program handles them.
///
/// In production, and so in every release build, nothing is simulated, whatever is set.
///
/// ```swift
/// var options = NetworkSystem.Options()
/// options.runMode = .development
/// options.simulation = FailureSimulation(failureRate: 0.2)
/// ```
public struct FailureSimulation: Sendable, Hashable {
    /// Whether every request fails with `offline` (boolean `simulation.offline`).
    public var isOffline: Bool
    /// Whether every request fails with `timeout`, at once (boolean `simulation.timeout`).
    public var timesOut: Bool
    /// The share of requests that fail with `cut-off`, 0...1 (number `simulation.failureRate`; the
    /// boolean `simulation.failure` means 1).
    public var failureRate: Double
    /// The time that every request waits before it is sent (`simulation.delay`). It counts to the
    /// times of the attempt and of the call; one that has less time fails with `timeout`.
    public var delay: Duration

    /// Describes failures.
    public init(
        isOffline: Bool = false, timesOut: Bool = false, failureRate: Double = 0,
        delay: Duration = .zero
    ) {
        self.isOffline = isOffline
        self.timesOut = timesOut
        self.failureRate = failureRate
        self.delay = delay
    }

    /// Reads the switches `simulation.…`.
    ///
    /// - Throws: `invalid-configuration`, naming the key.
    init(_ reader: SettingsReader) throws(ClientError) {
        isOffline = try reader.read("simulation.offline", as: Bool.self) ?? false
        timesOut = try reader.read("simulation.timeout", as: Bool.self) ?? false
        failureRate = try reader.read("simulation.failureRate", as: Double.self) ?? 0
        guard (0...1).contains(failureRate) else {
            throw reader.invalid("simulation.failureRate", reason: "is not in 0...1")
        }
        if try reader.read("simulation.failure", as: Bool.self) == true { failureRate = 1 }
        delay = try reader.duration("simulation.delay") ?? .zero
        guard delay >= .zero else { throw reader.invalid("simulation.delay", reason: "is below 0") }
    }

    /// The keys that have an effect.
    var keys: [String] {
        var keys: [String] = []
        if isOffline { keys.append("simulation.offline") }
        if timesOut { keys.append("simulation.timeout") }
        if failureRate > 0 {
            keys.append(failureRate >= 1 ? "simulation.failure" : "simulation.failureRate")
        }
        if delay > .zero { keys.append("simulation.delay") }
        return keys
    }

    /// The time that a request waits.
    ///
    /// - Parameter time: The time that it has.
    func pause(within time: Duration) -> Duration { min(delay, max(time, .zero)) }

    /// Fails instead of a request, without any connection.
    ///
    /// - Parameter pause: The time that the request has waited.
    /// - Throws: `offline`, `timeout` or `cut-off`, each saying what simulates it.
    func fail(after pause: Duration) throws(ClientError) {
        if pause < delay { throw Self.failure(.timeout, key: "simulation.delay") }
        if isOffline { throw Self.failure(.offline, key: "simulation.offline") }
        if timesOut { throw Self.failure(.timeout, key: "simulation.timeout") }
        if failureRate > 0, Double.random(in: 0..<1) < failureRate {
            throw Self.failure(.cutOff, key: "simulation.failure")
        }
    }

    private static func failure(_ code: ClientError.Code, key: String) -> ClientError {
        ClientError(code, "simulated, as \(key) says; nothing was sent")
    }
}
