#if Tool
import ArgumentParser
import SignetBase
import SignetClient
import SignetCrypto
import SignetCurl
import SignetJSON
import SignetRPC
import SignetServiceDescription
import SignetSystem
import SignetTransport

/// The body of a REST call in place of JSON: a file's bytes, or a form.
struct CallBodyOptions: ParsableArguments {
    @Option(
        name: .customLong("body"),
        help: ArgumentHelp(
            """
            With rest: send this file unchanged, of any size; - is standard input, up to 64 MiB. \
            Parameters then go into the path and the query.
            """,
            valueName: "file"), completion: .file())
    var file: String?

    @Option(
        name: .customLong("content-type"),
        help: ArgumentHelp(
            """
            The type of --body, such as text/csv; without it, the one type that the service's \
            description names, or application/octet-stream.
            """,
            valueName: "type"))
    var contentType: String?

    @Option(
        name: .customLong("form"), parsing: .unconditionalSingleValue,
        help: ArgumentHelp(
            """
            With rest: a field of a form, which is sent URL-encoded, or as multipart/form-data \
            together with --file. Names may repeat.
            """,
            valueName: "name=value"))
    var fields: [String] = []

    @Option(
        name: .customLong("secret-form"), parsing: .unconditionalSingleValue,
        help: ArgumentHelp(
            "A field of the form whose value is a secret: NAME=SOURCE, as with --secret-header.",
            valueName: "name=source"))
    var secretFields: [String] = []

    @Option(
        name: .customLong("file"), parsing: .unconditionalSingleValue,
        help: ArgumentHelp(
            """
            With rest: a file of a multipart form, of any size; - is standard input, up to 64 MiB. \
            A type may follow: photo=a.png;type=image/png. A path in double quotes may contain \
            anything, with a backslash before a quote or a backslash.
            """,
            valueName: "name=path"))
    var files: [String] = []

    /// Whether the call makes its body itself.
    var isEmpty: Bool { file == nil && !isForm }

    private var isForm: Bool { !fields.isEmpty || !secretFields.isEmpty || !files.isEmpty }

    /// How many of the options read standard input.
    var countOfStandardInputs: Int {
        (file == "-" ? 1 : 0) + files.count { FilePart($0)?.path == "-" }
    }

    func validate() throws {
        guard file == nil || !isForm else {
            throw ValidationError("--body is the whole body; it excludes --form and --file")
        }
        guard contentType == nil || file != nil else {
            throw ValidationError("--content-type needs --body")
        }
        if let contentType { try Self.require(type: contentType, "--content-type") }
        for field in fields {
            guard let (name, _) = NamedText.split(field) else {
                throw ValidationError("--form is NAME=VALUE")
            }
            // Arguments are there for all of the machine to read (RFC 6749, 7521 and 7636).
            guard !Self.secretNames.contains(name) else {
                throw ValidationError(
                    "\(name) is a secret; give it with --secret-form NAME=SOURCE")
            }
        }
        for field in secretFields where NamedText.split(field)?.text.isEmpty != false {
            throw ValidationError("--secret-form is NAME=SOURCE")
        }
        for file in files {
            guard let part = FilePart(file) else {
                throw ValidationError(
                    "--file is NAME=PATH, or NAME=PATH;type=TYPE; a PATH that begins with a quote "
                        + "ends with one")
            }
            if let type = part.type { try Self.require(type: type, "the type of --file") }
        }
    }

    private static let secretNames: Set<String> = [
        "client_assertion", "client_secret", "code_verifier", "password", "refresh_token",
    ]

    private static func require(type: String, _ option: String) throws {
        do {
            _ = try RESTBody.bytes([], contentType: type)
        } catch {
            throw ValidationError("\(option): expected a media type, such as text/csv")
        }
    }

    /// Refuses methods whose requests have no content (RFC 9110, section 9.3).
    func requireFit(_ method: RPCMethod) throws {
        let verb = method.name.prefix { $0 != " " }
        guard !["GET", "HEAD", "TRACE", "CONNECT"].contains(verb) else {
            throw ToolError.usage("a request with \(verb) has no body; expected POST, PUT or PATCH")
        }
    }

    // MARK: The body

    /// A body, ready to be sent.
    enum Content {
        case bytes(RESTBody)
        case stream(HTTPRequestBody, contentType: String)
        case upload(MultipartUpload)

        /// Makes the call with it.
        func send(
            _ request: RESTRequest, to service: ServiceName, by system: NetworkSystem,
            trace: CallTrace?
        ) async throws -> UnboxedResponse {
            switch self {
            case .bytes(let body):
                var request = request
                request.body = body
                return try await system.call(
                    request, on: service, options: .init(trace: trace))
            case .stream(let body, let contentType):
                return try await system.upload(
                    body, contentType: contentType, with: request, to: service,
                    options: .init(trace: trace))
            case .upload(let upload):
                return try await system.upload(
                    upload, with: request, to: service, options: .init(trace: trace))
            }
        }
    }

