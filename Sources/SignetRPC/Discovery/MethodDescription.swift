public import HTTPTypes
public import SignetJSON

/// What a service says of one of its methods.
public struct MethodDescription: Sendable, Hashable {
    /// Whether parameters go by position, by name, or as the caller likes.
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
        /// Where a parameter goes.
        public enum Place: String, Sendable, Hashable {
            /// Among a remote procedure's parameters.
            case parameters = "params"
            /// Into a place of the path.
            case path
            /// Into the query.
            case query
            /// Into a field of the request.
            case header
            /// Into a cookie.
            case cookie
            /// Into the body, as a member of its object.
            case body
        }

        /// The name.
        public let name: String
        /// Where it goes.
        public let place: Place
        /// Whether it must be there.
        public let isRequired: Bool
        /// What it may be.
        public let schema: ParameterSchema
        /// How it joins the query; nil for the usual way.
        let style: QueryStyle?
    }

    /// What a body is, where the method has one.
    struct Body: Sendable, Hashable {
        var schema: ParameterSchema
        var isRequired: Bool
        var encoding: RESTAdapter.BodyEncoding
    }

    /// The name by which it is called; with REST the operation's id, or method and path.
    public let name: String
    /// The method as it is boxed: with REST `GET /orders/{id}`.
    public let method: RPCMethod
    /// What it does, in the service's words.
    public let summary: String?
    /// The parameters, in order.
    public let parameters: [Parameter]
    /// How they go.
    public let structure: Structure
    /// The body that parameters can make.
    let body: Body?
    /// The bodies that it takes: nil for none, empty where nothing is known of them.
    let bodyTypes: [BodyType]?
    /// Why it cannot be called with parameters; nil where it can.
    let hindrance: String?
    /// Why its body cannot be made of parameters; nil where it can.
    let bodyHindrance: String?

    /// The method in one line: its name, its parameters (with `?` where they may be left out) and its
    /// summary; nothing of it can move a cursor.
    public var line: String {
        let list = parameters.map { parameter in
            let name = Printable.text(parameter.name, limit: 64)
            return "\(name)\(parameter.isRequired ? "" : "?"): \(parameter.schema.typeName)"
        }
        let head = "\(Printable.text(name))(\(list.joined(separator: ", ")))"
        return summary.map { "\(head)  \(Printable.text($0))" } ?? head
    }

    /// The method as JSON: name, method, summary, the types of its body and parameters.
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
    ///   - given: The parameters.
    ///   - fields: What else the request carries: a parameter that is a field or a cookie may stand there.
    ///     No value of theirs is repeated.
    ///   - body: The request's body where it is not made of parameters. No value of it is repeated.
    /// - Throws: `RPCError` with code `invalid-params` that names the parameter, what was found and what is
    ///   expected, or `unsupported-call` for a method that parameters by name cannot call.
    public func check(
        _ given: RPCParameters?, fields: HTTPFields = [:], body: SuppliedBody? = nil
    ) throws(RPCError) {
        let hasBody = body != nil
        if let hindrance = hindrance ?? (hasBody ? nil : bodyHindrance) {
            throw RPCError(code: .unsupportedCall, message: "\(Printable.name(name)) \(hindrance)")
        }
        if let body { try check(body) }
        switch given {
        case .array(let values) where !values.isEmpty:
            guard structure != .byName else {
                throw .invalidParameters("found parameters by position, expected them by name")
            }
            try check(byPosition: values)
        case .object(let members) where !members.isEmpty:
            guard structure != .byPosition else {
                throw .invalidParameters("found parameters by name, expected them by position")
            }
            try check(byName: members, fields, hasBody)
        default: try check(byName: [:], fields, hasBody)
        }
    }

    private func check(byPosition values: [JSONValue]) throws(RPCError) {
        guard values.count <= parameters.count else {
            throw .invalidParameters(
                "found \(values.count) parameters, expected at most \(parameters.count)")
        }
        for (index, parameter) in parameters.enumerated() {
            guard index < values.count else {
                if parameter.isRequired { throw missing(parameter) }
                continue
            }
            try check(values[index], parameter)
        }
    }

    private func check(
        byName members: JSONObject, _ fields: HTTPFields, _ hasBody: Bool
    ) throws(RPCError) {
        var rest = members
        for parameter in parameters where parameter.place != .body {
            guard let value = members[parameter.name] else {
                if let text = parameter.text(in: fields) {
                    try check(field: text, parameter)
                } else if parameter.isRequired {
                    throw missing(parameter)
                }
                continue
            }
            rest[parameter.name] = nil
            try check(value, parameter)
        }
        guard let body, !hasBody else {
            guard let unknown = rest.memberNames.first else { return }
            let known = parameters.filter { $0.place != .body || !hasBody }.map(\.name)
            throw .invalidParameters(
                "found a parameter \(Printable.name(unknown)), expected "
                    + (known.isEmpty ? "none" : "one of \(Self.list(known))"))
        }
        guard !rest.isEmpty || body.isRequired else { return }
        guard body.encoding == .json else { return }
        if let found = body.schema.mismatch(.object(rest)) { throw refusal(found, "the body") }
    }

    /// A value that may be a secret, and so is not repeated.
    private func check(field text: String, _ parameter: Parameter) throws(RPCError) {
        do throws(RPCError) {
            try check(.string(text), parameter)
        } catch {
            throw .invalidParameters(
                "the parameter \(Printable.name(parameter.name)): its \(parameter.place.rawValue) is "
                    + "found, and its value is none that is expected (\(parameter.schema.typeName))"
            )
        }
    }

    private func check(_ value: JSONValue, _ parameter: Parameter) throws(RPCError) {
        guard let found = parameter.schema.mismatch(value) else { return }
        // In a URL or a field everything is text, and an array of one is its element.
        if parameter.place != .parameters, parameter.place != .body {
            for other in Self.otherForms(of: value) where parameter.schema.mismatch(other) == nil {
                return
            }
        }
        throw refusal(found, "the parameter \(Printable.name(parameter.name))")
    }

    private static func otherForms(of value: JSONValue) -> [JSONValue] {
        var forms: [JSONValue] = []
        if let text = value.scalarText {
            forms.append(.string(text))
            if let parsed = try? JSONValue(parsing: Array(text.utf8)) { forms.append(parsed) }
        }
        if case .array(let elements) = value {
            forms.append(.array(elements.map { $0.scalarText.map(JSONValue.string) ?? $0 }))
            forms.append(
                .array(
                    elements.map { element in
                        let text = element.scalarText.map { Array($0.utf8) }
                        return text.flatMap { try? JSONValue(parsing: $0) } ?? element
                    }))
        }
        return forms + forms.map { .array([$0]) } + [.array([value])]
    }

    private func missing(_ parameter: Parameter) -> RPCError {
        .invalidParameters(
            "the parameter \(Printable.name(parameter.name)): found nothing, expected "
                + parameter.schema.typeName)
    }

    func refusal(_ found: ParameterSchema.Mismatch, _ what: String) -> RPCError {
        let place = found.place.isEmpty ? "" : " at \(found.place)"
        return .invalidParameters(
            "\(what)\(place): found \(found.found), expected \(found.expected)")
    }

    static func list(_ names: [String]) -> String {
        names.prefix(12).map { Printable.text($0, limit: 40) }.joined(separator: ", ")
            + (names.count > 12 ? ", …" : "")
    }
}

extension MethodDescription.Parameter {
    /// The value that a request's fields have for it, where it is one of theirs.
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
