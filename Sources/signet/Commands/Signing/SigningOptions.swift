#if Tool
import ArgumentParser
import SignetBase
import SignetCrypto
import SignetJSON
import SignetSigning
import SignetSystem

/// The options of both `sign` and `verify`.
struct SigningOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "The signing scheme: a name of `signet schemes list`, or a scheme's document.",
            valueName: "name|file"), completion: .list(SigningScheme.names))
    var scheme: String?

    @OptionGroup var options: SchemeOptions

    @Option(
        name: [.customShort("k"), .long],
        help: "The keys: FILE, env:NAME, fd:N, command:LINE or credential:NAME.",
        completion: .file())
    var keys: String?

    @OptionGroup var identity: IdentityOptions

    @OptionGroup var project: ProjectOptions

    @Flag(name: .customLong("plain-http"), help: "The request travels without TLS.")
    var plainHTTP = false

    @Option(
        help: ArgumentHelp(
            "The request that a response answers; components with ;req are taken from it.",
            valueName: "file"), completion: .file())
    var request: String?

    @Option(
        help: ArgumentHelp("Trailers of the message, as field lines.", valueName: "file"),
        completion: .file())
    var trailers: String?

    @Option(
        help: ArgumentHelp(
            """
            The message's body, if the message is only a head: of any size, read in pieces. - is \
            standard input.
            """, valueName: "file"), completion: .file())
    var body: String?

    @Argument(
        help: "The message as HTTP/1.1 text; - or nothing is standard input.",
        completion: .file())
    var file: String?

    /// The scheme: built in by its name, else of a file.
    func resolvedScheme() throws -> SigningScheme {
        let project = try project.load().acting
        let named = try project.required(
            scheme ?? project.scheme, option: "--scheme NAME|FILE", member: "scheme")
        return try SigningScheme(nameOrFile: named, insecure: options.insecureSchemeOk)
    }

    /// The settings of `--set`, and for `rfc9421` the types of fields.
    func settings(
        of scheme: SigningScheme
    ) throws -> (values: [String: String], fieldTypes: StructuredFieldTypes) {
        try scheme.split(options.settings())
    }

    func loadKeys(notingOn terminal: Terminal) throws -> KeySet {
        let project = try project.load().acting
        let source = try project.required(
            project.keys(keys), option: "--keys SOURCE", variable: "SIGNET_KEYS", member: "keys")
        return try identity.load(source, of: project, notingOn: terminal)
    }

    /// The message, with its trailers and the request that it answers.
    func message() throws -> SignableMessage {
        var message = try SignableMessage(file: file, plainHTTP: plainHTTP)
        if let trailers {
            for field in try SignableMessage.trailers(file: trailers) {
                message.appendTrailer(field)
            }
        }
        if let request {
            do {
                try message.setRelatedRequest(
                    try SignableMessage(file: request, plainHTTP: plainHTTP))
            } catch let error as SigningError {
                throw SigningError(error.code, "--request: \(error.message)")
            }
        }
        if body == nil {
            do {
                try message.requireWholeBody()
            } catch {
                throw SigningError(error.code, "\(Self.shown(file)): \(error.message)")
            }
        }
        return message
    }

    /// Returns a message's file as errors name it.
    fileprivate static func shown(_ file: String?) -> String {
        Terminal.printable(file.flatMap { $0 == "-" ? nil : $0 } ?? "standard input")
    }

    /// The body of `--body`, opened, for a message that has none of its own; nil without the
    /// option.
    func openedBody(of message: SignableMessage) throws -> BodyFile? {
        guard let body else { return nil }
        guard body != "-" || (file != nil && file != "-") else {
            throw ToolError.usage(
                "found standard input twice, expected only one of the message and --body to be it")
        }
        guard message.body.isEmpty else {
            throw ToolError.usage("found a body in the message and --body, expected one of them")
        }
        return try BodyFile(body)
    }
}

extension SignableMessage {
    /// Reads a message from a file or standard input; an error names the file.
    init(file: String?, plainHTTP: Bool) throws {
        let text = try InputFile.read(file)
        do {
            try self.init(parsing: text, plainHTTP: plainHTTP)
        } catch {
            throw SigningError(error.code, "\(SigningOptions.shown(file)): \(error.message)")
        }
    }
}

extension SignableMessage {
    /// Reads field lines from a file, by the rules of a message's own.
    static func trailers(file: String) throws -> [Field] {
        let text = try InputFile.read(file)
        do {
            let head = Array("HTTP/1.1 200\n".utf8)
            let whole = try SignableMessage(parsing: head + text + Array("\n\n".utf8))
            guard whole.body.allSatisfy({ $0 == 0x0A || $0 == 0x0D }) else {
                throw SigningError(
                    .malformedMessage,
                    "found a blank line between the trailers, expected it after them")
            }
            return whole.fields
        } catch let error as SigningError {
            throw SigningError(
                error.code, "\(Terminal.printable(file)): trailers: \(error.message)")
        }
    }
}

extension JSONObject {
    /// Adds bytes as text, or as `nameBase64` if they are not UTF-8.
    mutating func setText(_ name: String, to bytes: [UInt8]) {
        if let text = String(validating: bytes, as: UTF8.self) {
            self[name] = .string(text)
        } else {
            self[name + "Base64"] = .string(Base64.encode(bytes, as: .standard))
        }
    }
}

extension MessagePart {
    /// The part as `{"identifier","value"}`.
    var json: JSONValue {
        var object: JSONObject = ["identifier": .string(identifier)]
        object.setText("value", to: value)
        return .object(object)
    }

    /// The part as a line for people.
    var line: String {
        Terminal.printable("\(identifier): \(String(decoding: value, as: UTF8.self))")
    }
}

/// Returns an option's number of seconds, if it isn't negative.
func seconds(_ value: Int64?, of option: String) throws -> Int64? {
    if let value, value < 0 {
        throw ToolError.usage("\(option): found \(value), expected 0 or more")
    }
    return value
}

/// Returns an option's time in Unix seconds, if it is in the years 1970 to 9999.
func unixTime(_ value: Int64?, of option: String) throws -> Int64? {
    if let value, value > UnixTime.latest {
        throw ToolError(
            .invalidTime,
            "\(option): found \(value), expected at most \(UnixTime.latest) (year 9999)")
    }
    return try seconds(value, of: option)
}
#endif