    /// Opens the files and reads the secrets; all before any connection.
    ///
    /// - Parameter method: The method's description; nil without a description.
    /// - Returns: The body and its description, and the values that came from sources of secrets.
    func content(
        for method: MethodDescription?
    ) async throws -> (Content, SuppliedBody, hidden: [String]) {
        if let file {
            let (content, about) = try await content(ofFile: file, for: method)
            return (content, about, [])
        }
        let secrets = try secretFields.compactMap(NamedText.split).map {
            (name: $0.name, text: try NamedText.secret($0.text))
        }
        let hidden = secrets.map(\.text)
        let fields = fields.compactMap(NamedText.split) + secrets
        guard !files.isEmpty || method?.onlyBodyType.map(Self.isMultipart) == true else {
            var form: JSONObject = [:]
            for (name, text) in fields {
                let before = form[name].map { $0.array ?? [$0] }
                form[name] = before.map { .array($0 + [.string(text)]) } ?? .string(text)
            }
            let body = try RESTBody.form(form)
            return (.bytes(body), SuppliedBody(body), hidden)
        }
        var form = MultipartForm()
        for (name, text) in fields { form.append(text, named: name) }
        var upload = MultipartUpload(fields: form, files: [])
        for part in files.compactMap(FilePart.init) {
            upload.files.append(
                MultipartUpload.File(
                    name: part.name, fileName: part.fileName,
                    contentType: part.type ?? "application/octet-stream",
                    content: try await Self.body(part.path)))
        }
        return (.upload(upload), SuppliedBody(form, files: upload.files.map(\.name)), hidden)
    }

    private static func isMultipart(_ type: String) -> Bool {
        type.lowercased().startsWithBytes(of: "multipart/form-data")
    }

    private func content(
        ofFile file: String, for method: MethodDescription?
    ) async throws -> (Content, SuppliedBody) {
        let type = contentType ?? method?.onlyBodyType ?? "application/octet-stream"
        let body = try await Self.body(file)
        guard method?.readsBody(ofType: type) == true, let length = body.length,
            length <= InputFile.defaultLimit
        else {
            return (.stream(body, contentType: type), SuppliedBody(contentType: type))
        }
        // The checked bytes are sent, even if the file changes.
        var bytes: [UInt8] = []
        var reader = try body.makeReader()
        while let piece = try await reader.next() { bytes += piece }
        let whole = try RESTBody.bytes(bytes, contentType: type)
        return (.bytes(whole), SuppliedBody(whole))
    }

    /// A file's bytes. Those of a pipe are read now, so that they have a length and can be signed.
    private static func body(_ path: String) async throws -> HTTPRequestBody {
        let body = try HTTPRequestBody.file(path)
        guard !body.isReplayable else { return body }
        var bytes: [UInt8] = []
        var reader = try body.makeReader()
        while let piece = try await reader.next() {
            guard bytes.count + piece.count <= InputFile.defaultLimit else {
                throw ToolError(
                    .bodyTooLarge,
                    "\(path == "-" ? "standard input" : Terminal.printable(path)) has more than "
                        + "\(InputFile.defaultLimit) bytes, which is the limit for input that is not a file"
                )
            }
            bytes += piece
        }
        return HTTPRequestBody(bytes)
    }
}

/// NAME=PATH, or NAME=PATH;type=TYPE. The path may be in quotes, as in curl's `--form`.
private struct FilePart {
    let name: String
    let path: String
    let type: String?

    init?(_ argument: String) {
        guard let (name, text) = NamedText.split(argument) else { return nil }
        self.name = name
        if text.utf8.first == ASCII.quote {
            guard let (path, rest) = Self.unquoted(text),
                rest.isEmpty || rest.startsWithBytes(of: ";type=")
            else { return nil }
            self.path = path
            type = rest.isEmpty ? nil : String(rest.dropFirst(6))
            if path.isEmpty { return nil }
            return
        }
        let mark = text.ranges(of: ";type=").last
        path = String(text[..<(mark?.lowerBound ?? text.endIndex)])
        type = mark.map { String(text[$0.upperBound...]) }
        if path.isEmpty { return nil }
    }

    /// Returns the text in quotes at the start of another, and the rest; nil without a closing
    /// quote.
    private static func unquoted(_ text: String) -> (String, Substring)? {
        var bytes: [UInt8] = []
        var rest = text.utf8.dropFirst()
        while let byte = rest.popFirst() {
            if byte == ASCII.quote {
                return (String(decoding: bytes, as: UTF8.self), Substring(rest))
            }
            let isEscape =
                byte == ASCII.backslash && [ASCII.quote, ASCII.backslash].contains(rest.first)
            bytes.append(isEscape ? rest.removeFirst() : byte)
        }
        return nil
    }

    /// The name that the server gets: the path's last component.
    var fileName: String {
        path == "-" ? name : String(path.split(separator: "/").last ?? Substring(name))
    }
}

/// NAME=TEXT, as options say it.
enum NamedText {
    /// Cuts at the first `=`; nil without one, or without a name.
    static func split(_ argument: String) -> (name: String, text: String)? {
        let bytes = argument.utf8
        guard let mark = bytes.firstIndex(of: 0x3D), mark > bytes.startIndex else { return nil }
        return (
            String(Substring(bytes[..<mark])), String(Substring(bytes[mark...].dropFirst()))
        )
    }

    /// The text of a source of secrets.
    static func secret(_ source: String) throws -> String {
        let secret = try KeySource(source).loadSecret("value", limit: 65_536)
        let span = secret.bytes
        guard let text = String(validating: span.indices.map { span[$0] }, as: UTF8.self) else {
            throw ToolError.usage("a secret value is not UTF-8")
        }
        return text
    }
}
#endif
