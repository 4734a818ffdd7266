#if Tool
import ArgumentParser
import SignetBase
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
        let configuration = try inputs.merged(project.load()).configuration
        let values = configuration.publicValues
        try configuration.schema.requireValues(in: "the inputs", where: \.isPublic) {
            values[$0] != nil
        }
        let origins = configuration.publicOrigins
        var table = Table()
        for (key, value) in values {
            table.add([
                (printable(key), .plain), (origins[key]?.string ?? "", .plain),
                (value.text, .plain),
            ])
        }
        try common.terminal.result(
            ["values": .object(values), "origins": .object(origins)],
            lines: table.lines(colored: false))
    }
}
#endif
