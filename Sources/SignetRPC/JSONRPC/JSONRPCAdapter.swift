import HTTPTypes
public import SignetJSON

/// JSON-RPC over HTTP: version 2.0 with notifications and batches, and version 1.0.
///
/// The adapter owns content type, method and ids. A response is matched by its id's type and value; a
/// body that is an RPC response is read before the status is judged, and its content type is not judged.
public struct JSONRPCAdapter: PayloadAdapter {
    /// A version of the protocol.
    public enum Version: Sendable, Hashable {
        /// JSON-RPC 1.0 (2005): parameters by position only, no batch.
        case v1
        /// JSON-RPC 2.0 (2010).
        case v2
    }

    /// The version.
    public let version: Version
    private let ids: RPCIDGenerator

    /// Whether methods that begin with `rpc.` may be called, such as `rpc.discover`.
    public var allowsReservedMethods = false
    /// Whether a string id of the digits of a call's number counts as that call's, where no call has
    /// that string as its id; some gateways turn numbers into strings.
    public var acceptsStringifiedNumericIDs = false
    /// Whether a response of version 2.0 may have both result and error: an error of null leaves the
    /// result, any other is the call's. The specification forbids both; some servers write them.
    public var acceptsResultBesideError = false
    /// Members that each request carries beside the protocol's own; they cannot replace those.
    public var additionalMembers: JSONObject = [:]
    /// The largest body of a response, in bytes.
    public var maximumResponseSize = 64 << 20
    /// How deep a response may be nested, in 1...512; more counts as 512.
    public var maximumDepth = JSONReader.maximumDepth
    /// The largest count of calls in a batch.
    public var maximumBatchCount = 100

    /// Makes an adapter.
    ///
    /// - Parameters:
    ///   - version: The protocol's version.
    ///   - ids: Where ids come from; copies of the adapter share it.
    public init(version: Version = .v2, ids: RPCIDGenerator = .counting()) {
        self.version = version
        self.ids = ids
    }

    /// Boxes a call as a POST with a JSON body. Nothing has been sent where this throws.
    ///
    /// - Throws: `RPCError` with code `reserved-method`, `reserved-member`, `invalid-params` (1.0 with
    ///   parameters by name) or `invalid-id`.
    public func box(_ call: RPCCall) throws(RPCError) -> BoxedRequest {
        let id = call.isNotification ? nil : try ids.next()
        return boxed(try request(call, id), BoxedRequest.Expected(ids: [id]))
    }

    /// Unboxes the response to one call.
    ///
    /// - Throws: `RPCError` with code `rpc-error`, `http-status`, `malformed-reply` or
    ///   `reply-too-large`.
    public func unbox(_ response: RawResponse, to request: BoxedRequest) throws(RPCError)
        -> UnboxedResponse
    {
        guard response.body.count <= maximumResponseSize else {
            throw .responseTooLarge(response, limit: maximumResponseSize)
        }
        guard let first = request.expected.ids.first, let id = first else {
            return try unboxNotification(response)
        }
        let reader = try read(response)
        let answer = JSONRPCResponse(reader.root, in: reader, self)
        var warnings: [RPCWarning] = answer.hasBoth ? [.resultAndError] : []
        switch answer.content {
        case .defect(let defect):
            guard response.isSuccess || answer.isRPC else { throw .httpStatus(response) }
            throw .malformedResponse(defect, status: response.status)
        case .error(let error):
            if case .null = answer.id { throw .rpcError(error, status: response.status) }
            try match(answer, id, response, &warnings)
            throw .rpcError(error, status: response.status)
        case .result(let element):
            try match(answer, id, response, &warnings)
            if !response.isSuccess {
                warnings.append(
                    RPCWarning(
                        code: .resultWithStatus,
                        message: "the result came with HTTP status \(response.status), expected 2xx"
                    ))
            }
            return UnboxedResponse(
                result: RPCResult(validated: reader.bytes(of: element)), status: response.status,
                warnings: warnings)
        }
    }

    // MARK: Helpers

