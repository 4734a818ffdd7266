import Logging
public import SignetJSON

/// The report of a system's start: its mode, the keys that have no effect, and the source of the
/// fetched values. It contains names of keys, never a value.
public struct StartReport: Sendable, Hashable, CustomStringConvertible {
    /// The mode that the system runs in.
    public internal(set) var mode: RunMode
    /// Whether the build may run in another mode than production.
    public internal(set) var isModeSwitchable: Bool
    /// Keys that are set and ignored, because the build may not switch or the mode is production.
    public internal(set) var ignored: [String]
    /// Keys of simulations that take effect.
    public internal(set) var simulated: [String]
    /// The outcome of the fetch; nil if no fetch was planned.
    public internal(set) var fetch: FetchReport?
    /// The outcome of the first update of the signed pin policy; nil if no updates were planned.
    public internal(set) var pinUpdate: PinUpdateReport?

    /// The report as JSON.
    public var json: JSONObject {
        var object: JSONObject = [
            "mode": .string(mode.rawValue), "modeSwitchable": .bool(isModeSwitchable),
            "ignored": .array(ignored.map(JSONValue.string)),
            "simulated": .array(simulated.map(JSONValue.string)),
        ]
        object["fetch"] = fetch.map { .object($0.json) }
        object["pinUpdate"] = pinUpdate.map { .object($0.json) }
        return object
    }

    /// The JSON's text.
    public var description: String { JSONValue.object(json).text }
}

extension StartReport {
    /// Creates a report from the settings of a mode.
    init(_ mode: ModeSettings) {
        self.init(
            mode: mode.mode, isModeSwitchable: mode.isSwitchable, ignored: mode.ignored,
            simulated: mode.simulation.keys)
    }

    /// Writes the report's line to a logger.
    func log(to logger: Logger) {
        var metadata: Logger.Metadata = ["mode": "\(mode.rawValue)"]
        if !ignored.isEmpty {
            metadata["ignored"] = "\(ignored.joined(separator: ", "))"
        }
        if !simulated.isEmpty {
            metadata["simulated"] = "\(simulated.joined(separator: ", "))"
        }
        if let fetch = fetch {
            metadata["values"] = "\(fetch.source.rawValue)"
            if let failure = fetch.failure {
                metadata["code"] = "\(failure.code)"
                metadata["reason"] = "\(failure.message)"
            }
        }
        let isPlain =
            ignored.isEmpty && simulated.isEmpty
            && fetch?.failure == nil
        logger.log(level: isPlain ? .debug : .warning, "started", metadata: metadata)
    }
}
