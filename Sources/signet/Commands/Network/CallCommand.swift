import ArgumentParser
import SignetClient
import SignetCrypto
import SignetJSON
import SignetRPC
internal import SignetServiceDescription
internal import SignetSystem

/// `signet call`: one call, boxed, signed, pinned, unboxed.
struct CallCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "call",
        abstract: "Call a method of an HTTPS API and print its result.",
        discussion: """
            With --protocol rest METHOD is the HTTP method and URL the whole URL, or METHOD is \
            'GET /orders/{id}' and URL what stands before it. Parameters become JSON with POST, PUT and \
            PATCH, or the query; --form, --file and --body send a form, files or anything else. With \
            --batch FILE no METHOD is given; FILE is a JSON array of {"method","params","notify"}.

            Standard output holds the result's JSON and nothing else.
            """)

    @OptionGroup var common: CommonOptions
    @OptionGroup var network: NetworkOptions
    @OptionGroup var options: CallOptions
    @OptionGroup var content: CallContentOptions
    @OptionGroup var body: CallBodyOptions
    @OptionGroup var description: CallDescriptionOptions

    @Argument(help: "Where the API is.")
    var url: String

    @Argument(help: "The method.")
    var method: String?

    @Option(
        name: .customLong("protocol"), help: "jsonrpc-2.0 (the default), jsonrpc-1.0 or rest.")
    var protocolName = "jsonrpc-2.0"

    @Flag(name: .customLong("notify"), help: "Send a notification; no answer is wanted.")
    var isNotification = false

    @Option(name: .customLong("batch"), help: "Make the calls of this file in one request.")
    var batchFile: String?

    @Flag(
        name: .customLong("allow-reserved"),
        help: "Let the method begin with rpc., which JSON-RPC keeps for itself.")
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
            throw ValidationError("--batch FILE takes the place of METHOD: give one of them")
        }
        if batchFile != nil && (!content.hasNoParameters || isNotification) {
            throw ValidationError("--params and --notify stand in the batch's file")
        }
        guard let known = ServiceConfiguration.PayloadProtocol(rawValue: protocolName) else {
            let known = ServiceConfiguration.PayloadProtocol.allCases.map(\.rawValue)
            throw ValidationError("--protocol is one of \(known.joined(separator: ", "))")
        }
        try description.validate(for: known)
        guard body.isEmpty || (known == .rest && method != nil && !isNotification) else {
            throw ValidationError(
                "--body, --form, --secret-form and --file need a METHOD of --protocol rest")
        }
        let readers =
            [batchFile, description.file].count { $0 == "-" }
            + (content.readsStandardInput ? 1 : 0)
        guard readers + body.countOfStandardInputs <= 1 else {
            throw ValidationError("standard input can be read for one option alone")
        }
    }

    private var payloadProtocol: ServiceConfiguration.PayloadProtocol {
        ServiceConfiguration.PayloadProtocol(rawValue: protocolName) ?? .jsonRPC2
    }

    func run() async throws {
        let described = try description.read(for: payloadProtocol)
        let given = try content.given()
        if description.lists { return try await list(described, given) }
        if let batchFile {
            let calls = try BatchFile.calls(in: InputFile.read(batchFile), named: batchFile)
            for call in calls { _ = try described?.checked(call) }
            let (reply, more) = try await sent(given, described, adapter()) {
                system, service, described, trace in
                let checked = try calls.map { try described?.checked($0) ?? $0 }
                return try await system.batch(
                    checked, on: service, options: .init(trace: trace))
            }
            return try tell(reply, more)
        }
        // What the description refuses is refused before anything is sent; without one, what can be.
        if !body.isEmpty { return try await sendBody(described, given) }
        let call = try call(described, given)
        let isREST = payloadProtocol == .rest
        let adapter: (any PayloadAdapter)? = try isREST ? restAdapter(described) : adapter()
        let (reply, more) = try await sent(given, described, adapter) {
            system, service, described, trace in
            let call = description.discovers ? try self.call(described, given) : call
            return try await system.call(call, on: service, options: .init(trace: trace))
        }
        try tell(reply, more)
    }

    /// The adapter that knows where parameters go; nil without a description.
    private func restAdapter(_ described: ServiceDescription?) throws -> RESTAdapter? {
        try described.map { try $0.adapter(for: $0.method(named: method ?? "")) }
    }

    /// A REST call whose body is not made of parameters.
    private func sendBody(
        _ described: ServiceDescription?, _ given: CallContentOptions.Given
    ) async throws {
        let known = try described?.method(named: method ?? "")
        try body.requireFit(known?.method ?? RPCMethod(method ?? ""))
        let (content, about) = try await body.content(for: known)
        let call = try call(described, given, about)
        let adapter = try restAdapter(described)
        let request = try (adapter ?? RESTAdapter()).request(for: call)
        let (reply, more) = try await sent(given, described, adapter) {
            system, service, _, trace in
            try await content.send(request, system, service, trace)
        }
        try tell(reply, more)
    }

    /// The call, checked where there is a description.
    private func call(
        _ described: ServiceDescription?, _ given: CallContentOptions.Given,
        _ body: SuppliedBody? = nil
    ) throws -> RPCCall {
        let name = RPCMethod(method ?? "")
        let parameters = try content.joined(given, for: described?.method(named: name.name))
        let call = RPCCall(name, parameters: parameters, isNotification: isNotification)
        guard let described else { return call }
        do throws(RPCError) {
            return try described.checked(call, fields: given.fields, body: body)
        } catch {
            // What was found may be a secret.
            guard !given.secrets.isEmpty,
                let found = error.message.firstRange(of: ": found ")
            else { throw error }
            throw ToolError(
                .usage, error.code.name,
                "\(error.message[..<found.lowerBound]) is not what the description wants")
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

    /// Runs the work with a system for the URL, and with the service's description where one is wanted.
    private func sent<Result>(
        _ given: CallContentOptions.Given, _ described: ServiceDescription?,
        _ adapter: (any PayloadAdapter)?,
        _ work: (NetworkSystem, Service, ServiceDescription?, CallTrace?) async throws -> Result
    ) async throws -> (Result, JSONObject) {
        try await traced(options.traces, common.terminal) { trace in
            try await withNetworkSystem(
                for: url, payloadProtocol, network, options,
                configure: { service in
                    service.commonFields = given.fields
                    service.adapter = adapter
                }
            ) { system, service in
                var described = described
                if description.discovers {
                    if !allowsReserved, let method, RPCMethod(method).isReserved {
                        throw ToolError(
                            .usage, "reserved-method",
                            "the method begins with \"rpc.\", which JSON-RPC keeps for itself; "
                                + "--allow-reserved calls it all the same")
                    }
                    described = try await CallDescriptionOptions.discover(system, service)
                }
                return try await work(system, service, described, trace)
            }
        }
    }

    private func list(
        _ described: ServiceDescription?, _ given: CallContentOptions.Given
    ) async throws {
        var known = described
        if known == nil {
            (known, _) = try await sent(given, nil, adapter()) { system, service, _, _ in
                try await CallDescriptionOptions.discover(system, service)
            }
        }
        let methods = known?.methods ?? []
        var object: JSONObject = ["methods": .array(methods.map { .object($0.object) })]
        object["title"] = known?.title.map(JSONValue.string)
        try common.terminal.result(object, lines: methods.map(\.line))
    }

    // MARK: What came

    private func tell(_ reply: UnboxedResponse, _ more: JSONObject) throws {
        warn(reply.warnings)
        guard var line = reply.result?.compactBytes else {
            return try common.terminal.result(
                Self.joined(["notified": true], more), text: [])
        }
        guard common.json else {
            line.append(0x0A)
            return try common.terminal.write(line)
        }
        var object = MemberText()
        object.append("result", text: line)
        object.append(more)
        if payloadProtocol == .rest {
            object.append(["status": .number(JSONNumber(reply.status))])
        }
        try common.terminal.write(object.close())
    }

    private func tell(_ reply: BatchResponse, _ more: JSONObject) throws {
        warn(reply.warnings)
        var outcomes = Array("[".utf8)
        for (id, outcome) in zip(reply.ids, reply.outcomes) {
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
        let error = reply.error
        if error == nil || !common.json {
            var line = object
            try common.terminal.write(line.close())
        }
        guard let error else { return }
        var failure = ToolError(error)
        // A call whose reply is malformed has been answered, unlike one that stands alone.
        failure.status = error.code == .batchIncomplete ? .network : .refused
        failure.beside = object
        throw failure
    }

    private static func joined(_ object: JSONObject, _ more: JSONObject) -> JSONObject {
        var joined = object
        for (name, value) in more { joined[name] = value }
        return joined
    }

    private func warn(_ warnings: [RPCWarning]) {
        for warning in warnings { common.terminal.note("warning: \(warning.message)") }
    }
}

extension RPCError {
    /// The error as the tool prints it inside a batch.
    var json: JSONValue {
        var object: JSONObject = ["code": .string(code.name), "message": .string(message)]
        if let server { object["rpc"] = .object(server.object) }
        return .object(object)
    }
}
