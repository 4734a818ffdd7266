#if Tool
import ArgumentParser
import HTTPTypes
import SignetBase
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
        abstract: "Send an HTTP message unchanged and print the response.",
        discussion: """
            The message is HTTP/1.1 as text. With --scheme it is signed first. The response is \
            printed with any status; the exit status is 1 if the status is not 2xx.

            --body sends a file of any size, in pieces. A signed file is read twice, and its last piece \
            is sent only if the file is still the signed one.

            --out fetches the response's body into a file, which gets its name when it is \
            complete; with --resume a run continues an earlier one that was cut off, if the server \
            still has the same body. Redirects are followed there too.
            """,
        examples: [
            "signet send request",
            "printf 'GET /v1/orders HTTP/1.1\\nHost: api.example.com\\n\\n' | signet send",
        ])

    @OptionGroup var common: CommonOptions
    @OptionGroup var network: NetworkOptions
    @OptionGroup var options: CallSecurityOptions

    @Flag(name: .customLong("plain-http"), help: "Send over http if the target has no scheme.")
    var plainHTTP = false

    @Option(
        help: ArgumentHelp(
            "The message's body if the message is a head alone; - is standard input.",
            valueName: "file"), completion: .file())
    var body: String?

    @Option(
        name: [.customShort("o"), .customLong("out")],
        help: ArgumentHelp(
            "Download the body of a GET's response into this file; - is standard output.",
            valueName: "file"),
        completion: .file())
    var outFile: String?

    @Flag(name: .customLong("resume"), help: "Continue where an earlier --out was cut off.")
    var resumes = false

    @Option(
        name: .customLong("sha256"),
        help: ArgumentHelp("The SHA-256 that the file of --out must have.", valueName: "hex"))
    var sha256: String?

    @Argument(help: "The message; - or nothing is standard input.", completion: .file())
    var file: String?

    func validate() throws {
        if outFile == nil && (resumes || sha256 != nil) {
            throw ValidationError("--resume and --sha256 need --out")
        }
        if outFile == "-", resumes || sha256 != nil || common.json {
            throw ValidationError("--out - takes no --resume, --sha256 or --json")
        }
        if let sha256, sha256.utf8.decodingHexadecimal()?.count != 32 {
            throw ValidationError("--sha256 is 64 hexadecimal digits")
        }
    }

    func run() async throws {
        common.terminal.awaitInput("a message", from: file)
        let message = try SignableMessage(file: file, plainHTTP: plainHTTP)
        guard let head = message.httpRequest, let authority = head.authority else {
            let problem =
                switch message.request {
                case nil: "found a response, expected a request"
                case let request? where request.authority == nil: "the message names no host"
                default: "line 1: the host or the target has a character that a URL can't have"
                }
            throw ToolError(.malformedMessage, problem)
        }
        if let outFile {
            guard head.method == .get, body == nil, message.body.isEmpty else {
                throw ToolError.usage("--out fetches with GET, without a body")
            }
            if outFile != "-" { return try await fetch(head, authority: authority, to: outFile) }
        }
        let body = try requestBody(of: message)
        let output = CallOutput(on: common.terminal, tracing: options.traces)
        let (response, more) = try await output.of {
            try await withNetworkSystem(
                for: "\(head.scheme ?? "https")://\(authority)/", payloadProtocol: .rest,
                network: network, call: options, output: output
            ) { system, service in
                try await system.exchange(
                    service, method: head.method, target: head.path ?? "/",
                    fields: head.headerFields, body: body, options: .init(trace: output.trace))
            }
        }
        var object = describe(response)
        for (name, value) in more { object[name] = value }
        guard !(200..<300).contains(response.status) else {
            if outFile != nil { return try common.terminal.write(response.body) }
            return try common.terminal.result(object, text: Self.text(of: response))
        }
        if !common.json, outFile == nil { try common.terminal.write(Self.text(of: response)) }
        throw ToolError(
            .httpStatus,
            "the server responded with HTTP status \(response.status), expected 2xx", beside: object
        )
    }

    private func fetch(
        _ head: HTTPRequest, authority: String, to path: String
    ) async throws {
        var download = Download()
        download.fields = head.headerFields
        download.resumes = resumes
        download.sha256 = sha256.flatMap { $0.utf8.decodingHexadecimal() }
        let wanted = download
        let output = CallOutput(on: common.terminal, tracing: options.traces)
        let (result, more) = try await output.of {
            try await withNetworkSystem(
                for: "\(head.scheme ?? "https")://\(authority)/", payloadProtocol: .rest,
                network: network, call: options, output: output
            ) { system, service in
                try await system.download(
                    service, target: head.path ?? "/", to: path, with: wanted,
                    options: .init(trace: output.trace))
            }
        }
        var object: JSONObject = [
            "status": .number(JSONNumber(result.status)),
            "bytes": .number(JSONNumber(result.byteCount)),
            "resumedFrom": .number(JSONNumber(result.resumedFrom)),
            "digestChecked": .bool(result.isDigestChecked),
        ]
        for (name, value) in more { object[name] = value }
        let codings = HTTPResponse(status: .ok, headerFields: result.fields).contentCodings
        if !codings.isEmpty {
            common.terminal.note(
                "note: the file is as the server sent it, with the Content-Encoding "
                    + Terminal.printable(codings.joined(separator: ", ")))
        }
        try common.terminal.result(object, text: [])
    }

    private func requestBody(of message: SignableMessage) throws -> HTTPRequestBody {
        guard let body else { return HTTPRequestBody(message.body) }
        guard body != "-" || (file != nil && file != "-") else {
            throw ToolError.usage("only one of the message and --body can be standard input")
        }
        guard message.body.isEmpty else {
            throw ToolError.usage("the message already has a body; --body can't add another")
        }
        return try .file(body)
    }

    private func describe(_ response: RawResponse) -> JSONObject {
        func head(_ status: Int, _ fields: HTTPFields) -> JSONObject {
            let fields = fields.map { field in
                JSONValue.array([.string(field.name.canonicalName), .string(field.value)])
            }
            return ["status": .number(JSONNumber(status)), "fields": .array(fields)]
        }
        var object = head(response.status, response.fields)
        if !response.interim.isEmpty {
            object["interim"] = .array(
                response.interim.map { .object(head($0.status.code, $0.headerFields)) })
        }
        if let text = String(validating: response.body, as: UTF8.self) {
            object["body"] = .string(text)
        } else {
            object["bodyBase64"] = .string(Base64.encode(response.body, as: .standard))
        }
        return object
    }

    /// The response as HTTP/1.1 text.
    private static func text(of response: RawResponse) -> [UInt8] {
        var head = "HTTP/1.1 \(response.status) \r\n"
        for field in response.fields {
            head += "\(field.name.canonicalName): \(Terminal.printable(field.value))\r\n"
        }
        return Array((head + "\r\n").utf8) + response.body
    }
}
#endif
