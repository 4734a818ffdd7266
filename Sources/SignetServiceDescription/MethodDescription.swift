public import HTTPTypes
import SignetBase
public import SignetJSON
public import SignetRPC

/// A service's description of one of its methods.
public struct MethodDescription: Sendable, Hashable {
    /// Whether parameters are given by position, by name or either way.
    public enum Structure: String, Sendable, Hashable {
        /// In an array.
        case byPosition = "by-position"
        /// In an object.
        case byName = "by-name"
        /// Either way.
        case either
    }

    /// One parameter.
    public struct Parameter: Sendable, Hashable {
        /// The place of a parameter in a request.
        public enum Place: String, Sendable, Hashable {
            /// In the parameters of a remote procedure call.
            case parameters = "params"
            /// In the path.
            case path
            /// In the query.
            case query
            /// In a field of the request.
            case header
            /// In a cookie.
            case cookie
            /// In the body, as a member of its object.
            case body
        }

        /// The name.
        public let name: String
        /// The place in the request.
        public let place: Place
        /// Whether the parameter is required.
        public let isRequired: Bool
        /// The schema of the value.
        public let schema: ParameterSchema
        /// The style in the query; nil for the default.
        let style: QueryStyle?
    }

    /// The body that is made of parameters.
    struct Body: Sendable, Hashable {
        var schema: ParameterSchema
        var isRequired: Bool
        var encoding: RESTAdapter.BodyEncoding
    }

    /// The name to call it by; with REST the operation's id, or method and path.
    public let name: String
    /// The method as boxed; with REST method and path, such as `GET /orders/{id}`.
    public let method: RPCMethod
    /// The service's summary of the method.
    public let summary: String?
    /// The parameters, in order.
    public let parameters: [Parameter]
    /// Whether the parameters are given by position, by name or either way.
    public let structure: Structure
    /// The body that parameters become; nil if there isn't one.
    let body: Body?
    /// The types of bodies that the method takes: nil for no body, empty if the types are unknown.
    let bodyTypes: [BodyType]?
    /// Why the method cannot be called with parameters; nil if it can.
    let unsupportedReason: String?
    /// Why its body cannot be made of parameters; nil if it can.
    let bodyUnsupportedReason: String?

    /// The method in one line: its name, its parameters (with `?` for optional ones) and its
    /// summary, with control characters escaped.
    public var line: String {
        let list = parameters.map { parameter in
            let name = printable(parameter.name, limit: 64)
            return "\(name)\(parameter.isRequired ? "" : "?"): \(parameter.schema.typeName)"
        }
        let head = "\(printable(name, limit: 200))(\(list.joined(separator: ", ")))"
        return summary.map { "\(head)  \(printable($0, limit: 200))" } ?? head
    }

    /// The method as JSON: name, method, summary, the types of its body, and parameters.
    public var object: JSONObject {
        var object: JSONObject = ["name": .string(name)]
        if method != RPCMethod(name) { object["method"] = .string(method.name) }
        object["summary"] = summary.map(JSONValue.string)
        object["body"] = bodyTypeNames.map { .array($0.map(JSONValue.string)) }
        object["params"] = .array(
            parameters.map { parameter in
                [
                    "name": .string(parameter.name), "in": .string(parameter.place.rawValue),
                    "required": .bool(parameter.isRequired), "schema": parameter.schema.value,
                ]
            })
        return object
    }

    // MARK: The check

    /// Checks parameters before they are sent.
    ///
    /// - Parameters:
    ///   - supplied: The parameters.
    ///   - fields: The request's other fields, which may contain a parameter that is a field or a
    ///     cookie. Messages don't contain their values.
    ///   - body: The request's body if it is not made of parameters. Messages don't contain its
    ///     values.
    /// - Throws: `PayloadError` with code `invalid-params` that names the parameter, what was found
    ///   and what was expected, or `unsupported-call` for a method that cannot be called with
    ///   parameters by name.
    public func check(
        _ supplied: RPCParameters?, fields: HTTPFields = [:], body: SuppliedBody? = nil
    ) throws(PayloadError) {
        let hasBody = body != nil
        if let unsupportedReason = unsupportedReason ?? (hasBody ? nil : bodyUnsupportedReason) {
            throw PayloadError(.unsupportedCall, "\(quoted(name)) \(unsupportedReason)")
        }
        if let body { try check(body) }
        switch supplied {
        case .array(let values) where !values.isEmpty:
            guard structure != .byName else {
                throw .invalidParameters("found parameters by position, expected them by name")
            }
            try check(byPosition: values)
        case .object(let members) where !members.isEmpty:
            guard structure != .byPosition else {
                throw .invalidParameters("found parameters by name, expected them by position")
            }
            try check(byName: members, fields: fields, hasBody: hasBody)
        default: try check(byName: [:], fields: fields, hasBody: hasBody)
        }
    }

