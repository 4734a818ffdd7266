import SignetBase
import SignetVault

/// The mode of a system, what it simulates, and what is set without effect.
struct ModeSettings: Sendable {
    /// The mode that holds.
    let mode: RunMode
    /// Whether the build may run in another.
    let isSwitchable: Bool
    /// The switches for debugging; none is on in production.
    private(set) var switches = DebugSwitches()
    /// Whether the program set switches, which then outlive changes of the configuration. With all
    /// off, those of the next configuration act.
    private(set) var isSwitched = false
    /// The simulated failures; empty in production.
    var simulation: FailureSimulation { switches.simulation }
    /// The modules whose stubs may act.
    let stubModules: Set<StubModule>
    /// Keys and options that are set and would do something in another build or mode.
    let ignored: [String]

    /// Real servers only, as in a system that has no configuration.
    init() {
        self.mode = .production
        self.isSwitchable = RunMode.isSwitchable
        self.stubModules = [.business]
        self.ignored = []
    }

    /// Reads the mode and the switches.
    ///
    /// - Parameters:
    ///   - configuration: The configuration with `app.runMode`, `simulation.…` and the environments
    ///     of services; nil for services that are given as values.
    ///   - options: The mode and the simulation that win over those of the configuration, and
    ///     whether this build can switch modes. Tests pass the opposite value.
    ///   - environments: The keys of other hosts of services that are given as values.
    /// - Throws: `invalid-configuration` for an unknown mode or a switch of a wrong type, if the
    ///   build can switch modes. A release build doesn't check these keys.
    init(
        _ configuration: GlobalConfiguration?,
        options: NetworkSystem.Options = NetworkSystem.Options(), environments: [String] = []
    ) throws(ClientError) {
        isSwitchable = options.isModeSwitchable
        let reader = configuration.map { SettingsReader($0) }
        var ignored: [String] = []
        if isSwitchable {
            let configured =
                options.runMode == nil
                ? try reader?.choice("app.runMode", of: RunMode.self) : nil
            mode = options.runMode ?? configured ?? .production
        } else {
            mode = .production
            if options.runMode ?? .production != .production { ignored.append("options.runMode") }
            if let value = configuration?.value(named: "app.runMode"),
                String(value) != RunMode.production.rawValue
            {
                ignored.append("app.runMode")
            }
        }
        var modules: Set<StubModule> = []
        for module in mode == .production ? [.business] : StubModule.all
        where try reader?.read("stubs.\(module)", as: Bool.self) ?? true {
            modules.insert(module)
        }
        stubModules = modules
        guard mode == .production else {
            if let given = options.simulation {
                switches.simulation = given
            } else if let reader {
                switches.simulation = try FailureSimulation(reader)
            }
            self.ignored = []
            return
        }
        if options.simulation?.keys.isEmpty == false { ignored.append("options.simulation") }
        self.ignored = ignored + environments + (configuration.map(Self.switches) ?? [])
    }

    /// Returns why a self-check makes no calls; nil if it makes them.
    func reasonToSkipCalls(isOffline: Bool) -> String? {
        if isOffline { return "offline" }
        return simulation.isOffline ? "offline, as simulation.offline says" : nil
    }

    /// Returns the settings with other switches.
    ///
    /// - Parameter isHeld: Whether they outlive changes of the configuration.
    func switched(to switches: DebugSwitches, isHeld: Bool) -> ModeSettings {
        var settings = self
        (settings.switches, settings.isSwitched) = (switches, isHeld && !switches.isEmpty)
        return settings
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
