#if Tool
import ArgumentParser
import SignetBase
import SignetClient
import SignetCrypto
import SignetJSON
import SignetRecording
import SignetSystem

/// `signet har`: recordings in files.
struct HARCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "har",
        abstract: "Check, list and redact recordings (HAR), and print one as a curl command.",
        discussion: """
            It reads what signet records, and what browsers, proxies and other tools write.
            """,
        examples: [
            "signet har show shop.har",
            "signet har scrub browser.har --out shared.har",
        ],
        subcommands: [
            HARCheckCommand.self, HARShowCommand.self, HARScrubCommand.self, HARCurlCommand.self,
        ])

    /// Reads a file; an error names it.
    static func bytes(of file: String?, on terminal: Terminal) throws -> [UInt8] {
        terminal.awaitInput("a recording", from: file)
        return try InputFile.read(file ?? "-", limit: RecordingFile.limit)
    }

    static func recording(in file: String?, on terminal: Terminal) throws -> Recording {
        let bytes = try bytes(of: file, on: terminal)
        return try naming(file) { () throws(RecordingError) in try Recording(har: bytes) }
    }

    static func naming<Value>(
        _ file: String?, _ work: () throws(RecordingError) -> Value
    ) throws(ToolError) -> Value {
        do throws(RecordingError) {
            return try work()
        } catch {
            let name = file ?? "-"
            throw ToolError(
                error.code, "\(name == "-" ? "standard input" : printable(name)): \(error.message)")
        }
    }
}

/// `signet har check`.
struct HARCheckCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "check",
        abstract: "Name what breaks HAR 1.2, what can't be read, and what looks like a secret.",
        examples: ["signet har check shop.har"])

    @Argument(help: "The recording; - or nothing is standard input.", completion: .file())
    var file: String?

    @OptionGroup var common: CommonOptions

    func run() throws {
        let bytes = try HARCommand.bytes(of: file, on: common.terminal)
        let findings = try HARCommand.naming(file) { () throws(RecordingError) in
            try Recording.findings(inHAR: bytes)
        }
        let object: JSONObject = [
            "findings": .array(
                findings.map { finding in
                    [
                        "code": .string(finding.code.rawValue), "place": .string(finding.place),
                        "message": .string(Terminal.printable(finding.message)),
                    ]
                })
        ]
        guard !findings.isEmpty else {
            return try common.terminal.result(object, lines: ["no findings"])
        }
        if !common.json {
            let lines = findings.map { "\($0.place): \($0.message) (\($0.code.rawValue))" }
            try common.terminal.write(
                Array(lines.map { Terminal.printable($0) + "\n" }.joined().utf8))
        }
        throw ToolError(
            .lintFindings, "\(findings.count) finding\(findings.count == 1 ? "" : "s")",
            beside: object)
    }
}

/// `signet har show`.
struct HARShowCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "show", abstract: "List the requests and responses of a recording.",
        discussion: """
            Values of queries are not printed; --json has the whole URLs as they are recorded.
            """,
        examples: ["signet har show shop.har"])

    @Argument(help: "The recording; - or nothing is standard input.", completion: .file())
    var file: String?

    @OptionGroup var common: CommonOptions

    func run() throws {
        let recording = try HARCommand.recording(in: file, on: common.terminal)
        for problem in recording.problems { common.terminal.note("note: \(problem)") }
        var table = Table("#", "method", "URL", "status", "type", "bytes", "ms", "redacted")
        var objects: [JSONValue] = []
        for (index, exchange) in recording.exchanges.enumerated() {
            let status = exchange.response.map { "\($0.status)" } ?? exchange.failure ?? "-"
            let body = exchange.response?.body
            let isGood = exchange.response.map { $0.status < 400 } ?? false
            let type = (body?.mediaType ?? "").split(separator: ";").first.map(String.init) ?? "-"
            let milliseconds = exchange.times.total.roundedMilliseconds
            table.add([
                ("\(index + 1)", .plain), (printable(exchange.request.method), .plain),
                (exchange.request.shownURL, .plain), (printable(status), isGood ? .good : .bad),
                (printable(type), .plain), ("\(body?.size ?? 0)", .plain),
                ("\(milliseconds)", .plain), ("\(exchange.redactions.count)", .plain),
            ])
            objects.append([
                "number": .number(JSONNumber(index + 1)),
                "method": .string(exchange.request.method), "url": .string(exchange.request.url),
                "status": exchange.response.map { .number(JSONNumber($0.status)) } ?? .null,
                "failure": exchange.failure.map(JSONValue.string) ?? .null,
                "type": .string(type), "bytes": .number(JSONNumber(body?.size ?? 0)),
                "milliseconds": .number(JSONNumber(milliseconds)),
                "redacted": .number(JSONNumber(exchange.redactions.count)),
            ])
        }
        try common.terminal.result(
            [
                "creator": recording.creator.map { .string("\($0.name) \($0.version)") } ?? .null,
                "entries": .array(objects),
            ],
            lines: objects.isEmpty ? [] : table.lines(colored: common.terminal.allowsColor))
    }
}

