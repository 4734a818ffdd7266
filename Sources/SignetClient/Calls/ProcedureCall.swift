public import SignetJSON
public import SignetRPC

/// A remote procedure's call as a value, for simple calls that need no type of their own.
/// `.procedure` makes one; an `RPCCall` says everything else.
///
/// ```swift
/// func countOrders(with system: NetworkSystem) async throws -> Int {
///     struct Order: Codable { var item: String }
///     let orders: [Order] = try await system.send(
///         .procedure("orders.list", on: "orders", parameters: ["limit": 50]))
///     let first: Order = try await system.send(
///         .procedure("orders.create", on: "orders", encoding: Order(item: "tea")))
///     return orders.filter { $0.item == first.item }.count
/// }
/// ```
public struct ProcedureCall: TypedCall {
    /// The service that responds.
    public var service: ServiceName
    /// The options of the call; those that are given with it win.
    public var callOptions = RequestOptions()
    /// The procedure's name.
    public let methodName: String
    private let make: @Sendable () throws(PayloadError) -> RPCCall

    /// Creates a call.
    public init(_ call: RPCCall, on service: ServiceName) {
        self.service = service
        methodName = call.method.name
        make = { call }
    }

    fileprivate init(
        _ method: RPCMethod, encoding parameters: some Encodable & Sendable, on service: ServiceName
    ) {
        self.service = service
        methodName = method.name
        make = { () throws(PayloadError) in
            RPCCall(method, parameters: try RPCParameters(encoding: parameters))
        }
    }

    /// Returns no parameters: the request is complete.
    public func parameters() throws(PayloadError) -> RPCParameters? { nil }

    /// Returns the request.
    ///
    /// - Throws: `PayloadError` with code `invalid-params` if the parameters can't be encoded.
    public func request() throws(PayloadError) -> CallRequest { .procedure(try make()) }

    /// Encodes nothing.
    public func encode(to encoder: any Encoder) throws {}
}

extension TypedCall where Self == ProcedureCall {
    /// Calls a remote procedure.
    ///
    /// - Parameters:
    ///   - method: The procedure's name.
    ///   - service: The service that responds.
    ///   - parameters: The parameters by name.
    public static func procedure(
        _ method: RPCMethod, on service: ServiceName, parameters: JSONObject = [:]
    ) -> ProcedureCall {
        let given = parameters.isEmpty ? nil : RPCParameters.object(parameters)
        return ProcedureCall(RPCCall(method, parameters: given), on: service)
    }

    /// Calls a remote procedure with a value as its parameters.
    ///
    /// - Parameters:
    ///   - method: The procedure's name.
    ///   - service: The service that responds.
    ///   - parameters: The value, which is encoded as an object or an array.
    public static func procedure(
        _ method: RPCMethod, on service: ServiceName, encoding parameters: some Encodable & Sendable
    ) -> ProcedureCall {
        ProcedureCall(method, encoding: parameters, on: service)
    }
}
