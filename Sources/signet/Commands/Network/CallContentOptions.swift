#if Tool
import ArgumentParser
import HTTPTypes
import SignetBase
import SignetCrypto
import SignetJSON
import SignetRPC
import SignetServiceDescription
import SignetSystem

/// The parameters and fields of a call.
struct CallContentOptions: ParsableArguments {
    @Option(
        name: .customLong("params"), parsing: .unconditional,
        help: ArgumentHelp(
            """
            The parameters, a JSON object or array; @FILE reads them from a file, and - from standard \
            input.
            """,
            valueName: "json"))
    var parameters: String?

    @Option(
        name: .customLong("param"), parsing: .unconditionalSingleValue,
        help: ArgumentHelp(
            """
            One parameter by name. VALUE is JSON if it is valid JSON (3, true, null, [1], "3"), \
            else text; it is always text if the service's description expects a text.
            """,
            valueName: "name=value"))
    var named: [String] = []

    @Option(
        name: .customLong("text-param"), parsing: .unconditionalSingleValue,
        help: ArgumentHelp(
            "One parameter by name whose value is always text.",
            valueName: "name=value"))
    var texts: [String] = []

    @Option(
        name: .customLong("secret-param"), parsing: .unconditionalSingleValue,
        help: ArgumentHelp(
            "One parameter by name whose value is a secret text: NAME=SOURCE, as with --secret-header.",
            valueName: "name=source"))
    var secrets: [String] = []

    @Option(
        name: .customLong("header"), parsing: .unconditionalSingleValue,
        help: ArgumentHelp("A field of the request.", valueName: "name: value"))
    var headers: [String] = []

    @Option(
        name: .customLong("secret-header"), parsing: .unconditionalSingleValue,
        help: ArgumentHelp(
            """
            A field whose value is a secret, such as Authorization: NAME=SOURCE, where SOURCE is FILE, \
            env:NAME, fd:N, credential:NAME or command:LINE.
            """,
            valueName: "name=source"))
    var secretHeaders: [String] = []

    /// Whether no parameter is given.
    var hasNoParameters: Bool {
        parameters == nil && named.isEmpty && texts.isEmpty && secrets.isEmpty
    }

    func validate() throws {
        _ = try plainFields()
        for header in secretHeaders { _ = try Self.secretField(header) }
        for pair in named + texts where NamedText.split(pair) == nil {
            throw ValidationError("--param and --text-param are NAME=VALUE")
        }
        for pair in secrets where NamedText.split(pair)?.text.isEmpty != false {
            throw ValidationError("--secret-param is NAME=SOURCE")
        }
    }

    /// The content that is read before the call, because some sources can be read only once.
    struct Given {
        /// All fields.
        var fields: HTTPFields
        /// The parameters of `--params`.
        var parameters: RPCParameters?
        /// The secret parameters.
        var secrets: [(name: String, text: String)]
        /// Every value that came from a source of secrets, which no recording may have.
        var hidden: [String]
    }

    /// Reads files and the sources of secrets.
    func given() throws -> Given {
        let (fields, hidden) = try fields()
        let parameters = try parameters.map(Self.read)
        let secrets = try secrets.compactMap(NamedText.split).map {
            (name: $0.name, text: try NamedText.secret($0.text))
        }
        return Given(
            fields: fields, parameters: parameters, secrets: secrets,
            hidden: hidden + secrets.map(\.text))
    }

    /// All parameters together; nil if none is given.
    ///
    /// - Parameters:
    ///   - given: The content that was read.
    ///   - description: The method's description, which says whether a value is a text or a number;
    ///     nil without one.
    func joined(
        _ given: Given, for description: MethodDescription? = nil
    ) throws -> RPCParameters? {
        let (whole, secrets) = (given.parameters, given.secrets)
        guard !named.isEmpty || !texts.isEmpty || !secrets.isEmpty else { return whole }
        var members: JSONObject = [:]
        switch whole {
        case .object(let object)?: members = object
        case .array?:
            throw ToolError.usage("--param gives parameters by name, --params by position")
        case nil: break
        }
        let plain = (named + texts).compactMap(NamedText.split)
        for (index, pair) in (plain + secrets).enumerated() {
            let (name, text) = pair
            guard members[name] == nil else {
                throw ToolError(
                    .invalidParameters, "a parameter is given twice")
            }
            let schema = description?.parameters.first { sameBytes($0.name, name) }?
                .schema
            members[name] =
                index < named.count ? Self.value(of: text, schema) : .string(text)
        }
        return .object(members)
    }

