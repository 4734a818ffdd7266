import ArgumentParser
internal import SignetBase
import SignetCrypto
import SignetJSON
import SignetVault

/// `vault public`: the part of the configuration that the schema makes public.
struct VaultPublicCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "public", abstract: "Print the public part of the merged configuration.",
        examples: [
            "signet vault public --schema schema.json --defaults defaults.json"
        ])

    @OptionGroup var inputs: VaultInputOptions
    @OptionGroup var project: ProjectOptions
    @OptionGroup var common: CommonOptions

    func run() throws {
        let configuration = try inputs.merged(project.load())
        let values = configuration.publicValues
        let origins = configuration.publicOrigins
        try common.terminal.result(
            ["values": .object(values), "origins": .object(origins)],
            lines: Self.table(values, origins: origins))
    }

    /// Key, value as JSON and origin, in columns.
    private static func table(_ values: JSONObject, origins: JSONObject) -> [String] {
        let rows = values.map {
            (printable($0.name), $0.value.text, origins[$0.name]?.string ?? "")
        }
        let keyWidth = rows.map(\.0.count).max() ?? 0
        let originWidth = rows.map(\.2.count).max() ?? 0
        return rows.map { key, value, origin in
            "\(padded(key, to: keyWidth))  \(padded(origin, to: originWidth))  \(printable(value))"
        }
    }

    private static func padded(_ text: String, to width: Int) -> String {
        text + String(repeating: " ", count: max(0, width - text.count))
    }
}
