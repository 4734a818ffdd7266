public import SignetJSON

/// REST whose responses are wrapped: `{"code":0,"message":"ok","data":…}`, with names of the API's own.
///
/// A response whose code is good gives its data as the result; any other code is the service's error
/// (`rpc-error`), whatever the HTTP status. A response without a code is malformed. Codes compare by type and
/// text: `0`, `"0"` and `0.0` are three.
public struct EnvelopeAdapter: RESTBoxing {
    /// Boxes, and judges the response's size and status.
    public var rest: RESTAdapter
    /// The names that lead to the code, from the response's root.
    public var codePath = ["code"]
    /// The names that lead to the words beside a bad code.
    public var messagePath = ["message"]
    /// The names that lead to the result; empty takes the whole response.
    public var dataPath = ["data"]
    /// Which codes are good.
    public var goodCodes: [JSONValue] = [0]
    /// Whether a good response must have data; otherwise the result of one without is null.
    public var requiresData = false

    /// Makes an adapter.
    public init(_ rest: RESTAdapter = RESTAdapter()) { self.rest = rest }

    /// Boxes a call, as ``RESTAdapter`` does.
    public func box(_ call: RPCCall) throws(RPCError) -> BoxedRequest { try rest.box(call) }

    /// Boxes a request, as ``RESTAdapter`` does.
    public func box(_ request: RESTRequest) throws(RPCError) -> BoxedRequest {
        try rest.box(request)
    }

    /// Unwraps a response; a 204 without a body gives null.
    ///
    /// - Throws: `RPCError` with code `rpc-error` (a code that is not good), `http-status` (not 2xx and no
    ///   such code), `malformed-reply` or `reply-too-large`.
    public func unbox(_ response: RawResponse, to request: BoxedRequest) throws(RPCError)
        -> UnboxedResponse
    {
        guard response.body.count <= rest.maximumResponseSize,
            !response.body.isEmpty || response.status == 204
        else {
            _ = try rest.unbox(response, to: request)
            throw .malformedResponse("the body is empty", status: response.status)
        }
        let depth = [codePath, messagePath, dataPath].map(\.count).max() ?? 0
        guard let reader = try? JSONReader(response.body, recordedDepth: depth) else {
            // Its status is an error, or it has no body, or REST says what is wrong with it.
            return try rest.unbox(response, to: request)
        }
        guard let code = reader.element(at: codePath).map(reader.value), !code.isNull else {
            guard response.isSuccess else { throw .httpStatus(response) }
            throw .malformedResponse("the envelope has no code", status: response.status)
        }
        let data = dataPath.isEmpty ? reader.root : reader.element(at: dataPath)
        guard goodCodes.contains(code) else {
            let message = reader.element(at: messagePath).flatMap(reader.string)
            throw .rpcError(
                try serverError(code, message ?? "", data.map(reader.value), response),
                status: response.status)
        }
        guard response.isSuccess else { throw .httpStatus(response) }
        guard data != nil || !requiresData else {
            throw .malformedResponse("the envelope has no data", status: response.status)
        }
        return UnboxedResponse(
            result: RPCResult(validated: data.map(reader.bytes) ?? Array("null".utf8)),
            status: response.status, fields: response.fields)
    }

    private func serverError(
        _ code: JSONValue, _ message: String, _ data: JSONValue?, _ response: RawResponse
    ) throws(RPCError) -> RPCServerError {
        switch code {
        case .number(let number) where number.isInteger:
            return RPCServerError(code: number, message: message, data: data)
        case .string(let text):
            return RPCServerError(textCode: text, message: message, data: data)
        case .bool(let bool):
            return RPCServerError(
                textCode: bool ? "true" : "false", message: message, data: data)
        default:
            guard response.isSuccess else { throw .httpStatus(response) }
            throw .malformedResponse(
                "the envelope's code is of type \(code.typeName), expected an integer, string or "
                    + "boolean", status: response.status)
        }
    }
}

extension JSONReader {
    /// The element to which names lead from the root; nil where there is none.
    fileprivate func element(at path: [String]) -> Element? {
        var element = root
        for name in path {
            guard let member = members(of: element).first(where: { isString($0.name, name) }) else {
                return nil
            }
            element = member.value
        }
        return path.isEmpty ? nil : element
    }
}