    /// Whether the parameters are all of standard input.
    var readsStandardInput: Bool { parameters == "-" || parameters == "@-" }

    /// Neither `@` nor `-` begins a JSON object or array.
    private static func read(_ text: String) throws -> RPCParameters {
        let isFile = text.utf8.first == 0x40
        guard isFile || text == "-" else { return try RPCParameters(parsing: Array(text.utf8)) }
        let path = isFile ? String(text.dropFirst()) : text
        guard !path.isEmpty else {
            throw ToolError.usage("--params @FILE: missing the name of the file")
        }
        let bytes = try InputFile.read(path)
        do throws(PayloadError) {
            return try RPCParameters(parsing: bytes)
        } catch {
            throw ToolError(error.code, "\(path): \(error.message)")
        }
    }

    /// Returns JSON if the text is valid JSON and the schema accepts it, or else the text.
    private static func value(of text: String, _ schema: ParameterSchema?) -> JSONValue {
        guard let json = try? JSONValue(parsing: Array(text.utf8)) else { return .string(text) }
        if let schema, schema.mismatch(json) != nil, schema.mismatch(.string(text)) == nil {
            return .string(text)
        }
        return json
    }

    /// All fields, and the values of the secret ones.
    private func fields() throws -> (HTTPFields, hidden: [String]) {
        var fields = try plainFields()
        var hidden: [String] = []
        for header in secretHeaders {
            let (name, source) = try Self.secretField(header)
            let text = try NamedText.secret(source)
            guard HTTPField.isValidValue(text) else {
                throw ToolError.usage("the value of a secret header is not valid in an HTTP field")
            }
            var field = HTTPField(name: name, value: text)
            field.indexingStrategy = .disallow
            fields.append(field)
            hidden.append(text)
        }
        return (fields, hidden)
    }

    private static func secretField(
        _ header: String
    ) throws -> (name: HTTPField.Name, source: String) {
        guard let (name, source) = NamedText.split(header), let name = HTTPField.Name(name),
            !source.isEmpty
        else { throw ValidationError("--secret-header is NAME=SOURCE") }
        try refuseOwn(name, of: "--secret-header")
        return (name, source)
    }

    private static func refuseOwn(_ name: HTTPField.Name, of option: String) throws {
        guard name != .contentType else {
            throw ValidationError(
                "\(option) cannot set content-type: JSON and forms have theirs, and --content-type "
                    + "says what --body is")
        }
        guard !own.contains(name.canonicalName) else {
            throw ValidationError("\(option) cannot set \(name.canonicalName): the call makes it")
        }
    }

    /// The fields of `--header`, in their order.
    private func plainFields() throws -> HTTPFields {
        var fields: HTTPFields = [:]
        for header in headers {
            let bytes = Array(header.utf8)
            let colon = bytes.firstIndex(of: 0x3A) ?? bytes.endIndex
            let value = bytes[colon...].dropFirst().trimmingBlanks()
            let text = String(decoding: value, as: UTF8.self)
            guard colon < bytes.endIndex,
                let name = HTTPField.Name(String(decoding: bytes[..<colon], as: UTF8.self)),
                HTTPField.isValidValue(text)
            else { throw ValidationError("--header is 'NAME: VALUE', without control characters") }
            try Self.refuseOwn(name, of: "--header")
            // Arguments are there for all of the machine to read.
            guard !["authorization", "cookie", "proxy-authorization"].contains(name.canonicalName)
            else {
                throw ValidationError(
                    "\(name.canonicalName) is a secret; give it with --secret-header NAME=SOURCE")
            }
            fields.append(HTTPField(name: name, value: text))
        }
        return fields
    }

    /// Fields that are the protocol's or the connection's.
    private static let own: Set<String> = [
        "accept", "connection", "content-length", "content-type", "expect", "host", "keep-alive",
        "proxy-connection", "te", "trailer", "transfer-encoding", "upgrade",
    ]
}
#endif
