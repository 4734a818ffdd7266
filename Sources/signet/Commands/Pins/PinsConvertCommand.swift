#if Tool
import ArgumentParser
import SignetBase
import SignetCrypto
import SignetJSON
import SignetPinFormats
import SignetPinning
import SignetSystem

/// `signet pins convert`: converts pins between the formats of programs.
struct PinsConvertCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "convert", abstract: "Convert pins between programs' formats.",
        discussion: """
            FORMAT: signet; trustkit (property list, XML or binary); trustkit-json; android \
            (network security configuration); okhttp (Kotlin or Java code); curl \
            (--pinnedpubkey); hpkp (Public-Key-Pins). What a format cannot express is named on \
            standard error, and refused if hosts would be pinned less.
            """,
        examples: [
            "signet pins convert --from signet --to okhttp policy.json",
            "signet pins convert --from signet --to android policy.json > network.xml",
        ])

    @Option(
        name: .customLong("from"), help: ArgumentHelp("The format of FILE.", valueName: "format"))
    var from: PinFormat

    @Option(
        name: .customLong("to"), help: ArgumentHelp("The format to write.", valueName: "format"))
    var to: PinFormat

    @Option(
        name: .customLong("host"),
        help: "The host, for curl and hpkp, whose formats don't name it."
    )
    var host: String?

    @Flag(name: .customLong("binary"), help: "Write a property list as binary, not as XML.")
    var binary = false

    @Argument(
        help: ArgumentHelp("The input; - or nothing is standard input.", valueName: "FILE"),
        completion: .file())
    var file: String?

    @OptionGroup var common: CommonOptions

    func validate() throws {
        if host != nil, from.namesHosts, to.namesHosts {
            throw ValidationError("--host is for curl and hpkp; \(from) and \(to) name their hosts")
        }
        if host == nil, !from.namesHosts {
            throw ValidationError("\(from) names no host: say which with --host")
        }
        if binary, to != .trustKit { throw ValidationError("--binary is for --to trustkit") }
    }

    func run() throws {
        common.terminal.awaitInput("pins", from: file)
        let input = try InputFile.read(file, limit: 16 << 20)
        let reading: PinConversion.Reading
        do {
            reading = try PinConversion.read(
                input, as: from, host: from.namesHosts ? nil : host,
                filesIn: InputFile.folder(of: file))
        } catch {
            throw PinError(
                error.code,
                "\(Terminal.printable(file ?? "standard input")): \(error.message)")
        }
        let writing = try PinConversion.write(
            reading.policy, as: to, host: from.namesHosts ? host : nil, binary: binary)
        let known = Set(reading.notes)
        let notes = reading.notes + writing.notes.filter { !known.contains($0) }
        for note in notes { common.terminal.note(note) }
        try common.terminal.result(object(writing.bytes, notes: notes), text: writing.bytes)
    }

    private func object(_ bytes: [UInt8], notes: [String]) -> JSONObject {
        var object: JSONObject = ["from": .string(from.name), "to": .string(to.name)]
        if binary {
            object["base64"] = .string(Base64.encode(bytes, as: .standard))
        } else if let document = try? JSONValue(parsing: bytes) {
            object["document"] = document
        } else {
            object["text"] = .string(String(decoding: bytes, as: UTF8.self))
        }
        object["notes"] = .array(notes.map { .string($0) })
        return object
    }
}
#endif
