import ArgumentParser
import HTTPTypes
import SignetJSON
import SignetRPC

/// What a call carries: parameters and fields.
struct CallContentOptions: ParsableArguments {
    @Option(
        name: .customLong("params"), parsing: .unconditional,
        help: "The parameters, a JSON object or array.")
    var parameters: String?

    @Option(
        name: .customLong("param"), parsing: .unconditionalSingleValue,
        help: ArgumentHelp(
            """
            One parameter by name. VALUE is JSON where it is valid JSON (3, true, null, [1], "3"), else \
            text; where the service's description wants a text, it is one.
            """,
            valueName: "name=value"))
    var named: [String] = []

    @Option(
        name: .customLong("text-param"), parsing: .unconditionalSingleValue,
        help: ArgumentHelp(
            "One parameter by name whose value is text, whatever it looks like.",
            valueName: "name=value"))
    var texts: [String] = []

    @Option(
        name: .customLong("header"), parsing: .unconditionalSingleValue,
        help: ArgumentHelp("A field of the request.", valueName: "name: value"))
    var headers: [String] = []

    /// Whether no parameter is given.
    var hasNoParameters: Bool { parameters == nil && named.isEmpty && texts.isEmpty }

    func validate() throws {
        _ = try fields()
        for pair in named + texts where pair.utf8.first == 0x3D || !pair.utf8.contains(0x3D) {
            throw ValidationError("--param and --text-param are NAME=VALUE")
        }
    }

    /// All parameters together; nil where none is given.
    ///
    /// - Parameter description: The method's, which tells texts from numbers; nil where there is none.
    func joined(for description: MethodDescription? = nil) throws -> RPCParameters? {
        let whole = try parameters.map { try RPCParameters(parsing: Array($0.utf8)) }
        guard !named.isEmpty || !texts.isEmpty else { return whole }
        var members: JSONObject = [:]
        switch whole {
        case .object(let object)?: members = object
        case .array?:
            throw ToolError.usage("--param gives parameters by name, --params by position")
        case nil: break
        }
        for (index, pair) in (named + texts).enumerated() {
            let bytes = Array(pair.utf8)
            let mark = bytes.firstIndex(of: 0x3D) ?? bytes.endIndex
            let name = String(decoding: bytes[..<mark], as: UTF8.self)
            let text = String(decoding: bytes[mark...].dropFirst(), as: UTF8.self)
            guard members[name] == nil else {
                throw ToolError(.usage, "invalid-params", "a parameter is given twice")
            }
            let schema = description?.parameters.first { $0.name.utf8.elementsEqual(name.utf8) }?
                .schema
            members[name] =
                index < named.count ? Self.value(of: text, schema) : .string(text)
        }
        return .object(members)
    }

    /// What a text means: JSON where it is valid and the schema takes it, else the text.
    private static func value(of text: String, _ schema: ParameterSchema?) -> JSONValue {
        guard let json = try? JSONValue(parsing: Array(text.utf8)) else { return .string(text) }
        if let schema, schema.mismatch(json) != nil, schema.mismatch(.string(text)) == nil {
            return .string(text)
        }
        return json
    }

    /// The fields of `--header`, in their order.
    func fields() throws -> HTTPFields {
        var fields: HTTPFields = [:]
        for header in headers {
            let bytes = Array(header.utf8)
            let colon = bytes.firstIndex(of: 0x3A) ?? bytes.endIndex
            var value = bytes[colon...].dropFirst()
            while let first = value.first, first == 0x20 || first == 0x09 { value.removeFirst() }
            while let last = value.last, last == 0x20 || last == 0x09 { value.removeLast() }
            let text = String(decoding: value, as: UTF8.self)
            guard colon < bytes.endIndex,
                let name = HTTPField.Name(String(decoding: bytes[..<colon], as: UTF8.self)),
                HTTPField.isValidValue(text)
            else { throw ValidationError("--header is 'NAME: VALUE', without control characters") }
            guard !Self.own.contains(name.canonicalName) else {
                throw ValidationError(
                    "--header cannot set \(name.canonicalName): the call makes it")
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
