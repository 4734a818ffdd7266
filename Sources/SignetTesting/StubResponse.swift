public import HTTPTypes
public import SignetJSON
public import SignetTransport

/// A response of a stub.
public struct StubResponse: Sendable {
    private enum Content: Sendable {
        case http(status: Int, fields: HTTPFields, body: [UInt8])
        case result(JSONValue)
        case error(code: Int64, message: String)
        case failure(TransportError.Code)
    }

    private let content: Content

    /// The result of a JSON-RPC call, with the call's id.
    public static func result(_ value: JSONValue) -> StubResponse {
        StubResponse(content: .result(value))
    }

    /// The result of a JSON-RPC call, encoded from a value. Give the service's conventions if it
    /// has its own.
    ///
    /// ```swift
    /// struct Order: Codable { var item: String }
    /// let stub = StubEngine()
    /// try stub.respond(to: .procedure("orders.get"), with: .result(encoding: Order(item: "tea")))
    /// ```
    ///
    /// - Throws: `JSONError` if the value can't be encoded.
    public static func result(
        encoding value: some Encodable, conventions: JSONConventions = JSONConventions()
    ) throws(JSONError) -> StubResponse {
        .result(try StrictJSONEncoder(conventions: conventions).encodeValue(value))
    }

    /// The error of a JSON-RPC call, with the call's id.
    public static func rpcError(code: Int, message: String) -> StubResponse {
        StubResponse(content: .error(code: Int64(code), message: message))
    }

    /// A JSON body.
    public static func json(_ value: JSONValue, status: Int = 200) -> StubResponse {
        .status(status, fields: [.contentType: "application/json"], body: value.serialized())
    }

    /// A JSON body, encoded from a value. Give the service's conventions if it has its own.
    ///
    /// ```swift
    /// struct Order: Codable { var item: String }
    /// let stub = StubEngine()
    /// try stub.respond(to: .any, with: .json(encoding: Order(item: "tea"), status: 201))
    /// ```
    ///
    /// - Throws: `JSONError` if the value can't be encoded.
    public static func json(
        encoding value: some Encodable, status: Int = 200,
        conventions: JSONConventions = JSONConventions()
    ) throws(JSONError) -> StubResponse {
        .status(
            status, fields: [.contentType: "application/json"],
            body: try StrictJSONEncoder(conventions: conventions).encode(value))
    }

    /// A problem (RFC 9457) with its status and more members, such as `type` and `title`.
    ///
    /// ```swift
    /// let stub = StubEngine()
    /// stub.respond(with: .problem(status: 402, ["title": "No credit", "balance": 30]))
    /// ```
    public static func problem(status: Int, _ members: JSONObject = [:]) -> StubResponse {
        var problem = members
        problem["status"] = .number(JSONNumber(status))
        return .status(
            status, fields: [.contentType: "application/problem+json"],
            body: JSONValue.object(problem).serialized())
    }

    /// A status with fields and a body.
    public static func status(
        _ status: Int, fields: HTTPFields = [:], body: [UInt8] = []
    ) -> StubResponse {
        StubResponse(content: .http(status: status, fields: fields, body: body))
    }

    /// A failure of the transport, such as `connect` or `timeout`. It is delivered without delay.
    public static func failure(_ code: TransportError.Code) -> StubResponse {
        StubResponse(content: .failure(code))
    }

    /// Returns what an engine returns for a request.
    func engineResponse(to request: RecordedRequest) throws(TransportError) -> EngineResponse {
        if case .http(let status, let fields, let body) = content {
            return Self.engineResponse(status: status, fields: fields, body: body)
        }
        let response = try rpcResponse(to: request).serialized()
        let isNotification = request.json?["id"] == nil
        return Self.engineResponse(
            status: isNotification ? 204 : 200, fields: [.contentType: "application/json"],
            body: isNotification ? [] : response)
    }

    /// Returns the JSON-RPC response to a call.
    func rpcResponse(to request: RecordedRequest) throws(TransportError) -> JSONValue {
        let call = request.json
        var response: JSONObject = call?["jsonrpc"] == nil ? [:] : ["jsonrpc": "2.0"]
        switch content {
        case .failure(let code):
            throw TransportError(code, "the stub fails with \(code.name)")
        case .http:
            throw TransportError(.invalidRequest, "a call of a batch needs a result or an error")
        case .result(let value):
            response["result"] = value
            if call?["jsonrpc"] == nil { response["error"] = .null }
        case .error(let code, let message):
            if call?["jsonrpc"] == nil { response["result"] = .null }
            response["error"] = ["code": .number(JSONNumber(code)), "message": .string(message)]
        }
        response["id"] = call?["id"] ?? .null
        return .object(response)
    }

    static func engineResponse(
        status: Int, fields: HTTPFields, body: [UInt8]
    ) -> EngineResponse {
        EngineResponse(
            response: HTTPResponse(status: .init(code: status), headerFields: fields),
            body: HTTPResponseBody(bytes: body),
            httpVersion: EngineResponse.HTTPVersion(major: 1, minor: 1))
    }
}
