public import SignetJSON

/// REST whose responses are wrapped in an object such as `{"code":0,"message":"ok","data":…}`.
///
/// If a response's code is good, its data is the result. Any other code is the service's error
/// (`rpc-error`), whatever the HTTP status. A response without a code is malformed. Codes are
/// compared by type and text: `0`, `"0"` and `0.0` are three codes.
public struct EnvelopeAdapter: RESTBoxing {
    /// Boxes requests, and limits the size of responses.
    public var rest: RESTAdapter
    /// The member names that lead from the response's root to the code.
    public var codePath = ["code"]
    /// The member names that lead to the error's message.
    public var messagePath = ["message"]
    /// The member names that lead to the result; if empty, the whole response is the result.
    public var dataPath = ["data"]
    /// The codes that mean success.
    public var goodCodes: [JSONValue] = [0]
    /// Whether a successful response must have data. If not, the result of one without data is
    /// null.
    public var requiresData = false

    /// Creates an adapter.
    public init(_ rest: RESTAdapter = RESTAdapter()) { self.rest = rest }

    /// Boxes a call, as ``RESTAdapter`` does.
    public func box(_ call: RPCCall) throws(PayloadError) -> BoxedRequest { try rest.box(call) }

    /// Boxes a request, as ``RESTAdapter`` does.
    public func box(_ request: RESTRequest) throws(PayloadError) -> BoxedRequest {
        try rest.box(request)
    }

    /// Unwraps a response. The result of a 204 without a body is null.
    ///
    /// - Throws: `PayloadError` with code `rpc-error` if the code is not good, `http-status` if the
    ///   status is not 2xx and the envelope has no error code, `malformed-response` or
    ///   `response-too-large`.
    public func unbox(_ response: RawResponse, to request: BoxedRequest) throws(PayloadError)
        -> UnboxedResponse
    {
        guard response.body.count <= rest.maximumResponseSize,
            !response.body.isEmpty || response.status == 204
        else {
            _ = try rest.unbox(response, to: request)
            throw .malformedResponse("the body is empty", status: response.status)
        }
        let depth = [codePath, messagePath, dataPath].map(\.count).max() ?? 0
        guard let reader = try? JSONReader(response.json, recordedDepth: depth) else {
            // The body is not JSON: `rest` throws the error that fits the status.
            return try rest.unbox(response, to: request)
        }
        guard let code = reader.element(at: codePath).map(reader.value), !code.isNull else {
            throw .unusable(response, because: "the envelope has no code")
        }
        let data = dataPath.isEmpty ? reader.root : reader.element(at: dataPath)
        guard goodCodes.contains(code) else {
            let message = reader.element(at: messagePath).flatMap(reader.string)
            throw .rpcError(
                try serverError(
                    code: code, message: message ?? "", data: data.map(reader.value),
                    in: response),
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
        code: JSONValue, message: String, data: JSONValue?, in response: RawResponse
    ) throws(PayloadError) -> RPCServerError {
        switch code {
        case .number(let number) where number.isInteger:
            return RPCServerError(code: number, message: message, data: data)
        case .string, .bool:
            return RPCServerError(textCode: code.scalarText ?? "", message: message, data: data)
        default:
            throw .unusable(
                response,
                because: "the envelope's code is of type \(code.typeName), expected an integer, "
                    + "string or boolean")
        }
    }
}

extension JSONReader {
    /// Returns the element that member names lead to from the root; nil if there isn't one.
    fileprivate func element(at path: [String]) -> Element? {
        var element = root
        for name in path {
            let members = members(of: element)
            guard let member = members.first(where: { isString($0.name, equalTo: name) }) else {
                return nil
            }
            element = member.value
        }
        return path.isEmpty ? nil : element
    }
}
