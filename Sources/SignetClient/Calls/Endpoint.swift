public import HTTPTypes
public import SignetRPC

/// A remote procedure with typed parameters and a typed result.
///
/// The value's own `Encodable` form is the parameters, by name. The service decides where the
/// call goes, how it is signed and which pins hold.
public protocol Endpoint: Encodable, Sendable {
    /// The type of a call's result.
    associatedtype Success: Sendable
    /// The service that answers.
    static var service: Service { get }
    /// The procedure's name.
    static var method: RPCMethod { get }
    /// The options of the endpoint's calls; those that a call is given win. Defaults to none.
    var callOptions: CallOptions { get }
    /// Makes the value of a reply's result: decodes it, unless an endpoint does otherwise, with a model
    /// library of its own, say.
    ///
    /// - Throws: `JSONError`, which is handed on, or another error, of which the caller gets the type's
    ///   name alone: both are a `type-mismatch`.
    static func success(from result: RPCResult) throws -> Success
}

/// A resource of a REST service with a typed representation.
///
/// The path names properties in braces, by their names in the value's `Encodable` form. Each of them goes
/// into the path alone; the other properties become the JSON body with POST, PUT and PATCH, and the query
/// with every other method.
///
/// ```swift
/// struct ReadOrder: RESTEndpoint {
///     static let service: Service = "shop"
///     static let verb: HTTPRequest.Method = .get
///     static let path: PathTemplate = "/orders/{id}"
///     var id: Int
///     var fields: [String]?
///     struct Success: Decodable, Sendable { var item: String }
/// }
///
/// func readItem(with system: NetworkSystem) async throws -> String {
///     // GET /orders/2?fields=item
///     try await system.send(ReadOrder(id: 2, fields: ["item"])).item
/// }
/// ```
public protocol RESTEndpoint: Encodable, Sendable {
    /// The type of a call's result.
    associatedtype Success: Sendable
    /// The service that answers.
    static var service: Service { get }
    /// The HTTP method.
    static var verb: HTTPRequest.Method { get }
    /// The path below the service's base URL, such as `/orders/{id}`; empty if nothing is added to it.
    ///
    /// A value is percent-encoded whole. A property that the path names must be a string, number or boolean,
    /// or an array of them, and must have a value. In a service whose names are in snake case the path has them
    /// in snake case too: `{order_id}`.
    static var path: PathTemplate { get }
    /// Whether the properties that the path names are also sent in the body or query. Defaults to `false`.
    static var repeatsPathProperties: Bool { get }
    /// The options of the endpoint's calls; those that a call is given win. Defaults to none.
    var callOptions: CallOptions { get }
    /// Makes the value of a reply's result: decodes it, unless an endpoint does otherwise, with a model
    /// library of its own, say.
    ///
    /// - Throws: `JSONError`, which is handed on, or another error, of which the caller gets the type's
    ///   name alone: both are a `type-mismatch`.
    static func success(from result: RPCResult) throws -> Success
}

extension Endpoint {
    /// No options of the endpoint.
    public var callOptions: CallOptions { CallOptions() }
}

extension RESTEndpoint {
    /// The properties that the path names are sent in the path alone.
    public static var repeatsPathProperties: Bool { false }
    /// No options of the endpoint.
    public var callOptions: CallOptions { CallOptions() }
}

extension Endpoint where Success: Decodable {
    /// Decodes the result.
    public static func success(from result: RPCResult) throws -> Success {
        try result.decode(Success.self)
    }
}

extension RESTEndpoint where Success: Decodable {
    /// Decodes the result.
    public static func success(from result: RPCResult) throws -> Success {
        try result.decode(Success.self)
    }
}