    /// Boxes the request object.
    func request(_ call: RPCCall, _ id: RPCID?) throws(RPCError) -> JSONObject {
        guard allowsReservedMethods || !call.method.isReserved else {
            throw RPCError(
                code: .reservedMethod,
                message: "the method begins with \"rpc.\", which JSON-RPC keeps for itself")
        }
        var object: JSONObject = [:]
        switch version {
        case .v2:
            object["jsonrpc"] = "2.0"
            object["method"] = .string(call.method.name)
            if let parameters = call.parameters, !parameters.isEmpty {
                object["params"] = parameters.json
            }
            object["id"] = id?.json
        case .v1:
            object["method"] = .string(call.method.name)
            switch call.parameters {
            case .array(let values): object["params"] = .array(values)
            case .object(let members) where !members.isEmpty:
                throw .invalidParameters(
                    "the parameters are by name, JSON-RPC 1.0 knows them by position only")
            case .object, nil: object["params"] = .array([])
            }
            object["id"] = id?.json ?? .null
        }
        for (name, value) in additionalMembers {
            guard !Self.ownMembers.contains(where: { $0.utf8.elementsEqual(name.utf8) }) else {
                throw RPCError(
                    code: .reservedMember,
                    message: "an additional member has one of the protocol's own names")
            }
            object[name] = value
        }
        return object
    }

    static let ownMembers = ["jsonrpc", "id", "method", "params"]

    func nextID() throws(RPCError) -> RPCID { try ids.next() }

    func boxed(_ object: JSONObject, _ expected: BoxedRequest.Expected) -> BoxedRequest {
        boxed(JSONValue.object(object).serialized(), expected)
    }

    func boxed(_ body: [UInt8], _ expected: BoxedRequest.Expected) -> BoxedRequest {
        BoxedRequest(
            method: .post,
            fields: [.contentType: "application/json", .accept: "application/json"],
            body: body, expected: expected)
    }

    /// Reads a body that must be JSON, unless the status says why it is none.
    func read(_ response: RawResponse) throws(RPCError) -> JSONReader {
        do {
            return try read(response.body)
        } catch {
            guard response.isSuccess else { throw .httpStatus(response) }
            guard !response.body.isEmpty else {
                throw .malformedResponse("the body is empty", status: response.status)
            }
            throw .malformedResponse(
                error.code == .tooLarge
                    ? "the body: \(error.message)"
                    : "the body is not strict JSON: \(error.message)", status: response.status)
        }
    }

    /// Reads a message or an array of them, of which it remembers where the members of each message
    /// stand and no more: a result is large where it likes to be, and is the caller's to read.
    func read(_ message: [UInt8]) throws(JSONError) -> JSONReader {
        let isArray = message.first { $0 > 0x20 } == UInt8(ascii: "[")
        return try JSONReader(
            message, maximumDepth: maximumDepth, recordedDepth: isArray ? 2 : 1,
            recordedCount: 1 << 16 + 64 * min(max(maximumBatchCount, 0), 1 << 24))
    }

    private func match(
        _ answer: JSONRPCResponse, _ wanted: RPCID, _ response: RawResponse,
        _ warnings: inout [RPCWarning]
    ) throws(RPCError) {
        if case .id(let id) = answer.id {
            if id == wanted { return }
            if acceptsStringifiedNumericIDs, id == wanted.stringified {
                warnings.append(.stringifiedID)
                return
            }
        }
        guard response.isSuccess || answer.isRPC else { throw .httpStatus(response) }
        throw .malformedResponse(
            "the member id is not the call's id in type and value", status: response.status)
    }

    /// A notification wants no response: any 2xx is good, and a body there harms nothing.
    func unboxNotification(_ response: RawResponse) throws(RPCError) -> UnboxedResponse {
        guard response.isSuccess else {
            guard let reader = try? read(response) else { throw .httpStatus(response) }
            let answer = JSONRPCResponse(reader.root, in: reader, self)
            guard case .error(let error) = answer.content, answer.namesNoCall || answer.isRPC else {
                throw .httpStatus(response)
            }
            throw .rpcError(error, status: response.status)
        }
        let warnings =
            response.body.isEmpty
            ? []
            : [
                RPCWarning(
                    code: .bodyForNotification,
                    message: "a notification was answered with a body, expected none")
            ]
        return UnboxedResponse(result: nil, status: response.status, warnings: warnings)
    }
}

extension RPCWarning {
    static let resultAndError = RPCWarning(
        code: .resultAndError, message: "a response has both result and error, expected one of them"
    )
    static let stringifiedID = RPCWarning(
        code: .stringifiedID, message: "the server turned a number id into a string")
}