/// `signet har scrub`.
struct HARScrubCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "scrub",
        abstract: "Redact a recording that another program wrote.",
        discussion: """
            Fields, parameters and members whose name or form is a secret's, credentials, signatures, \
            cookies and user info become marks; equal values get the same one. Comments and what \
            browsers add beside HAR are left out. A short password under an innocent name is not \
            recognised: name it with --field, --member or --secret.
            """,
        examples: [
            "signet har scrub browser.har --out shared.har",
            "signet har scrub browser.har --member iban --secret env:SECRET > shared.har",
        ])

    @Argument(help: "The recording; - or nothing is standard input.", completion: .file())
    var file: String?

    @Option(
        name: [.customShort("o"), .customLong("out")],
        help: ArgumentHelp(
            "Write the result to this new file, with mode 0600; - is standard output.",
            valueName: "file"), completion: .file())
    var outFile: String = "-"

    @Option(
        name: .customLong("field"), parsing: .unconditionalSingleValue,
        help: ArgumentHelp("The values of fields of this name are secret.", valueName: "name"))
    var fields: [String] = []

    @Option(
        name: .customLong("member"), parsing: .unconditionalSingleValue,
        help: ArgumentHelp(
            "The values of members and parameters of this name are secret.", valueName: "name"))
    var members: [String] = []

    @Option(
        name: .customLong("secret"), parsing: .unconditionalSingleValue,
        help: ArgumentHelp(
            "The value of this source is secret wherever it occurs: FILE, env:NAME, fd:N or command:LINE.",
            valueName: "source"), completion: .file())
    var secrets: [String] = []

    @OptionGroup var common: CommonOptions

    func run() throws {
        let recording = try HARCommand.recording(in: file, on: common.terminal)
        var rules = RedactionRules()
        rules.fields = Set(fields)
        rules.members = Set(members)
        for source in secrets { rules.add(secret: Array(try NamedText.secret(source).utf8)) }
        let redacted = recording.redacted(by: rules)
        for problem in recording.problems { common.terminal.note("note: \(problem)") }
        let count = redacted.exchanges.reduce(0) { $0 + $1.redactions.count }
        let har = redacted.har()
        guard outFile != "-" else {
            return try common.terminal.write(har)
        }
        try PrivateFile.createNew(har, at: outFile)
        try common.terminal.result(
            [
                "redacted": .number(JSONNumber(count)),
                "marks": .number(JSONNumber(redacted.lastMark)), "file": .string(outFile),
            ],
            lines: [
                "redacted: \(count) place\(count == 1 ? "" : "s"), \(redacted.lastMark) value"
                    + (redacted.lastMark == 1 ? "" : "s")
            ])
    }
}

/// `signet har curl`.
struct HARCurlCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "curl", abstract: "Print a recorded request as a curl command.",
        discussion: """
            The command sends the same bytes. Redacted values are variables, such as $REDACTED_3, which \
            have to be set to the value as it is sent: percent-encoded in a URL, escaped in JSON.
            """,
        examples: ["signet har curl shop.har --entry 1"])

    @Argument(help: "The recording; - or nothing is standard input.", completion: .file())
    var file: String?

    @Option(
        help: ArgumentHelp(
            "The number of the request, as `har show` prints it; needed if there are several.",
            valueName: "number"))
    var entry: Int?

    @OptionGroup var common: CommonOptions

    func run() throws {
        let exchanges = try HARCommand.recording(in: file, on: common.terminal).exchanges
        guard let entry = entry ?? (exchanges.count == 1 ? 1 : nil) else {
            throw ToolError.usage(
                "found \(exchanges.count) requests, expected one; choose one with --entry NUMBER")
        }
        guard exchanges.indices.contains(entry - 1) else {
            throw ToolError.usage(
                "--entry: found \(entry), expected a number from 1 to \(exchanges.count)")
        }
        guard let command = exchanges[entry - 1].curlCommand else {
            throw ToolError(
                .notRecorded,
                "request \(entry) can't be sent by curl: its body is not part of the recording, or "
                    + "its URL or a field is not of HTTP")
        }
        let variables = exchanges[entry - 1].curlVariables
        if !variables.isEmpty {
            common.terminal.note("set first: \(variables.joined(separator: ", "))")
        }
        try common.terminal.result(
            [
                "command": .string(command),
                "variables": .array(variables.map(JSONValue.string)),
            ], lines: [command])
    }
}

extension Duration {
    /// Milliseconds, rounded.
    var roundedMilliseconds: Int64 {
        components.seconds * 1000 + (components.attoseconds + 500_000_000_000_000)
            / 1_000_000_000_000_000
    }
}
#endif
