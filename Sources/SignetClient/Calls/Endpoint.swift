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
    /// The scenario whose limits hold for the call; nil for the service's own.
    static var scenario: Scenario? { get }
    /// Whether the call does no harm where it reaches the server twice, so that it may be tried again
    /// after a status of `retry.statusCodes`.
    static var isRepeatable: Bool { get }
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
    /// The path below the service's base URL, such as `"/orders/\(id)"`, in which a value stays a value.
    var path: RESTPath { get }
    /// The scenario whose limits hold for the call; nil for the service's own.
    static var scenario: Scenario? { get }
    /// Whether the call, of a method that is not idempotent by itself, does no harm where it reaches the server twice, so that it may be tried again
    /// after a status of `retry.statusCodes`.
    static var isRepeatable: Bool { get }
}

extension Endpoint {
    /// No scenario: the service's own limits.
    public static var scenario: Scenario? { nil }
    /// No: a call is not known to do no harm twice.
    public static var isRepeatable: Bool { false }
}

extension RESTEndpoint {
    /// No scenario: the service's own limits.
    public static var scenario: Scenario? { nil }
    /// No: a call is not known to do no harm twice.
    public static var isRepeatable: Bool { false }
}
