import ArgumentParser
import HTTPTypes
import SignetClient
import SignetCrypto
import SignetCurl
import SignetJSON
import SignetRPC
import SignetSigning
import SignetTransport

/// `signet send`: a raw HTTP message through the whole system.
struct SendCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "send",
        abstract: "Send an HTTP message as it stands and print the reply.",
        discussion: """
            The message is HTTP/1.1 as text. With --scheme it is signed first. The reply is printed \
            whatever its status; a status that is not 2xx is exit 1.

            --body sends a file of any size, in pieces. Signed, it is read twice, and its last piece goes \
            out only when it still is what was signed.
            """)

    @OptionGroup var common: CommonOptions
    @OptionGroup var network: NetworkOptions
    @OptionGroup var options: CallOptions

    @Flag(name: .customLong("plain-http"), help: "Send over http, where the target has no scheme.")
    var plainHTTP = false

    @Option(
        help: ArgumentHelp(
            "The message's body, where the message is a head alone; - is standard input.",
            valueName: "file"))
    var body: String?

    @Argument(help: "The message; - or nothing is standard input.")
    var file: String?

    func run() async throws {
        let message = try SignableMessage(file: file, plainHTTP: plainHTTP)
        guard let head = message.httpRequest, let authority = head.authority else {
            throw ToolError(
                .usage, "malformed-message",
                message.request == nil
                    ? "the message is a response, wanted a request" : "the message names no host")
        }
        let body = try requestBody(of: message)
        let (reply, more) = try await traced(options.traces, common.terminal) { trace in
            try await withNetworkSystem(
                for: "\(head.scheme ?? "https")://\(authority)/", .rest, network, options
            ) { system, service in
                try await system.exchange(
                    service, method: head.method, target: head.path ?? "/",
                    fields: head.headerFields, body: body, trace: trace)
            }
        }
        var object = describe(reply)
        for (name, value) in more { object[name] = value }
        guard !(200..<300).contains(reply.status) else {
            return try common.terminal.result(object, text: Self.text(of: reply))
        }
        if !common.json { try common.terminal.write(Self.text(of: reply)) }
        throw ToolError(
            .refused, "http-status",
            "the server answered with HTTP status \(reply.status), wanted 2xx", beside: object)
    }

    private func requestBody(of message: SignableMessage) throws -> RequestBody {
        guard let body else { return RequestBody(message.body) }
        guard body != "-" || (file != nil && file != "-") else {
            throw ToolError.usage("of the message and its --body one only can be standard input")
        }
        guard message.body.isEmpty else {
            throw ToolError.usage("the message has a body of its own beside that of --body")
        }
        return try .file(body)
    }

    private func describe(_ reply: RawReply) -> JSONObject {
        let fields = reply.fields.map { field in
            JSONValue.array([.string(field.name.canonicalName), .string(field.value)])
        }
        var object: JSONObject = [
            "status": .number(JSONNumber(reply.status)), "fields": .array(fields),
        ]
        if let text = String(validating: reply.body, as: UTF8.self) {
            object["body"] = .string(text)
        } else {
            object["bodyBase64"] = .string(Base64.encode(reply.body, .standard))
        }
        return object
    }

    /// The reply as HTTP/1.1 text.
    private static func text(of reply: RawReply) -> [UInt8] {
        var head = "HTTP/1.1 \(reply.status) \r\n"
        for field in reply.fields {
            head += "\(field.name.canonicalName): \(Terminal.printable(field.value))\r\n"
        }
        return Array((head + "\r\n").utf8) + reply.body
    }
}
