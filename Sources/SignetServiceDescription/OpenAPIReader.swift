internal import SignetRPC
import SignetJSON

/// Reads the operations of an OpenAPI 3 document.
struct OpenAPIReader {
    let document: JSONValue

    private static let verbs = [
        "get", "put", "post", "delete", "options", "head", "patch", "trace",
    ]

    func methods() throws(RPCError) -> [MethodDescription] {
        guard let paths = document["paths"]?.object else {
            // Since 3.1 a document may hold components alone.
            guard document["paths"] == nil else {
                throw .malformedDescription("paths is no object")
            }
            return []
        }
        var methods: [MethodDescription] = []
        for (path, item) in paths where path.utf8.first == UInt8(ascii: "/") {
            guard let item = item.resolved(in: document) else { continue }
            for (verb, operation) in item.object ?? [:] where Self.verbs.contains(verb) {
                methods.append(try method(verb.uppercased(), path, operation, item))
            }
        }
        return methods
    }

    private func method(
        _ verb: String, _ path: String, _ operation: JSONValue, _ item: JSONValue
    ) throws(RPCError) -> MethodDescription {
        let method = "\(verb) \(path)"
        var hindrance: String?
        var parameters: [MethodDescription.Parameter] = []
        // The operation's own take the place of the path's.
        var taken: Set<RPCMethod> = []
        for list in [operation["parameters"], item["parameters"]] {
            for element in list?.array ?? [] {
                guard let parameter = element.resolved(in: document) else {
                    hindrance = "has parameters that stand in another document"
                    continue
                }
                guard let name = parameter["name"]?.string, let place = parameter["in"]?.string
                else {
                    throw .malformedDescription(
                        "a parameter of \(Printable.name(method)) has no name or no place")
                }
                // The names of fields are the same in every case.
                let known = place == "header" ? name.lowercased() : name
                guard taken.insert(RPCMethod("\(place) \(known)")).inserted,
                    let place = Self.place(place, name)
                else { continue }
                parameters.append(try read(parameter, name, place, &hindrance))
            }
        }
        let required = parameters.filter(\.isRequired)
        if Set(required.map { RPCMethod($0.name) }).count < required.count {
            hindrance = "wants parameters of one name in several places"
        }
        var bodyHindrance: String?
        var body = body(operation, &bodyHindrance)
        if let found = body, !["POST", "PUT", "PATCH"].contains(verb) {
            // With other methods all parameters join the query.
            if found.isRequired { bodyHindrance = "wants a body with the method \(verb)" }
            body = nil
        }
        if let body { parameters += members(of: body) }
        return MethodDescription(
            name: operation["operationId"]?.string ?? method, method: RPCMethod(method),
            summary: operation["summary"]?.string, parameters: parameters, structure: .byName,
            body: body, bodyTypes: bodyTypes(operation), hindrance: hindrance,
            bodyHindrance: bodyHindrance)
    }

    /// Where a parameter goes; nil for what is none, such as the fields that a call makes itself.
    private static func place(_ place: String, _ name: String) -> MethodDescription.Parameter.Place?
    {
        switch place {
        case "path": .path
        case "query": .query
        case "cookie": .cookie
        case "header": ownFields.contains(name.lowercased()) ? nil : .header
        default: nil
        }
    }

    /// The first three are no parameters by OpenAPI; the others are the connection's.
    private static let ownFields: Set<String> = [
        "accept", "authorization", "content-type", "connection", "content-length", "expect", "host",
        "keep-alive", "proxy-authorization", "proxy-connection", "te", "trailer",
        "transfer-encoding", "upgrade",
    ]

    private func read(
        _ parameter: JSONValue, _ name: String, _ place: MethodDescription.Parameter.Place,
        _ hindrance: inout String?
    ) throws(RPCError) -> MethodDescription.Parameter {
        let style = parameter["style"]?.string
        let schema = parameter["schema"]
        var queryStyle: QueryStyle?
        switch place {
        case .query where schema != nil:
            queryStyle = QueryStyle(openAPI: style, explodes: parameter["explode"]?.bool)
            if queryStyle == nil { hindrance = "has a parameter in a style that is unknown" }
        case .path where style != nil && style != "simple":
            hindrance = "has a parameter in the path's style \(Printable.name(style ?? ""))"
        default: break
        }
        return MethodDescription.Parameter(
            name: name, place: place,
            isRequired: place == .path || parameter["required"]?.bool == true,
            schema: ParameterSchema(schema ?? true, in: document), style: queryStyle)
    }

    /// The bodies that an operation takes.
    private func bodyTypes(_ operation: JSONValue) -> [MethodDescription.BodyType]? {
        guard let request = operation["requestBody"] else { return nil }
        let content = request.resolved(in: document)?["content"]?.object ?? [:]
        return content.map { name, content in
            // Under a name that is no media type nothing is known.
            let schema = MediaType(name) == nil ? nil : content["schema"]
            return MethodDescription.BodyType(
                name: name, schema: ParameterSchema(schema ?? true, in: document))
        }
    }

    private func body(
        _ operation: JSONValue, _ hindrance: inout String?
    ) -> MethodDescription.Body? {
        guard let request = operation["requestBody"]?.resolved(in: document) else { return nil }
        let isRequired = request["required"]?.bool ?? false
        var form: MethodDescription.Body?
        for (type, content) in request["content"]?.object ?? [:] {
            let schema = ParameterSchema(content["schema"] ?? true, in: document)
            let essence = MediaType(type)?.essence
            if essence == "application/json" || essence == "application/*" || essence == "*/*" {
                return MethodDescription.Body(
                    schema: schema, isRequired: isRequired, encoding: .json)
            }
            if essence == "application/x-www-form-urlencoded" {
                form = MethodDescription.Body(
                    schema: schema, isRequired: isRequired, encoding: .form)
            }
        }
        if form == nil, isRequired { hindrance = "wants a body that is neither JSON nor a form" }
        return form
    }

    /// The members that a body's schema names, for those who list them.
    private func members(of body: MethodDescription.Body) -> [MethodDescription.Parameter] {
        guard let schema = body.schema.value.resolved(in: document) else { return [] }
        let required = (schema["required"]?.array ?? []).compactMap(\.string)
        return (schema["properties"]?.object ?? [:]).map { name, value in
            MethodDescription.Parameter(
                name: name, place: .body,
                isRequired: body.isRequired
                    && required.contains { $0.utf8.elementsEqual(name.utf8) },
                schema: ParameterSchema(value, in: document), style: nil)
        }
    }
}
