import ArgumentParser
import SignetClient
import SignetCrypto
import SignetJSON
import SignetRPC

/// `signet call`: one call, boxed, signed, pinned, unboxed.
struct CallCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "call",
        abstract: "Call a method of an HTTPS API and print its result.",
        discussion: """
            With --protocol rest METHOD is the HTTP method and URL the whole URL. With --batch FILE \
            no METHOD is given; FILE is a JSON array of {"method","params","notify"}.
            """)

    @OptionGroup var common: CommonOptions
    @OptionGroup var network: NetworkOptions
    @OptionGroup var options: CallOptions

    @Argument(help: "Where the API is.")
    var url: String

    @Argument(help: "The method.")
    var method: String?

    @Option(
        name: .customLong("params"), parsing: .unconditional,
        help: "The parameters, a JSON object or array.")
    var parameters: String?

    @Option(
        name: .customLong("protocol"), help: "jsonrpc-2.0 (the default), jsonrpc-1.0 or rest.")
    var protocolName = "jsonrpc-2.0"

    @Flag(name: .customLong("notify"), help: "Send a notification; no answer is wanted.")
    var isNotification = false

    @Option(name: .customLong("batch"), help: "Make the calls of this file in one request.")
    var batchFile: String?

    func validate() throws {
        if (method == nil) == (batchFile == nil) {
            throw ValidationError("either METHOD or --batch FILE is needed")
        }
        if batchFile != nil && (parameters != nil || isNotification) {
            throw ValidationError("--params and --notify stand in the batch's file")
        }
        guard ServiceConfiguration.PayloadProtocol(rawValue: protocolName) != nil else {
            let known = ServiceConfiguration.PayloadProtocol.allCases.map(\.rawValue)
            throw ValidationError("--protocol is one of \(known.joined(separator: ", "))")
        }
    }

    func run() async throws {
        let payloadProtocol =
            ServiceConfiguration.PayloadProtocol(rawValue: protocolName) ?? .jsonRPC2
        if let batchFile {
            let calls = try BatchFile.calls(in: InputFile.read(batchFile), named: batchFile)
            let (reply, more) = try await traced(options.traces, common.terminal) { trace in
                try await withNetworkSystem(for: url, payloadProtocol, network, options) {
                    try await $0.batch($1, calls, trace: trace)
                }
            }
            return try tell(reply, more)
        }
        let call = RPCCall(
            RPCMethod(method ?? ""),
            try parameters.map { try RPCParameters(parsing: Array($0.utf8)) },
            isNotification: isNotification)
        let (reply, more) = try await traced(options.traces, common.terminal) { trace in
            try await withNetworkSystem(for: url, payloadProtocol, network, options) {
                try await $0.call($1, call, trace: trace)
            }
        }
        warn(reply.warnings)
        guard let result = reply.result else {
            return try common.terminal.result(
                Self.joined(["notified": true], more), text: [])
        }
        let value = result.value
        var object = Self.joined(["result": value], more)
        if payloadProtocol == .rest { object["status"] = .number(JSONNumber(reply.status)) }
        try common.terminal.result(object, text: value.serialized() + [0x0A])
    }

    private func tell(_ reply: BatchReply, _ more: JSONObject) throws {
        warn(reply.warnings)
        var outcomes: [JSONValue] = []
        for (id, outcome) in zip(reply.ids, reply.outcomes) {
            var told: JSONObject = ["id": id?.json ?? .null]
            switch outcome {
            case .result(let result): told["result"] = result.value
            case .failure(let error), .rejected(let error): told["error"] = error.json
            case .unanswered: told["unanswered"] = true
            case .notified: continue
            }
            outcomes.append(.object(told))
        }
        let object = Self.joined(["batch": .array(outcomes)], more)
        guard let error = reply.error else {
            return try common.terminal.result(object, text: JSONValue.object(object).line)
        }
        if !common.json { try common.terminal.write(JSONValue.object(object).line) }
        var failure = ToolError(error)
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

/// The file of `--batch`.
enum BatchFile {
    /// Reads a JSON array of `{"method","params","notify"}`, strictly.
    static func calls(in bytes: [UInt8], named file: String) throws -> [RPCCall] {
        let value: JSONValue
        do {
            value = try JSONValue(parsing: bytes)
        } catch {
            throw malformed(file, error.message)
        }
        guard let elements = value.array else {
            throw malformed(file, "it is \(value.typeName), wanted an array of calls")
        }
        var calls: [RPCCall] = []
        for (index, element) in elements.enumerated() {
            let place = "call \(index + 1)"
            guard let object = element.object else {
                throw malformed(file, "\(place) is \(element.typeName), wanted an object")
            }
            for name in object.memberNames where !["method", "params", "notify"].contains(name) {
                throw malformed(file, "\(place) has an unknown member")
            }
            guard let method = object["method"]?.string else {
                throw malformed(file, "\(place) has no method, wanted a string")
            }
            let notify = object["notify"] ?? false
            guard let isNotification = notify.bool else {
                throw malformed(file, "notify of \(place) is \(notify.typeName), wanted a boolean")
            }
            calls.append(
                RPCCall(
                    RPCMethod(method), try object["params"].map { try RPCParameters($0) },
                    isNotification: isNotification))
        }
        return calls
    }

    private static func malformed(_ file: String, _ what: String) -> ToolError {
        ToolError(.usage, "malformed-input", "\(file): \(what)")
    }
}

extension JSONValue {
    /// The value in one line with its newline.
    var line: [UInt8] { serialized() + [0x0A] }
}

extension RPCError {
    /// The error as the tool prints it inside a batch.
    var json: JSONValue {
        var object: JSONObject = ["code": .string(code.name), "message": .string(message)]
        if let server { object["rpc"] = .object(server.object) }
        return .object(object)
    }
}
