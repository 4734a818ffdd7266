import HTTPTypes
public import SignetJSON
public import SignetRPC

/// A REST call as a value, for simple calls that need no type of their own. `.get`, `.head`,
/// `.post`, `.put`, `.patch` and `.delete` create one; use a `RESTRequest` for all other methods
/// and options.
///
/// ```swift
/// func order(with system: NetworkSystem) async throws -> String {
///     struct Order: Codable { var item: String }
///     let order: Order = try await system.send(.get("/orders/7", on: "shop"))
///     let copy: Order = try await system.send(.post("/orders", on: "shop", body: order))
///     try await system.send(.delete("/orders/7", on: "shop"), as: .nothing)
///     let orders = try await system.send(
///         .get("/orders", on: "shop", query: ["limit": 2]), as: [Order].self)
///     return orders.isEmpty ? copy.item : orders[0].item
/// }
/// ```
public struct RESTCall: TypedCall {
    /// The service that responds.
    public var service: ServiceName
    /// The options of the call; those that are given with it win.
    public var callOptions = RequestOptions()
    /// The HTTP method.
    public let methodName: String
    /// The path without its values, for logs.
    public let pathTemplate: String?
    private let make: @Sendable () throws(PayloadError) -> RESTRequest

    /// Creates a call from a request.
    public init(_ request: RESTRequest, on service: ServiceName) {
        self.service = service
        methodName = request.method.rawValue
        pathTemplate = request.path.template
        make = { request }
    }

    fileprivate init(
        _ method: HTTPRequest.Method, at path: RESTPath, query: JSONObject, on service: ServiceName
    ) {
        self.init(RESTRequest(method, path, query: query), on: service)
    }

    fileprivate init(
        _ method: HTTPRequest.Method, at path: RESTPath, query: JSONObject, on service: ServiceName,
        encoding body: some Encodable & Sendable
    ) {
        self.service = service
        methodName = method.rawValue
        pathTemplate = path.template
        make = { () throws(PayloadError) in
            RESTRequest(method, path, query: query, body: try .json(encoding: body))
        }
    }

    /// Returns no parameters: the request is complete.
    public func parameters() throws(PayloadError) -> RPCParameters? { nil }

    /// Returns the request.
    ///
    /// - Throws: `PayloadError` with code `invalid-params` if the body can't be encoded.
    public func request() throws(PayloadError) -> CallRequest { .resource(try make()) }

    /// Encodes nothing.
    public func encode(to encoder: any Encoder) throws {}
}

extension TypedCall where Self == RESTCall {
    /// Reads a resource.
    ///
    /// - Parameters:
    ///   - path: The path below the service's base URL.
    ///   - service: The service that responds.
    ///   - query: The query's parameters.
    public static func get(
        _ path: RESTPath, on service: ServiceName, query: JSONObject = [:]
    ) -> RESTCall {
        RESTCall(.get, at: path, query: query, on: service)
    }

    /// Reads the fields of a resource, without its content (`as: .raw`).
    public static func head(
        _ path: RESTPath, on service: ServiceName, query: JSONObject = [:]
    ) -> RESTCall {
        RESTCall(.head, at: path, query: query, on: service)
    }

    /// Removes a resource.
    public static func delete(
        _ path: RESTPath, on service: ServiceName, query: JSONObject = [:]
    ) -> RESTCall {
        RESTCall(.delete, at: path, query: query, on: service)
    }

    /// Sends POST without a body.
    public static func post(
        _ path: RESTPath, on service: ServiceName, query: JSONObject = [:]
    ) -> RESTCall {
        RESTCall(.post, at: path, query: query, on: service)
    }

    /// Sends PUT without a body.
    public static func put(
        _ path: RESTPath, on service: ServiceName, query: JSONObject = [:]
    ) -> RESTCall {
        RESTCall(.put, at: path, query: query, on: service)
    }

    /// Sends PATCH without a body.
    public static func patch(
        _ path: RESTPath, on service: ServiceName, query: JSONObject = [:]
    ) -> RESTCall {
        RESTCall(.patch, at: path, query: query, on: service)
    }

    /// Sends a value as JSON with POST.
    ///
    /// - Parameters:
    ///   - path: The path below the service's base URL.
    ///   - service: The service that responds.
    ///   - query: The query's parameters.
    ///   - body: The value, which is encoded as JSON.
    public static func post(
        _ path: RESTPath, on service: ServiceName, query: JSONObject = [:],
        body: some Encodable & Sendable
    ) -> RESTCall {
        RESTCall(.post, at: path, query: query, on: service, encoding: body)
    }

    /// Sends a value as JSON with PUT.
    public static func put(
        _ path: RESTPath, on service: ServiceName, query: JSONObject = [:],
        body: some Encodable & Sendable
    ) -> RESTCall {
        RESTCall(.put, at: path, query: query, on: service, encoding: body)
    }

    /// Sends a value as JSON with PATCH.
    public static func patch(
        _ path: RESTPath, on service: ServiceName, query: JSONObject = [:],
        body: some Encodable & Sendable
    ) -> RESTCall {
        RESTCall(.patch, at: path, query: query, on: service, encoding: body)
    }
}
