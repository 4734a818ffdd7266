public import HTTPTypes
public import SignetRPC

/// A call that a program describes with a type of its own: an ``Endpoint`` or a ``RESTEndpoint``.
///
/// The type may be a struct for one kind of call, or an enum with a case for each of several. Its
/// values are the parameters. The service decides how the call is signed and which pins hold.
public protocol TypedCall: Encodable, Sendable {
    /// The type of a call's value. Defaults to `UnboxedResponse`: the response as it is.
    ///
    /// A `Decodable` type is decoded from the result, `RawResponse` is the response with any
    /// content, and `Void` ignores the content.
    associatedtype Success: Sendable = UnboxedResponse
    /// The service that responds.
    var service: ServiceName { get }
    /// The name that the call's identity has: the procedure's, or the HTTP method.
    var methodName: String { get }
    /// The path without its values, for the identity that logs and metrics show; nil for a
    /// procedure.
    var pathTemplate: String? { get }
    /// The options of the call; those that are given with it win. Defaults to none.
    var callOptions: RequestOptions { get }
    /// The content that `success(from:)` can read. Defaults to JSON.
    var responseContent: ResponseContent { get }
    /// Checks the values before the request is made. Defaults to no check.
    ///
    /// - Throws: An error that ends the call without one byte of input or output: a `ClientError`
    ///   or a `PayloadError` is handed on, so its message must not contain a secret; of any other
    ///   error the caller gets the type's name, as `invalid-params`.
    func validate() throws
    /// Returns the call's parameters; nil if there aren't any.
    ///
    /// By default they are the value's own `Encodable` form, or a case's associated values: those
    /// with labels by name, those without by position. One array or object without a label is the
    /// parameters itself. `RPCParameters.named(_:)` and `RPCParameters.positional(_:)` make other
    /// ones.
    ///
    /// - Throws: `PayloadError` with code `invalid-params`.
    func parameters() throws(PayloadError) -> RPCParameters?
    /// Returns the request. By default it is made of the method and the parameters.
    ///
    /// - Throws: `PayloadError`, such as `invalid-path`. Nothing has been sent then.
    func request() throws(PayloadError) -> CallRequest
    /// Makes the value of a response.
    ///
    /// - Throws: `JSONError`, whose message is that of a `type-mismatch`, because the server sent
    ///   another type; or another error, of which the caller gets the type's name alone, as
    ///   `conversion-failed`.
    func success(from response: UnboxedResponse) throws -> Success
}

/// A remote procedure with typed parameters and a typed result.
///
/// ```swift
/// enum Orders: Endpoint {
///     case create(item: String, quantity: Int)
///     case list(limit: Int)
///
///     var service: ServiceName { "orders" }
///     var method: RPCMethod {
///         switch self {
///         case .create: "orders.create"
///         case .list: "orders.list"
///         }
///     }
///     func validate() throws {
///         if case .create(_, let quantity) = self, quantity < 1 {
///             throw PayloadError(
///                 .invalidParameters, "the quantity is \(quantity), expected 1 or more")
///         }
///     }
/// }
///
/// func countOrders(with system: NetworkSystem) async throws -> Int {
///     struct Order: Decodable { var id: Int }
///     let order: Order = try await system.send(Orders.create(item: "tea", quantity: 2))
///     let orders: [Order] = try await system.send(Orders.list(limit: order.id))
///     return orders.count
/// }
/// ```
///
/// A type for one procedure names its `Success`, so that the caller needn't:
///
/// ```swift
/// struct CreateOrder: Endpoint {
///     var service: ServiceName { "orders" }
///     var method: RPCMethod { "orders.create" }
///     var item: String
///     var quantity: Int
///     struct Success: Decodable, Sendable { var id: Int }
/// }
/// ```
///
/// Computed properties aren't parameters.
public protocol Endpoint: TypedCall {
    /// The procedure's name.
    var method: RPCMethod { get }
}

/// A resource of a REST service with a typed representation.
///
/// The path names properties in braces, by their names in the value's `Encodable` form. Each of
/// them goes into the path alone; the other properties become the JSON body with POST, PUT and
/// PATCH, and the query with every other method.
///
/// ```swift
/// struct ReadOrder: RESTEndpoint {
///     var service: ServiceName { "shop" }
///     var httpMethod: HTTPRequest.Method { .get }
///     var path: PathTemplate { "/orders/{id}" }
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
///
/// A response that isn't JSON is read as any content. A form, a file or another body is a request
/// part by part:
///
/// ```swift
/// struct ReadPicture: RESTEndpoint {
///     typealias Success = RawResponse
///     var service: ServiceName { "shop" }
///     var httpMethod: HTTPRequest.Method { .get }
///     var path: PathTemplate { "/orders/{id}/picture" }
///     var id: Int
/// }
///
/// struct LogIn: RESTEndpoint {
///     typealias Success = Void
///     var service: ServiceName { "shop" }
///     var httpMethod: HTTPRequest.Method { .post }
///     var path: PathTemplate { "/session" }
///     var user: String
///     func request() throws(PayloadError) -> CallRequest {
///         .resource(RESTRequest(httpMethod, "/session", body: try .form(["user": .string(user)])))
///     }
/// }
/// ```
public protocol RESTEndpoint: TypedCall {
    /// The HTTP method.
    var httpMethod: HTTPRequest.Method { get }
    /// The path below the service's base URL, such as `/orders/{id}`; empty if nothing is added to
    /// it.
    ///
    /// A value is percent-encoded whole. A property that the path names must be a string, number or
    /// boolean, or an array of them, and must have a value. In a service whose names are in snake
    /// case the path has them in snake case too: `{order_id}`.
    var path: PathTemplate { get }
    /// Whether the properties that the path names are also sent in the body or query. Defaults to
    /// `false`.
    var repeatsPathProperties: Bool { get }
}
