public import HTTPTypes
import SignetBase
public import SignetJSON
public import SignetRPC

/// A service's description of its methods: an OpenRPC document (1.x) or an OpenAPI document (3.x)
/// in JSON.
///
/// ```swift
/// import SignetJSON
/// import SignetRPC
///
/// let document = """
///     {"openrpc":"1.2.6","info":{"title":"Orders"},"methods":[{"name":"orders.get","params":
///     [{"name":"id","required":true,"schema":{"type":"integer","minimum":1}}]}]}
///     """
/// let service = try ServiceDescription(parsing: Array(document.utf8))
/// for method in service.methods { print(method.line) }  // orders.get(id: integer)
/// let call = RPCCall("orders.get", parameters: .object(["id": 7]))
/// let request = try JSONRPCAdapter().box(service.checked(call))  // id 0 would throw
/// ```
///
/// A call is only refused if the description excludes it with certainty (``ParameterSchema``).
public struct ServiceDescription: Sendable, Hashable {
    /// A kind of document.
    public enum Kind: String, Sendable, Hashable {
        /// OpenRPC, for JSON-RPC 2.0 services.
        case openRPC = "openrpc"
        /// OpenAPI, for REST services.
        case openAPI = "openapi"
    }

    /// The kind of document.
    public let kind: Kind
    /// The service's title according to the document.
    public let title: String?
    /// The methods, in the document's order.
    public let methods: [MethodDescription]

    /// Parses a document.
    ///
    /// - Throws: `PayloadError` with code `malformed-description` if the document is not a usable
    ///   description.
    public init(parsing bytes: [UInt8]) throws(PayloadError) {
        let document: JSONValue
        do throws(JSONError) {
            document = try JSONValue(parsing: bytes)
        } catch {
            throw .malformedDescription("it is not strict JSON: \(error.message)")
        }
        try self.init(document)
    }

    /// Creates a description from a parsed document.
    ///
    /// - Throws: As `init(parsing:)`.
    public init(_ document: JSONValue) throws(PayloadError) {
        title = document["info"]?["title"]?.string
        if document["openrpc"]?.string?.startsWithBytes(of: "1.") == true {
            kind = .openRPC
            methods = try OpenRPCReader(document: document).methods()
        } else if document["openapi"]?.string?.startsWithBytes(of: "3.") == true {
            kind = .openAPI
            methods = try OpenAPIReader(document: document).methods()
        } else if document["swagger"] != nil {
            throw .malformedDescription("found Swagger 2, expected openapi 3 or openrpc 1")
        } else {
            throw .malformedDescription("found neither openrpc 1.x nor openapi 3.x")
        }
    }

    /// Returns the method with a name. With OpenAPI the name is the operation's id, or method and
    /// path such as `GET /orders/{id}`.
    ///
    /// - Throws: `PayloadError` with code `unknown-method`.
    public func method(named name: String) throws(PayloadError) -> MethodDescription {
        let sought = RPCMethod(name)
        if let method = methods.first(where: {
            RPCMethod($0.name) == sought || $0.method == sought
        }) {
            return method
        }
        throw PayloadError(
            .unknownMethod,
            "found the method \(quoted(name)), expected "
                + (methods.isEmpty
                    ? "none: the description has no methods"
                    : "one of \(MethodDescription.list(methods.map(\.name)))"))
    }

    /// Returns a call with the method as it is boxed, if method and parameters fit the description.
    ///
    /// - Parameters:
    ///   - call: The call.
    ///   - fields: The request's other fields, which may contain parameters too.
    ///   - body: The request's body if it is not made of parameters. Messages don't contain its
    ///     values.
    /// - Throws: `PayloadError` with code `unknown-method`, `invalid-params` or `unsupported-call`.
    public func checked(
        _ call: RPCCall, fields: HTTPFields = [:], body: SuppliedBody? = nil
    ) throws(PayloadError) -> RPCCall {
        let method = try method(named: call.method.name)
        try method.check(call.parameters, fields: fields, body: body)
        var call = call
        call.method = method.method
        return call
    }

    /// Returns an adapter that puts a REST method's parameters where the description says.
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

extension PayloadError {
    static func malformedDescription(_ what: String) -> PayloadError {
        PayloadError(.malformedDescription, "the service's description is invalid: \(what)")
    }
}
