#if Tool
import ArgumentParser
import SignetClient
import SignetCrypto
import SignetJSON
import SignetRPC
import SignetServiceDescription
import SignetSystem

/// `signet call`: one call, boxed, signed, pinned, unboxed.
struct CallCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "call",
        abstract: "Call a method of an HTTPS API and print its result.",
        discussion: """
            With --protocol rest METHOD is the HTTP method and URL the whole URL, or METHOD is \
            'GET /orders/{id}' and URL the part before it. Parameters become JSON with POST, PUT and \
            PATCH, or the query; --form, --file and --body send a form, files or anything else. With \
            --batch FILE no METHOD is given; FILE is a JSON array of {"method","params","notify"}.

            Standard output is only the result's JSON.
            """,
        examples: [
            "signet call https://api.example.com/rpc orders.create --param item=tea",
            "signet call https://api.example.com/v1 'GET /orders/{id}' \\",
            "  --text-param id=7 --protocol rest --policy policy.json",
        ])

    @OptionGroup var common: CommonOptions
    @OptionGroup var network: NetworkOptions
    @OptionGroup var options: CallSecurityOptions
    @OptionGroup var content: CallContentOptions
    @OptionGroup var body: CallBodyOptions
    @OptionGroup var description: CallDescriptionOptions

    @Argument(help: "The URL of the API.")
    var url: String

    @Argument(help: "The method.")
    var method: String?

    @Option(name: .customLong("protocol"), help: "The form of requests and responses.")
    var payloadProtocol = ServiceConfiguration.PayloadProtocol.jsonRPC2

    @Flag(name: .customLong("notify"), help: "Send a notification, which has no response.")
    var isNotification = false

    @Option(
        name: .customLong("batch"), help: "Make the calls of this file in one request.",
        completion: .file())
    var batchFile: String?

    @Flag(
        name: .customLong("allow-reserved"),
        help: "Allow a method that begins with rpc., which JSON-RPC reserves.")
    var allowsReserved = false

    func validate() throws {
        let isAlone =
            method == nil && batchFile == nil && content.hasNoParameters && !isNotification
        if description.lists {
            guard isAlone else {
                throw ValidationError("--list takes no METHOD, parameters, --notify or --batch")
            }
        } else if method == nil && batchFile == nil {
            throw ValidationError("either METHOD or --batch FILE is needed")
        } else if method != nil && batchFile != nil {
            throw ValidationError("found METHOD and --batch FILE, expected one of them")
        }
        if batchFile != nil && (!content.hasNoParameters || isNotification) {
            throw ValidationError("put params and notifications into the batch's file")
        }
        try description.validate(for: payloadProtocol)
        guard body.isEmpty || (payloadProtocol == .rest && method != nil && !isNotification) else {
            throw ValidationError(
                "--body, --form, --secret-form and --file need a METHOD of --protocol rest")
        }
        guard options.cache.folder == nil || payloadProtocol == .rest else {
            throw ValidationError(
                "--cache needs --protocol rest: no other call has cached responses")
        }
        let readers =
            [batchFile, description.file].count { $0 == "-" }
            + (content.readsStandardInput ? 1 : 0)
        guard readers + body.countOfStandardInputs <= 1 else {
            throw ValidationError("standard input can be read for one option alone")
        }
    }

    func run() async throws {
        let described = try description.read(for: payloadProtocol)
        if content.readsStandardInput { common.terminal.awaitInput("parameters", from: "-") }
        let given = try content.given()
        if description.lists { return try await list(described, with: given) }
        if let batchFile {
            common.terminal.awaitInput("a batch", from: batchFile)
            let calls = try BatchFile.calls(in: InputFile.read(batchFile), named: batchFile)
            for call in calls { _ = try described?.checked(call) }
            let (response, more) = try await sent(given, describedBy: described, through: adapter())
            {
                system, service, described, trace in
                let checked = try calls.map { try described?.checked($0) ?? $0 }
                return try await system.batch(
                    checked, on: service, options: .init(trace: trace))
            }
            return try tell(response, with: more)
        }
        // Check the call before anything is sent, against the description if there is one.
        if !body.isEmpty { return try await sendBody(of: given, describedBy: described) }
        let call = try call(given, describedBy: described)
        let isREST = payloadProtocol == .rest
        let adapter: (any PayloadAdapter)? = try isREST ? restAdapter(described) : adapter()
        let (response, more) = try await sent(given, describedBy: described, through: adapter) {
            system, service, described, trace in
            let call = description.discovers ? try self.call(given, describedBy: described) : call
            return try await system.call(call, on: service, options: .init(trace: trace))
        }
        try tell(response, with: more)
    }

    /// The adapter that knows where parameters go; nil without a description.
    private func restAdapter(_ described: ServiceDescription?) throws -> RESTAdapter? {
        try described.map { try $0.adapter(for: $0.method(named: method ?? "")) }
    }

    /// A REST call whose body is not made of parameters.
    private func sendBody(
        of given: CallContentOptions.Given, describedBy described: ServiceDescription?
    ) async throws {
        let known = try described?.method(named: method ?? "")
        try body.requireFit(known?.method ?? RPCMethod(method ?? ""))
        let (content, about, hidden) = try await body.content(for: known)
        var given = given
        given.hidden += hidden
        let call = try call(given, describedBy: described, body: about)
        let adapter = try restAdapter(described)
        let request = try (adapter ?? RESTAdapter()).request(for: call)
        let (response, more) = try await sent(given, describedBy: described, through: adapter) {
            system, service, _, trace in
            try await content.send(request, to: service, by: system, trace: trace)
        }
        try tell(response, with: more)
    }

    /// The call, checked against the description if there is one.
    private func call(
        _ given: CallContentOptions.Given, describedBy described: ServiceDescription?,
        body: SuppliedBody? = nil
    ) throws -> RPCCall {
        let name = RPCMethod(method ?? "")
        let parameters = try content.joined(given, for: described?.method(named: name.name))
        let call = RPCCall(name, parameters: parameters, isNotification: isNotification)
        guard let described else { return call }
        do throws(PayloadError) {
            return try described.checked(call, fields: given.fields, body: body)
        } catch {
            // Leave out the found value, which may be a secret.
            guard !given.secrets.isEmpty,
                let found = error.message.firstRange(of: ": found ")
            else { throw error }
            throw ToolError(
                error.code,
                "\(error.message[..<found.lowerBound]) does not match the description")
        }
    }

    // MARK: The call

    /// The adapter that lets a method begin with `rpc.`; nil for the protocol's own.
    private func adapter() -> (any PayloadAdapter)? {
        guard payloadProtocol != .rest,
            allowsReserved || description.discovers || description.lists
        else { return nil }
        var adapter = JSONRPCAdapter(version: payloadProtocol == .jsonRPC1 ? .v1 : .v2)
        adapter.allowsReservedMethods = true
        return adapter
    }

    /// Runs the work with a system for the URL, and with the service's description if one is
    /// wanted.
    private func sent<Result>(
        _ given: CallContentOptions.Given, describedBy described: ServiceDescription?,
        through adapter: (any PayloadAdapter)?,
        work: (NetworkSystem, ServiceName, ServiceDescription?, CallTrace?) async throws -> Result
    ) async throws -> (Result, JSONObject) {
        let output = CallOutput(on: common.terminal, tracing: options.traces)
        return try await output.of {
            try await withNetworkSystem(
                for: WebURL.escaping(typed: url), payloadProtocol: payloadProtocol,
                network: network, call: options, output: output,
                hiding: given.hidden,
                configure: { service in
                    service.commonFields = given.fields
                    service.adapter = adapter
                }
            ) { system, service in
                var described = described
                if description.discovers {
                    if !allowsReserved, let method, RPCMethod(method).isReserved {
                        throw PayloadError(
                            .reservedMethod,
                            "the method begins with \"rpc.\", which JSON-RPC reserves")
                    }
                    described = try await CallDescriptionOptions.discover(service, by: system)
                        .description
                }
                return try await work(system, service, described, output.trace)
            }
        }
    }

    private func list(
        _ described: ServiceDescription?, with given: CallContentOptions.Given
    ) async throws {
        var known = described
        var more = JSONObject()
        if known == nil {
            let (asked, members) = try await sent(given, describedBy: nil, through: adapter()) {
                system, service, _, _ in
                try await CallDescriptionOptions.discover(service, by: system)
            }
            known = asked.description
            more = warned(of: asked.warnings, beside: members)
        }
        let methods = known?.methods ?? []
        var object: JSONObject = ["methods": .array(methods.map { .object($0.object) })]
        object["title"] = known?.title.map(JSONValue.string)
        try common.terminal.result(
            Self.joined(object, with: more), lines: methods.map(\.line))
    }

    // MARK: What came

    private func tell(_ response: UnboxedResponse, with more: JSONObject) throws {
        let more = warned(of: response.warnings, beside: more)
        guard var line = response.result?.compactBytes else {
            return try common.terminal.result(
                Self.joined(["notified": true], with: more), text: [])
        }
        guard common.json else {
            line.append(0x0A)
            return try common.terminal.write(json: line)
        }
        var object = MemberText()
        object.append("result", text: line)
        object.append(more)
        if payloadProtocol == .rest {
            object.append(["status": .number(JSONNumber(response.status))])
        }
        try common.terminal.write(json: object.close())
    }

    private func tell(_ response: BatchResponse, with more: JSONObject) throws {
        let more = warned(of: response.warnings, beside: more)
        var outcomes = Array("[".utf8)
        for (id, outcome) in zip(response.ids, response.outcomes) {
            var told = MemberText(["id": id?.json ?? .null])
            switch outcome {
            case .result(let result): told.append("result", text: result.compactBytes)
            case .failure(let error), .rejected(let error): told.append(["error": error.json])
            case .unanswered: told.append(["unanswered": true])
            case .notified: continue
            }
            if outcomes.count > 1 { outcomes.append(UInt8(ascii: ",")) }
            outcomes += told.close(isLine: false)
        }
        outcomes.append(UInt8(ascii: "]"))
        var object = MemberText()
        object.append("batch", text: outcomes)
        object.append(more)
        let error = response.error
        if error == nil || !common.json {
            var line = object
            try common.terminal.write(json: line.close())
        }
        guard let error else { return }
        var failure = ToolError(error)
        // If all calls have a response, the exit status is 1, even if a response is malformed. A
        // single call with a malformed response has 3.
        failure.status = error.code == .batchIncomplete ? .network : .refused
        failure.beside = object
        throw failure
    }

    private static func joined(_ object: JSONObject, with more: JSONObject) -> JSONObject {
        var joined = object
        for (name, value) in more { joined[name] = value }
        return joined
    }

    /// Prints warnings, and returns the members of the JSON object with them.
    private func warned(of warnings: [RPCWarning], beside members: JSONObject) -> JSONObject {
        var all = members["warnings"]?.array ?? []
        for warning in warnings {
            common.terminal.note("warning: \(warning.message)")
            all.append([
                "code": .string(warning.code.name),
                "message": .string(Terminal.printable(warning.message)),
            ])
        }
        var members = members
        if !all.isEmpty { members["warnings"] = .array(all) }
        return members
    }
}

extension PayloadError {
    /// The error as the tool prints it inside a batch.
    var json: JSONValue {
        var object: JSONObject = ["code": .string(code.name), "message": .string(message)]
        if let server { object["rpc"] = .object(server.object) }
        return .object(object)
    }
}
#endif
