import SignetBase
import SignetJSON
import SignetRPC

/// Reads the operations of an OpenAPI 3 document.
struct OpenAPIReader {
    let document: JSONValue

    private static let verbs = [
        "get", "put", "post", "delete", "options", "head", "patch", "trace",
    ]

    func methods() throws(PayloadError) -> [MethodDescription] {
        guard let paths = document["paths"]?.object else {
            // Since 3.1 a document may have components only.
            guard document["paths"] == nil else {
                throw .malformedDescription("paths is not an object")
            }
            return []
        }
        var methods: [MethodDescription] = []
        for (path, item) in paths where path.utf8.first == UInt8(ascii: "/") {
            guard let item = item.resolved(in: document) else { continue }
            for (verb, operation) in item.object ?? [:] where Self.verbs.contains(verb) {
                methods.append(
                    try method(
                        verb: verb.uppercased(), path: path, operation: operation, item: item))
            }
        }
        return methods
    }

    private func method(
        verb: String, path: String, operation: JSONValue, item: JSONValue
    ) throws(PayloadError) -> MethodDescription {
        let method = "\(verb) \(path)"
        var unsupportedReason: String?
        var parameters: [MethodDescription.Parameter] = []
        // The operation's own parameters override the path's.
        var taken: Set<ByteName> = []
        for list in [operation["parameters"], item["parameters"]] {
            for element in list?.array ?? [] {
                guard let parameter = element.resolved(in: document) else {
                    unsupportedReason = "has parameters in another document"
                    continue
                }
                guard let name = parameter["name"]?.string, let place = parameter["in"]?.string
                else {
                    throw .malformedDescription(
                        "a parameter of \(quoted(method)) has no name or no member \"in\"")
                }
                // The case of field names doesn't matter.
                let known = place == "header" ? name.lowercased() : name
                guard taken.insert(ByteName("\(place) \(known)")).inserted,
                    let place = Self.place(place, ofParameter: name)
                else { continue }
                parameters.append(
                    try self.parameter(
                        from: parameter, name: name, place: place,
                        unsupportedReason: &unsupportedReason))
            }
        }
        let required = parameters.filter(\.isRequired)
        if Set(required.map { ByteName($0.name) }).count < required.count {
            unsupportedReason = "requires parameters with the same name in several places"
        }
        var bodyUnsupportedReason: String?
        let bodyTypes = bodyTypes(of: operation)
        var body = body(
            of: operation, types: bodyTypes ?? [], unsupportedReason: &bodyUnsupportedReason)
        if let found = body, !["POST", "PUT", "PATCH"].contains(verb) {
            // With other methods all parameters become part of the query.
            if found.isRequired { bodyUnsupportedReason = "needs a body with the method \(verb)" }
            body = nil
        }
        if let body { parameters += members(of: body) }
        return MethodDescription(
            name: operation["operationId"]?.string ?? method, method: RPCMethod(method),
            summary: operation["summary"]?.string, parameters: parameters, structure: .byName,
            body: body, bodyTypes: bodyTypes, unsupportedReason: unsupportedReason,
            bodyUnsupportedReason: bodyUnsupportedReason)
    }

    /// Returns a parameter's place; nil if the caller cannot set it, such as a field that the
    /// client sets.
    private static func place(_ place: String, ofParameter name: String) -> MethodDescription
        .Parameter.Place?
    {
        switch place {
        case "path": .path
        case "query": .query
        case "cookie": .cookie
        case "header": ownFields.contains(name.lowercased()) ? nil : .header
        default: nil
        }
    }

    /// OpenAPI excludes the first three from parameters; the others belong to the connection.
    private static let ownFields: Set<String> = [
        "accept", "authorization", "content-type", "connection", "content-length", "expect", "host",
        "keep-alive", "proxy-authorization", "proxy-connection", "te", "trailer",
        "transfer-encoding", "upgrade",
    ]

    private func parameter(
        from parameter: JSONValue, name: String, place: MethodDescription.Parameter.Place,
        unsupportedReason: inout String?
    ) throws(PayloadError) -> MethodDescription.Parameter {
        let style = parameter["style"]?.string
        let schema = parameter["schema"]
        var queryStyle: QueryStyle?
        switch place {
        case .query where schema != nil:
            queryStyle = QueryStyle(openAPI: style, explodes: parameter["explode"]?.bool)
            if queryStyle == nil { unsupportedReason = "has a query parameter in an unknown style" }
        case .path where style != nil && style != "simple":
            unsupportedReason =
                "has a path parameter in the unsupported style \(quoted(style ?? ""))"
        default: break
        }
        return MethodDescription.Parameter(
            name: name, place: place,
            isRequired: place == .path || parameter["required"]?.bool == true,
            schema: ParameterSchema(schema ?? true, in: document), style: queryStyle)
    }

    /// Returns the types of bodies that an operation takes; nil if it takes none.
    private func bodyTypes(of operation: JSONValue) -> [MethodDescription.BodyType]? {
        guard let request = operation["requestBody"] else { return nil }
        let content = request.resolved(in: document)?["content"]?.object ?? [:]
        return content.map { name, content in
            // Ignore the schema of a name that is not a media type.
            let schema = MediaType(name) == nil ? nil : content["schema"]
            return MethodDescription.BodyType(
                name: name, schema: ParameterSchema(schema ?? true, in: document))
        }
    }

    /// Returns the body that parameters become: JSON if the operation takes it, otherwise a form.
    private func body(
        of operation: JSONValue, types: [MethodDescription.BodyType],
        unsupportedReason: inout String?
    ) -> MethodDescription.Body? {
        guard let request = operation["requestBody"]?.resolved(in: document) else { return nil }
        let isRequired = request["required"]?.bool ?? false
        let json: Set = ["application/json", "application/*", "*/*"]
        let jsonType = types.first { MediaType($0.name).map { json.contains($0.essence) } == true }
        let formType = types.last { MediaType($0.name)?.essence == SuppliedBody.formType }
        guard let type = jsonType ?? formType else {
            if isRequired { unsupportedReason = "needs a body that is neither JSON nor a form" }
            return nil
        }
        return MethodDescription.Body(
            schema: type.schema, isRequired: isRequired, encoding: jsonType == nil ? .form : .json)
    }

    /// Returns the members that a body's schema names, to list them as parameters.
    private func members(of body: MethodDescription.Body) -> [MethodDescription.Parameter] {
        guard let schema = body.schema.value.resolved(in: document) else { return [] }
        let required = (schema["required"]?.array ?? []).compactMap(\.string)
        return (schema["properties"]?.object ?? [:]).map { name, value in
            MethodDescription.Parameter(
                name: name, place: .body,
                isRequired: body.isRequired
                    && required.contains { sameBytes($0, name) },
                schema: ParameterSchema(value, in: document), style: nil)
        }
    }
}
