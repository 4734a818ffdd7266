#if Tool
import ArgumentParser
import SignetBase
import SignetClient
import SignetCrypto
import SignetJSON
import SignetPinning
import SignetRecording
import SignetTransport

/// `signet replay`: sends recorded requests again and compares.
struct ReplayCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "replay",
        abstract: "Send recorded requests again, and compare the responses.",
        discussion: """
            Requests go to the host of --against, or to their own hosts if --host or the pin policy \
            names them; no recording decides where anything is sent. Only idempotent requests are sent \
            unless --all is given. With --scheme they get new signatures. A request with a redacted value \
            is skipped unless --fill gives the value.

            Status, media type and the shape of the body are compared, with --exact the values. Exit \
            status: 0 all alike, 1 a difference, 3 no response.
            """,
        examples: [
            "signet replay shop.har --against https://api.example.com",
            "signet replay shop.har --host api.example.com --html report.html",
        ])

    @Argument(help: "The recording; - is standard input.", completion: .file())
    var file: String

    @Option(
        help: ArgumentHelp("Send every request to this host.", valueName: "url"))
    var against: String?

    @Option(
        name: .customLong("host"), parsing: .unconditionalSingleValue,
        help: ArgumentHelp(
            "Requests to this host may be sent there: HOST for https on port 443, or HOST:PORT.",
            valueName: "host"))
    var hosts: [String] = []

    @Option(
        name: .customLong("fill"), parsing: .unconditionalSingleValue,
        help: ArgumentHelp(
            "The value of a redacted place, from a source: REDACTED_3=env:TOKEN.",
            valueName: "name=source"))
    var fills: [String] = []

    @Flag(name: .customLong("all"), help: "Send requests that aren't idempotent too, such as POST.")
    var sendsAll = false

    @Flag(name: .customLong("exact"), help: "Compare the values of bodies too.")
    var isExact = false

    @OptionGroup var common: CommonOptions
    @OptionGroup var network: NetworkOptions
    @OptionGroup var options: CallSecurityOptions
    @OptionGroup var page: PageOptions

    func validate() throws {
        try page.requireUsable(beside: common)
        for fill in fills where NamedText.split(fill)?.text.isEmpty != false {
            throw ValidationError("--fill is NAME=SOURCE")
        }
        guard options.cache.folder == nil, options.record.file == nil else {
            throw ValidationError("replay takes no --cache and no --record")
        }
    }

    func run() async throws {
        let recording = try HARCommand.recording(in: file, on: common.terminal)
        for problem in recording.problems { common.terminal.note("note: \(problem)") }
        let targets = try ReplayTargets(
            against: against, hosts: hosts,
            policy: options.policy(of: options.project.load(), notingOn: common.terminal))
        let values = try marks()
        let exchanges = recording.exchanges
        // One system for all hosts, because a source of keys such as fd:3 can be read only once.
        var services: [WebOrigin: ServiceName] = [:]
        for exchange in exchanges where reason(toSkip: exchange, at: targets) == nil {
            guard let origin = targets.origin(of: exchange), services[origin] == nil else {
                continue
            }
            services[origin] = services.isEmpty ? "call" : ServiceName("call\(services.count + 1)")
        }
        guard let first = services.first(where: { $0.value == "call" })?.key else {
            let rows = try await rows(of: exchanges, at: targets) { _ in nil }
            return try tell(ReplayReport(rows: rows, file: file))
        }
        var others: [ServiceName: String] = [:]
        for (origin, service) in services where origin != first { others[service] = "\(origin)/" }
        let rows = try await withNetworkSystem(
            for: "\(first)/", and: others, payloadProtocol: .rest, network: network, call: options,
            output: CallOutput(on: common.terminal, tracing: false), showsProgress: false,
            configure: { service in
                service.redirects = .never
                service.cookies = nil
            }
        ) { system, _ in
            try await self.rows(of: exchanges, at: targets) { origin in
                var test = RecordedTest(
                    on: system, as: services[origin], isSigning: options.scheme != nil)
                test.rule = isExact ? .values : .shape
                test.fills = values
                return test
            }
        }
        try tell(ReplayReport(rows: rows, file: file))
    }

    /// The values by the numbers of marks.
    private func marks() throws -> [Int: String] {
        var values: [Int: String] = [:]
        for case let (name, source)? in fills.map(NamedText.split) {
            let digits = name.uppercased().split(whereSeparator: { "_-".contains($0) })
            guard digits.count == 2, digits[0] == "REDACTED", let number = Int(digits[1]) else {
                throw ToolError.usage(
                    "--fill: found the name \(quoted(name)), expected one such as REDACTED_3")
            }
            values[number] = try NamedText.secret(source)
        }
        return values
    }

    /// Sends the requests again, in their order, and prints a line for each.
    ///
    /// - Parameter test: The test for a host.
    private func rows(
        of exchanges: [RecordedExchange], at targets: ReplayTargets,
        by test: (WebOrigin) -> RecordedTest?
    ) async throws -> [ReplayRow] {
        var rows: [ReplayRow] = []
        for (index, exchange) in exchanges.enumerated() {
            let outcome: ReplayOutcome
            if let reason = reason(toSkip: exchange, at: targets) {
                outcome = .skipped(reason)
            } else if let origin = targets.origin(of: exchange), let test = test(origin) {
                outcome = try await test.outcome(of: exchange)
            } else {
                continue
            }
            let row = ReplayRow(number: index + 1, exchange: exchange, outcome: outcome)
            if !common.json, page.file != "-" {
                try common.terminal.write(Array((row.line + "\n").utf8))
            }
            rows.append(row)
        }
        return rows
    }

    /// The reason why a request isn't sent; nil for one that is.
    private func reason(toSkip exchange: RecordedExchange, at targets: ReplayTargets) -> String? {
        let method = exchange.request.method
        guard sendsAll || Self.idempotent.contains(method) else {
            return "\(printable(method)) isn't idempotent; --all sends it"
        }
        return targets.origin(of: exchange) == nil
            ? "neither --host, --policy nor --against names its host" : nil
    }

    private static let idempotent: Set<String> = [
        "GET", "HEAD", "PUT", "DELETE", "OPTIONS", "TRACE",
    ]

    private func tell(_ report: ReplayReport) throws {
        let isPage = try page.write(report.page, on: common.terminal)
        if let failure = report.failure { throw failure }
        guard !isPage else { return }
        try common.terminal.result(report.object, lines: [report.summary])
    }
}

