internal import SignetBase
internal import SignetVault

/// How a program runs, as its configuration says (string `app.runMode`) and its build allows.
///
/// Only a debug build can run in another mode than production. In a release build no value,
/// argument or environment variable changes the mode.
public enum RunMode: String, Sendable, Hashable, CaseIterable {
    /// Real servers, and nothing is simulated. This is the default.
    case production
    /// The services' hosts of `services.NAME.staging`, and simulations, for tests before a release.
    case staging
    /// The services' hosts of `services.NAME.development`, and simulations, for development.
    case development

    /// Whether this build may run in another mode than production.
    ///
    /// SwiftPM compiles a package's dependencies with the configuration of the program that uses
    /// them, so a program's own release build cannot switch, and its debug build can.
    public static var isSwitchable: Bool {
        #if DEBUG
            true
        #else
            false
        #endif
    }
}

/// The mode of one configuration, what it simulates, and what is set without effect.
struct ModeSettings: Sendable {
    /// The mode that holds.
    let mode: RunMode
    /// Whether the build may run in another.
    let isSwitchable: Bool
    /// The simulated failures; empty in production.
    let simulation: Simulation
    /// Keys that are set and would do something in another build or mode.
    let ignored: [String]

    /// Real servers only, as in a system that has no configuration.
    init() {
        self.mode = .production
        self.isSwitchable = RunMode.isSwitchable
        self.simulation = Simulation()
        self.ignored = []
    }

    /// Reads the mode and the switches.
    ///
    /// - Parameters:
    ///   - configuration: The configuration with `app.runMode`, `simulation.…` and the environments
    ///     of services.
    ///   - isSwitchable: Whether this build can switch modes. Tests pass the opposite value.
    /// - Throws: `invalid-configuration` for an unknown mode or a switch of a wrong type, if the
    ///   build can switch modes. A release build doesn't check these keys.
    init(
        _ configuration: GlobalConfiguration, isSwitchable: Bool = RunMode.isSwitchable
    ) throws(ClientError) {
        let reader = SettingsReader(configuration)
        var mode = RunMode.production
        var ignored: [String] = []
        if isSwitchable {
            if let name = try reader.read("app.runMode", as: String.self) {
                guard let known = RunMode(rawValue: name) else {
                    let all = RunMode.allCases.map(\.rawValue).joined(separator: ", ")
                    throw reader.invalid("app.runMode", reason: "is not one of \(all)")
                }
                mode = known
            }
        } else if let value = configuration.value(named: "app.runMode"),
            String(value) != RunMode.production.rawValue
        {
            ignored.append("app.runMode")
        }
        self.mode = mode
        self.isSwitchable = isSwitchable
        if mode == .production {
            self.simulation = Simulation()
            self.ignored = ignored + Self.switches(in: configuration)
        } else {
            self.simulation = try Simulation(reader)
            self.ignored = []
        }
    }

    /// Hosts of environments, and simulations, that are set.
    private static func switches(in configuration: GlobalConfiguration) -> [String] {
        configuration.schema.keys.filter { key in
            guard let value = configuration.value(named: key) else { return false }
            let parts = key.split(separator: ".", omittingEmptySubsequences: false)
            if parts.first == "simulation" {
                return Bool(value) != false && Double(value) != 0
            }
            return parts.count == 4 && parts[0] == "services" && parts[3] == "baseURL"
                && [RunMode.staging, .development].contains { $0.rawValue == parts[2] }
        }
    }
}

/// Failures that a configuration asks for, to see how a program handles them.
struct Simulation: Sendable {
    private var isOffline = false
    private var timesOut = false
    private var failureRate = 0.0

    /// Nothing is simulated.
    init() {}

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
    }

    /// The keys that have an effect.
    var keys: [String] {
        var keys: [String] = []
        if isOffline { keys.append("simulation.offline") }
        if timesOut { keys.append("simulation.timeout") }
        if failureRate > 0 {
            keys.append(failureRate == 1 ? "simulation.failure" : "simulation.failureRate")
        }
        return keys
    }

    /// Whether no host is reached.
    var reachesNoHost: Bool { isOffline }

    /// Fails instead of a request, at once and without any connection.
    ///
    /// - Throws: `offline`, `timeout` or `cut-off`, each saying what simulates it.
    func act() throws(ClientError) {
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
