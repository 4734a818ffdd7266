public import HTTPTypes
public import SignetRPC

/// A remote procedure with typed parameters and a typed result.
///
/// The value's own `Encodable` form is the parameters, by name. The service decides where the
/// call goes, how it is signed and which pins hold.
public protocol Endpoint: Encodable, Sendable {
    /// What the reply's result is decoded into.
    associatedtype Success: Decodable & Sendable
    /// The service that answers.
    static var service: Service { get }
    /// The procedure's name.
    static var method: RPCMethod { get }
}

/// A resource of a REST service with a typed representation.
///
/// With POST, PUT and PATCH the value's `Encodable` form is the JSON body, else the query.
public protocol RESTEndpoint: Encodable, Sendable {
    /// What the reply's body is decoded into.
    associatedtype Success: Decodable & Sendable
    /// The service that answers.
    static var service: Service { get }
    /// The HTTP method.
    static var verb: HTTPRequest.Method { get }
    /// The path below the service's base URL, beginning with `/`.
    var path: String { get }
}