/// The hosts to which requests may go.
struct ReplayTargets {
    private let against: WebOrigin?
    private let hosts: Set<String>
    private let policy: PinPolicy?

    /// - Throws: Wrong usage if nothing names a host.
    init(against: String?, hosts: [String], policy: PinPolicy?) throws {
        self.against = try against.map { try WebURL(parsing: WebURL.escaping(typed: $0)).origin }
        self.hosts = Set(
            try hosts.map { text in
                let authority = try Authority(parsing: text)
                return authority.writtenPort.map { "\(authority.host.uriText):\($0)" }
                    ?? authority.host.uriText
            })
        self.policy = policy
        guard against != nil || !hosts.isEmpty || policy?.rules.isEmpty == false else {
            throw ToolError.usage(
                "nothing names a host, expected --against URL, --host HOST or --policy FILE: a "
                    + "recording doesn't decide where requests are sent")
        }
    }

    /// The origin to which a request goes; nil if it may not be sent.
    func origin(of exchange: RecordedExchange) -> WebOrigin? {
        if let against { return against }
        guard let url = try? WebURL(parsing: WebURL.escaping(typed: exchange.request.url)) else {
            return nil
        }
        let origin = url.origin
        let host = origin.host.uriText
        if hosts.contains("\(host):\(origin.port)") { return origin }
        // A name alone allows neither cleartext nor a port that the recording chose.
        guard origin.isSecure, origin.port == 443 else { return nil }
        return hosts.contains(host) || policy?.rule(for: origin.host) != nil ? origin : nil
    }
}

/// A request that was sent again, or not.
struct ReplayRow {
    let number: Int
    let exchange: RecordedExchange
    let outcome: ReplayOutcome

    var name: String { "\(printable(exchange.request.method)) \(exchange.request.shownURL)" }

    var line: String { Terminal.printable("#\(number) \(name): \(outcome)") }

    var kind: String {
        switch outcome {
        case .alike: "alike"
        case .differs: "differs"
        case .skipped: "skipped"
        case .unanswered: "unanswered"
        }
    }

    var object: JSONValue {
        var object: JSONObject = [
            "number": .number(JSONNumber(number)), "method": .string(exchange.request.method),
            "url": .string(exchange.request.shownURL), "outcome": .string(kind),
        ]
        switch outcome {
        case .alike: break
        case .differs(let differences):
            object["differences"] = .array(
                differences.map {
                    [
                        "place": .string($0.place), "kind": .string($0.kind.rawValue),
                        "recorded": $0.recorded.map(JSONValue.string) ?? .null,
                        "found": $0.found.map(JSONValue.string) ?? .null,
                    ]
                })
        case .skipped(let reason): object["reason"] = .string(reason)
        case .unanswered(let code, let message):
            object["error"] = [
                "code": .string(code.name), "message": .string(Terminal.printable(message)),
            ]
        }
        return .object(object)
    }
}

/// The outcome of a replay.
struct ReplayReport {
    let rows: [ReplayRow]
    let file: String

    private func count(_ kind: String) -> Int { rows.count { $0.kind == kind } }

    var summary: String {
        "alike: \(count("alike")), different: \(count("differs")), no response: "
            + "\(count("unanswered")), skipped: \(count("skipped"))"
    }

    var object: JSONObject {
        [
            "replayed": .array(rows.map(\.object)),
            "alike": .number(JSONNumber(count("alike"))),
            "different": .number(JSONNumber(count("differs"))),
            "unanswered": .number(JSONNumber(count("unanswered"))),
            "skipped": .number(JSONNumber(count("skipped"))),
        ]
    }

    /// The failure of the command; nil if all requests that were sent are alike.
    var failure: ToolError? {
        if count("unanswered") > 0 {
            let code =
                rows.compactMap { row -> SignetErrorCode? in
                    if case .unanswered(let code, _) = row.outcome { code } else { nil }
                }.first ?? .connect
            var failure = ToolError(code, summary, beside: object)
            failure.status = .network
            return failure
        }
        if count("differs") > 0 {
            return ToolError(.differsFromRecording, summary, beside: object)
        }
        if count("alike") == 0 {
            return ToolError(
                .notRecorded, "nothing was sent; \(summary)", beside: object)
        }
        return nil
    }

    var page: StatusPage {
        let lines = HTML(
            joining: rows.map { row in
                "<tr><td>\(row.number)</td><td>\(row.name)</td><td>\(row.kind)</td><td>\(row.outcome.description)</td></tr>"
            })
        return StatusPage(
            title: "Replay of a recording", summary: summary,
            facts: [("Recording", file), ("Time", UnixTime.rfc3339(UnixTime.now()))],
            sections: [
                StatusPage.Section(
                    title: "Requests",
                    body: """
                        <table>
                        <thead><tr><th>#</th><th>Request</th><th>Outcome</th><th>Details</th></tr></thead>
                        <tbody>
                        \(lines)
                        </tbody>
                        </table>
                        """)
            ])
    }
}
#endif
