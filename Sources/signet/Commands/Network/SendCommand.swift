import ArgumentParser
import HTTPTypes
internal import SignetBase
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

            --out fetches the reply's body into a file, which gets its name when it is whole; with --resume \
            a run goes on where one before was cut off, if the server still has the same. Redirects are \
            followed there too.
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

    @Option(
        name: .customLong("out"),
        help: ArgumentHelp("Fetch a GET's reply into this file.", valueName: "file"))
    var outFile: String?

    @Flag(name: .customLong("resume"), help: "Go on where an earlier --out was cut off.")
    var resumes = false

    @Option(
        name: .customLong("sha256"),
        help: ArgumentHelp("What the file of --out must have.", valueName: "hex"))
    var sha256: String?

    @Argument(help: "The message; - or nothing is standard input.")
    var file: String?

    func validate() throws {
        if outFile == nil && (resumes || sha256 != nil) {
            throw ValidationError("--resume and --sha256 need --out")
        }
        if let sha256, Self.bytes(ofHex: sha256)?.count != 32 {
            throw ValidationError("--sha256 is 64 hexadecimal digits")
        }
    }

    func run() async throws {
        let message = try SignableMessage(file: file, plainHTTP: plainHTTP)
        guard let head = message.httpRequest, let authority = head.authority else {
            throw ToolError(
                .usage, "malformed-message",
                message.request == nil
                    ? "the message is a response, wanted a request" : "the message names no host")
        }
        if let outFile {
            return try await fetch(head, message, authority: authority, to: outFile)
        }
        let body = try requestBody(of: message)
        let (reply, more) = try await traced(options.traces, common.terminal) { trace in
            try await withNetworkSystem(
                for: "\(head.scheme ?? "https")://\(authority)/", .rest, network, options
            ) { system, service in
                try await system.exchange(
                    service, method: head.method, target: head.path ?? "/",
                    fields: head.headerFields, body: body, options: .init(trace: trace))
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

    private func fetch(
        _ head: HTTPRequest, _ message: SignableMessage, authority: String, to path: String
    ) async throws {
        guard head.method == .get, body == nil, message.body.isEmpty else {
            throw ToolError.usage("--out fetches with GET, without a body")
        }
        var download = Download()
        download.fields = head.headerFields
        download.resumes = resumes
        download.sha256 = sha256.flatMap(Self.bytes(ofHex:))
        let wanted = download
        let (result, more) = try await traced(options.traces, common.terminal) { trace in
            try await withNetworkSystem(
                for: "\(head.scheme ?? "https")://\(authority)/", .rest, network, options
            ) { system, service in
                try await system.download(
                    service, target: head.path ?? "/", to: path, with: wanted,
                    options: .init(trace: trace))
            }
        }
        var object: JSONObject = [
            "status": .number(JSONNumber(result.status)),
            "bytes": .number(JSONNumber(result.byteCount)),
            "resumedFrom": .number(JSONNumber(result.resumedFrom)),
            "digestChecked": .bool(result.isDigestChecked),
        ]
        for (name, value) in more { object[name] = value }
        try common.terminal.result(object, text: [])
    }

    private static func bytes(ofHex text: String) -> [UInt8]? {
        let digits = Array(text.utf8).map { Character(Unicode.Scalar($0)).hexDigitValue }
        guard digits.count % 2 == 0, digits.allSatisfy({ $0 != nil }) else { return nil }
        return stride(from: 0, to: digits.count, by: 2).map {
            UInt8((digits[$0] ?? 0) * 16 + (digits[$0 + 1] ?? 0))
        }
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

    private func describe(_ reply: RawResponse) -> JSONObject {
        let fields = reply.fields.map { field in
            JSONValue.array([.string(field.name.canonicalName), .string(field.value)])
        }
        var object: JSONObject = [
            "status": .number(JSONNumber(reply.status)), "fields": .array(fields),
        ]
        if let text = String(validating: reply.body, as: UTF8.self) {
            object["body"] = .string(text)
        } else {
            object["bodyBase64"] = .string(Base64.encode(reply.body, as: .standard))
        }
        return object
    }

    /// The reply as HTTP/1.1 text.
    private static func text(of reply: RawResponse) -> [UInt8] {
        var head = "HTTP/1.1 \(reply.status) \r\n"
        for field in reply.fields {
            head += "\(field.name.canonicalName): \(Terminal.printable(field.value))\r\n"
        }
        return Array((head + "\r\n").utf8) + reply.body
    }
}
