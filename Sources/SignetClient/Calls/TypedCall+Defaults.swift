public import SignetRPC

extension TypedCall {
    /// No options of the call's own.
    public var callOptions: RequestOptions { RequestOptions() }

    /// No path, as a procedure.
    public var pathTemplate: String? { nil }

    /// JSON alone.
    public var responseContent: ResponseContent { .json }

    /// Accepts all values.
    public func validate() throws {}

    /// Returns the value's `Encodable` form, or a case's associated values.
    public func parameters() throws(PayloadError) -> RPCParameters? {
        try RPCParameters.ofCall(self)
    }
}

extension TypedCall where Success == UnboxedResponse {
    /// Returns the response as it is.
    public func success(from response: UnboxedResponse) throws -> Success { response }
}

extension TypedCall where Success: Decodable {
    /// Decodes the result.
    public func success(from response: UnboxedResponse) throws -> Success {
        try response.decode(Success.self)
    }
}

extension TypedCall where Success == RawResponse {
    /// Any content. A 304 isn't an error.
    public var responseContent: ResponseContent { .message }

    /// Returns the raw response.
    public func success(from response: UnboxedResponse) throws -> Success { response.raw }
}

extension TypedCall where Success == Void {
    /// Any content, which is ignored.
    public var responseContent: ResponseContent { .any }

    /// Ignores the response.
    public func success(from response: UnboxedResponse) throws -> Success { () }
}

extension Endpoint {
    /// The procedure's name.
    public var methodName: String { method.name }

    /// Returns the procedure's call.
    public func request() throws(PayloadError) -> CallRequest {
        .procedure(RPCCall(method, parameters: try parameters()))
    }
}

extension RESTEndpoint {
    /// The HTTP method.
    public var methodName: String { httpMethod.rawValue }

    /// The path with the names of properties.
    public var pathTemplate: String? { path.description }

    /// The properties that the path names are sent in the path alone.
    public var repeatsPathProperties: Bool { false }

    /// Fills the path, and leaves the other parameters to the query or the body.
    public func request() throws(PayloadError) -> CallRequest {
        let (path, rest) = try path.filled(
            from: parameters(), keepingUsed: repeatsPathProperties)
        return .procedure(
            RPCCall(RPCMethod(httpMethod.rawValue), parameters: rest),
            path: path.isEmpty ? nil : path)
    }
}

extension UnboxedResponse {
    /// Decodes the result.
    ///
    /// - Throws: `JSONError` that names path and byte offset but no value; `ClientError` with code
    ///   `type-mismatch` if there is no result.
    public func decode<Value: Decodable>(_ type: Value.Type) throws -> Value {
        guard let result else {
            throw ClientError(.typeMismatch, "the response has no result", status: status)
        }
        return try result.decode(type)
    }
}
