#if Tool
import ArgumentParser
import Dispatch
import SignetBase
import SignetCrypto
import SignetSystem
import SignetTransport

/// The tool's commands.
struct SignetCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "signet",
        abstract: "Seal configurations, sign and verify requests, pin servers, call APIs.",
        discussion: """
            Exit status: 0 done; 1 the check failed; 2 wrong usage or a file that cannot be used; \
            3 no usable response from the network. With --json, each command prints one JSON \
            object, also for a failure.
            """,
        examples: [
            "signet keys new --type hmac --id orders-2027 --out orders-keys",
            "signet pins show https://api.example.com",
            "signet help vault seal",
        ], version: "signet \(VersionReport.tool)",
        subcommands: [
            KeysCommand.self,
            SignCommand.self,
            VerifyCommand.self,
            SchemesCommand.self,
            PinsCommand.self,
            VaultCommand.self,
            ExecCommand.self,
            ProjectCommand.self,
            CallCommand.self,
            SendCommand.self,
            ReplayCommand.self,
            HARCommand.self,
        ] + ofStorage + ofInspector + [
            SelfCheckCommand.self,
            CompletionsCommand.self,
            ManualCommand.self,
        ])

    /// The commands that need the package trait `Inspector`.
    private static var ofInspector: [any ParsableCommand.Type] {
        #if Inspector
        [InspectCommand.self]
        #else
        []
        #endif
    }

    /// The commands that need the package trait `Storage`.
    private static var ofStorage: [any ParsableCommand.Type] {
        #if Storage
        [CacheCommand.self]
        #else
        []
        #endif
    }
}

/// The entry point of the process, and the only place where it exits.
@main
enum Signet {
    /// Not `async`: a command that waits for nothing needs no second thread.
    static func main() {
        CoreDumps.disable()
        StandardStreams.reserveStandardDescriptors()
        StandardStreams.ignoreBrokenPipes()
        let words = Arguments.all
        let arguments = separatingEmptyValues(words.dropFirst().map { $0 ?? "\u{FFFD}" })
        let terminal = Terminal(json: Terminal.asksForJSON(arguments))
        do {
            // Swift finds the arguments by /proc/self/maps. If that fails it finds nothing, not
            // even the program's name, and a command that was not seen must not end as done.
            guard !words.isEmpty else {
                throw ToolError(
                    .noArguments,
                    "cannot read the program's arguments from /proc/self/maps")
            }
            try requireText(words)
            if VersionReport.isWanted(arguments) {
                try terminal.result(
                    VersionReport.object, lines: ["signet \(VersionReport.tool)"])
                terminal.exit(.done)
            }
            var command = try parse(arguments)
            if let asynchronous = command as? any AsyncParsableCommand {
                try run(asynchronous, on: terminal)
            }
            try command.run()
            terminal.exit(.done)
        } catch {
            terminal.exit(reporting: error, as: SignetCommand.self)
        }
    }

    /// Checks that the arguments are UTF-8, except those of the command that `exec` runs.
    private static func requireText(_ words: [String?]) throws(ToolError) {
        let isExec = words.dropFirst().first == "exec"
        let own = isExec ? words.prefix { $0 != "--" } : words[...]
        guard let index = own.dropFirst().firstIndex(of: nil) else { return }
        throw .usage(
            "argument \(index) is not UTF-8, expected UTF-8, also in the name of a file: rename it, "
                + "or give the file on standard input")
    }

    /// Reads the command line. A mistyped word is reported before missing options.
    private static func parse(_ arguments: [String]) throws -> any ParsableCommand {
        if arguments.first == "help",
            let error = UsageAdvice(SignetCommand.self).error(
                inHelp: Array(arguments.dropFirst()))
        {
            throw error
        }
        do {
            return try SignetCommand.parseAsRoot(arguments)
        } catch  where SignetCommand.exitCode(for: error) != .success {
            throw try UsageAdvice(SignetCommand.self).error(in: arguments) ?? error
        }
    }

    /// The number of descriptors that must be free before an asynchronous command: a call takes
    /// ten, and the engine leaves 16 to libdispatch, which ends the process if it finds none (Swift
    /// 6.3).
    private static let neededDescriptors = 48

    /// Runs a command on Swift's threads while this one waits, and ends the process with it.
    private static func run(
        _ command: sending any AsyncParsableCommand, on terminal: Terminal
    ) throws(ToolError) -> Never {
        guard StandardStreams.areFree(descriptors: neededDescriptors) else {
            throw ToolError(
                .resources,
                "the process needs \(neededDescriptors) free descriptors, more than its limit "
                    + "allows: see ulimit -n")
        }
        Task {
            var command = command
            do {
                try await command.run()
                terminal.exit(.done)
            } catch {
                terminal.exit(reporting: error, as: SignetCommand.self)
            }
        }
        while true { DispatchSemaphore(value: 0).wait() }
    }

    /// Writes `--option=` as `--option ""`: the parser takes the first for an option without value.
    static func separatingEmptyValues(_ arguments: [String]) -> [String] {
        let options = arguments.prefix { $0 != "--" }
        let separated = options.flatMap { argument in
            argument.startsWithBytes(of: "--") && argument.utf8.dropLast().allSatisfy { $0 != 0x3D }
                && argument.utf8.last == 0x3D ? [String(argument.dropLast()), ""] : [argument]
        }
        return separated + arguments[options.endIndex...]
    }
}
#endif
