public import HTTPTypes
public import SignetJSON

/// What a service says of itself: an OpenRPC document (1.x), or an OpenAPI document (3.x) in JSON.
///
/// Methods can be listed, and a call's parameters checked before it is sent. Only what the document says
/// for certain is refused (``ParameterSchema``).
public struct ServiceDescription: Sendable, Hashable {
    /// A kind of document.
    public enum Kind: String, Sendable, Hashable {
        /// OpenRPC, of JSON-RPC 2.0 services.
        case openRPC = "openrpc"
        /// OpenAPI, of REST services.
        case openAPI = "openapi"
    }

    /// The kind of document.
    public let kind: Kind
    /// The service's title, in its own words.
    public let title: String?
    /// The methods, in the document's order.
    public let methods: [MethodDescription]

    /// Reads a document.
    ///
    /// - Throws: `RPCError` with code `malformed-description` that says where it is none.
    public init(parsing bytes: [UInt8]) throws(RPCError) {
        let document: JSONValue
        do throws(JSONError) {
            document = try JSONValue(parsing: bytes)
        } catch {
            throw .malformedDescription("it is not strict JSON: \(error.message)")
        }
        try self.init(document)
    }

    /// Takes a document that was read.
    ///
    /// - Throws: As `init(parsing:)`.
    public init(_ document: JSONValue) throws(RPCError) {
        title = document["info"]?["title"]?.string
        if document["openrpc"]?.string?.hasPrefix("1.") == true {
            kind = .openRPC
            methods = try OpenRPCReader(document: document).methods()
        } else if document["openapi"]?.string?.hasPrefix("3.") == true {
            kind = .openAPI
            methods = try OpenAPIReader(document: document).methods()
        } else if document["swagger"] != nil {
            throw .malformedDescription("found Swagger 2, expected openapi 3 or openrpc 1")
        } else {
            throw .malformedDescription("found neither openrpc 1.x nor openapi 3.x")
        }
    }

    /// The method of a name; with OpenAPI the operation's id, or method and path such as
    /// `GET /orders/{id}`.
    ///
    /// - Throws: `RPCError` with code `unknown-method`.
    public func method(named name: String) throws(RPCError) -> MethodDescription {
        let expected = RPCMethod(name)
        if let method = methods.first(where: {
            RPCMethod($0.name) == expected || $0.method == expected
        }
        ) {
            return method
        }
        throw RPCError(
            code: .unknownMethod,
            message: "found the method \(Printable.name(name)), expected "
                + (methods.isEmpty
                    ? "none: the description has no methods"
                    : "one of \(MethodDescription.list(methods.map(\.name)))"))
    }

    /// A call whose method and parameters fit the description, with the method as it is boxed.
    ///
    /// - Parameters:
    ///   - call: The call.
    ///   - fields: What else the request carries, where a parameter may stand too.
    ///   - body: The request's body where it is not made of parameters. No value of it is repeated.
    /// - Throws: `RPCError` with code `unknown-method`, `invalid-params` or `unsupported-call`.
    public func checked(
        _ call: RPCCall, fields: HTTPFields = [:], body: SuppliedBody? = nil
    ) throws(RPCError) -> RPCCall {
        let method = try method(named: call.method.name)
        try method.check(call.parameters, fields: fields, body: body)
        var call = call
        call.method = method.method
        return call
    }

    /// The adapter by which a REST method's parameters go where its description says.
    public func adapter(
        for method: MethodDescription, from adapter: RESTAdapter = RESTAdapter()
    ) -> RESTAdapter {
        var adapter = adapter
        for parameter in method.parameters {
            switch parameter.place {
            case .query:
                adapter.queryParameters.insert(parameter.name)
                if let style = parameter.style { adapter.queryStyles[parameter.name] = style }
            case .header: adapter.headerParameters.insert(parameter.name)
            case .cookie: adapter.cookieParameters.insert(parameter.name)
            case .parameters, .path, .body: break
            }
        }
        if let body = method.body { adapter.bodyEncoding = body.encoding }
        return adapter
    }
}

extension RPCError {
    static func malformedDescription(_ what: String) -> RPCError {
        RPCError(
            code: .malformedDescription,
            message: "the service's description cannot be used: \(what)")
    }
}