    private func check(byPosition values: [JSONValue]) throws(PayloadError) {
        guard values.count <= parameters.count else {
            throw .invalidParameters(
                "found \(values.count) parameters, expected at most \(parameters.count)")
        }
        for (value, parameter) in zip(values, parameters) { try check(value, for: parameter) }
        if let parameter = parameters.dropFirst(values.count).first(where: \.isRequired) {
            throw missing(parameter)
        }
    }

    private func check(
        byName members: JSONObject, fields: HTTPFields, hasBody: Bool
    ) throws(PayloadError) {
        var rest = members
        for parameter in parameters where parameter.place != .body {
            guard let value = members[parameter.name] else {
                if let text = parameter.text(in: fields) {
                    try check(field: text, for: parameter)
                } else if parameter.isRequired {
                    throw missing(parameter)
                }
                continue
            }
            rest[parameter.name] = nil
            try check(value, for: parameter)
        }
        guard let body, !hasBody else {
            guard let unknown = rest.memberNames.first else { return }
            let known = parameters.filter { $0.place != .body || !hasBody }.map(\.name)
            throw .invalidParameters(
                "found a parameter \(quoted(unknown)), expected "
                    + (known.isEmpty ? "none" : "one of \(Self.list(known))"))
        }
        guard body.encoding == .json, !rest.isEmpty || body.isRequired else { return }
        if let found = body.schema.mismatch(.object(rest)) {
            throw refusal(of: found, in: "the body")
        }
    }

    /// Checks a value that may be a secret, so the message doesn't repeat it.
    private func check(field text: String, for parameter: Parameter) throws(PayloadError) {
        do throws(PayloadError) {
            try check(.string(text), for: parameter)
        } catch {
            throw .invalidParameters(
                "the parameter \(quoted(parameter.name)): found an invalid value in its "
                    + "\(parameter.place.rawValue), expected \(parameter.schema.typeName)"
            )
        }
    }

    private func check(_ value: JSONValue, for parameter: Parameter) throws(PayloadError) {
        guard let found = parameter.schema.mismatch(value) else { return }
        // In a URL or a field everything is text, and an array of one element is written like the
        // element.
        if parameter.place != .parameters, parameter.place != .body {
            for other in Self.otherForms(of: value) where parameter.schema.mismatch(other) == nil {
                return
            }
        }
        throw refusal(of: found, in: "the parameter \(quoted(parameter.name))")
    }

    private static func otherForms(of value: JSONValue) -> [JSONValue] {
        func text(_ value: JSONValue) -> JSONValue? { value.scalarText.map(JSONValue.string) }
        func parsed(_ value: JSONValue) -> JSONValue? {
            value.scalarText.flatMap { try? JSONValue(parsing: Array($0.utf8)) }
        }
        var forms = [text(value), parsed(value)].compactMap(\.self)
        if let elements = value.array {
            forms.append(.array(elements.map { text($0) ?? $0 }))
            forms.append(.array(elements.map { parsed($0) ?? $0 }))
        }
        return forms + forms.map { .array([$0]) } + [.array([value])]
    }

    private func missing(_ parameter: Parameter) -> PayloadError {
        .invalidParameters(
            "the parameter \(quoted(parameter.name)): found nothing, expected "
                + parameter.schema.typeName)
    }

    func refusal(of found: ParameterSchema.Mismatch, in what: String) -> PayloadError {
        let place = found.place.isEmpty ? "" : " at \(found.place)"
        return .invalidParameters(
            "\(what)\(place): found \(found.found), expected \(found.expected)")
    }

    /// Returns at most 12 names, shortened, for a message.
    static func list(_ names: [String]) -> String {
        names.prefix(12).map { printable($0, limit: 40) }.joined(separator: ", ")
            + (names.count > 12 ? ", …" : "")
    }
}

extension MethodDescription.Parameter {
    /// Returns the parameter's value in a request's fields; nil if it is not a field or cookie
    /// there.
    fileprivate func text(in fields: HTTPFields) -> String? {
        switch place {
        case .header: return HTTPField.Name(name).flatMap { fields[$0] }
        case .cookie:
            for cookie in fields[values: .cookie].joined(separator: ";").utf8.split(separator: 0x3B)
            {
                let pair = cookie.drop { $0 == 0x20 }
                guard let sign = pair.firstIndex(of: 0x3D),
                    pair[..<sign].elementsEqual(name.utf8)
                else { continue }
                return String(Substring(pair[pair.index(after: sign)...]))
            }
            return nil
        default: return nil
        }
    }
}
