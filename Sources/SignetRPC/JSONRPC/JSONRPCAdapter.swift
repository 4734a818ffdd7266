import HTTPTypes
import SignetBase
public import SignetJSON

/// JSON-RPC over HTTP: version 2.0 with notifications and batches, and version 1.0.
///
/// The adapter sets content type, HTTP method and ids. It matches a response to its call by the
/// id's type and value. It reads a JSON-RPC response whatever the HTTP status and the content type.
///
/// ```swift
/// import SignetJSON
/// import SignetRPC
///
/// struct Order: Decodable {
///     var id: Int
///     var item: String
/// }
/// let adapter = JSONRPCAdapter()
/// let request = try adapter.box(RPCCall("orders.get", parameters: .array([7])))
/// // Send `request.body` with the HTTP client of your choice; this is the response:
/// let body = #"{"jsonrpc":"2.0","id":1,"result":{"id":7,"item":"tea"}}"#
/// let response = try adapter.unbox(
///     RawResponse(status: 200, body: Array(body.utf8)), to: request)
/// let order = try response.result?.decode(Order.self)
/// ```
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

    /// Whether methods whose names begin with `rpc.`, such as `rpc.discover`, may be called.
    public var allowsReservedMethods = false
    /// Whether a string id with the digits of a call's numeric id is accepted as that id, if no
    /// call has the string itself as its id. Some gateways turn numbers into strings.
    public var acceptsStringifiedNumericIDs = false
    /// Whether a response of version 2.0 may have both a result and an error, neither of them null;
    /// then the error counts. The specification forbids both, but some servers write them. A null
    /// beside the other member is always ignored, with a warning beside a result.
    public var acceptsResultBesideError = false
    /// Members added to each request. They cannot replace the protocol's own.
    public var additionalMembers: JSONObject = [:]
    /// The maximum size of a response's body, in bytes.
    public var maximumResponseSize = 64 << 20
    /// The maximum nesting depth of a response, in 1...512; a larger value counts as 512.
    public var maximumDepth = JSONReader.maximumDepth
    /// The maximum number of calls in a batch.
    public var maximumBatchCount = 100

    /// Creates an adapter.
    ///
    /// - Parameters:
    ///   - version: The protocol's version.
    ///   - ids: The source of ids, shared by copies of the adapter.
    public init(version: Version = .v2, ids: RPCIDGenerator = .counting()) {
        self.version = version
        self.ids = ids
    }

    /// Boxes a call as a POST with a JSON body. If this throws, nothing has been sent.
    ///
    /// - Throws: `PayloadError` with code `reserved-method`, `reserved-member`, `invalid-params`
    ///   (1.0 with parameters by name) or `invalid-id`.
    public func box(_ call: RPCCall) throws(PayloadError) -> BoxedRequest {
        let id = call.isNotification ? nil : try ids.next()
        return boxed(
            .object(try request(for: call, id: id)), expecting: BoxedRequest.Expected(ids: [id]))
    }

    /// Unboxes the response to one call.
    ///
    /// - Throws: `PayloadError` with code `rpc-error`, `http-status`, `malformed-response` or
    ///   `response-too-large`.
    public func unbox(_ response: RawResponse, to request: BoxedRequest) throws(PayloadError)
        -> UnboxedResponse
    {
        try response.requireSize(atMost: maximumResponseSize)
        guard let first = request.expected.ids.first, let id = first else {
            return try unboxNotification(response)
        }
        let reader = try read(response)
        let message = JSONRPCResponse(reader.root, in: reader, adapter: self)
        var warnings: [RPCWarning] = message.hasBoth ? [.resultAndError] : []
        switch message.content {
        case .problem(let problem): throw message.refusal(of: response, because: problem)
        case .error(let error):
            if !message.namesNoCall {
                try requireID(id, of: message, in: response, warnings: &warnings)
            }
            throw .rpcError(error, status: response.status)
        case .result(let element):
            try requireID(id, of: message, in: response, warnings: &warnings)
            if !response.isSuccess {
                let message = "the result has HTTP status \(response.status), expected 2xx"
                warnings.append(RPCWarning(.resultWithStatus, message))
            }
            return UnboxedResponse(
                result: RPCResult(validated: reader.bytes(of: element)), status: response.status,
                warnings: warnings)
        }
    }

    // MARK: Helpers

    /// Returns the request object.
    package func request(for call: RPCCall, id: RPCID?) throws(PayloadError) -> JSONObject {
        guard allowsReservedMethods || !call.method.isReserved else {
            throw PayloadError(
                .reservedMethod, "the method begins with \"rpc.\", which JSON-RPC reserves")
        }
        var object: JSONObject = [:]
        if version == .v2 { object["jsonrpc"] = "2.0" }
        object["method"] = .string(call.method.name)
        if let parameters = call.parameters, !parameters.isEmpty {
            object["params"] = parameters.json
            if version == .v1, case .object = parameters {
                throw .invalidParameters(
                    "found parameters by name, JSON-RPC 1.0 has them by position only")
            }
        } else if version == .v1 {
            object["params"] = []
        }
        object["id"] = version == .v1 ? id?.json ?? .null : id?.json
        for (name, value) in additionalMembers {
            guard !Self.ownMembers.contains(where: { sameBytes($0, name) }) else {
                throw PayloadError(
                    .reservedMember, "an additional member has one of the protocol's own names")
            }
            object[name] = value
        }
        return object
    }

    static let ownMembers = ["jsonrpc", "id", "method", "params"]

    package func nextID() throws(PayloadError) -> RPCID { try ids.next() }

    func boxed(_ message: JSONValue, expecting expected: BoxedRequest.Expected) -> BoxedRequest {
        BoxedRequest(
            method: .post,
            fields: [.contentType: "application/json", .accept: "application/json"],
            body: message.serialized(), expected: expected)
    }

    /// Parses a response's body. If that fails, a status that is not 2xx is the error that is
    /// thrown.
    func read(_ response: RawResponse) throws(PayloadError) -> JSONReader {
        do {
            return try read(response.json)
        } catch {
            let place = error.code == .tooLargeJSON ? "the body" : "the body is not strict JSON"
            let problem = response.body.isEmpty ? "the body is empty" : "\(place): \(error.message)"
            throw .unusable(response, because: problem)
        }
    }

    /// Parses a message or an array of messages. Only the positions of each message's own members
    /// are recorded: a result can be large, and the caller decides when to parse it.
    package func read(_ message: [UInt8]) throws(JSONError) -> JSONReader {
        let isArray = message.first { $0 > 0x20 } == UInt8(ascii: "[")
        return try JSONReader(
            message, maximumDepth: maximumDepth, recordedDepth: isArray ? 2 : 1,
            recordedCount: 1 << 16 + 64 * min(max(maximumBatchCount, 0), 1 << 24))
    }

    private func requireID(
        _ expected: RPCID, of message: JSONRPCResponse, in response: RawResponse,
        warnings: inout [RPCWarning]
    ) throws(PayloadError) {
        if case .id(let id) = message.id {
            if id == expected { return }
            if acceptsStringifiedNumericIDs, id == expected.stringified {
                warnings.append(.stringifiedID)
                return
            }
        }
        throw message.refusal(of: response, because: Self.otherID)
    }

    /// The problem of a response whose id is not the call's.
    package static let otherID = "the id does not equal the call's id in type and value"

    /// Unboxes the response to a notification. Any 2xx is a success; a body is only a warning.
    func unboxNotification(_ response: RawResponse) throws(PayloadError) -> UnboxedResponse {
        guard response.isSuccess else {
            if let reader = try? read(response) {
                let message = JSONRPCResponse(reader.root, in: reader, adapter: self)
                if case .error(let error) = message.content, message.namesNoCall || message.isRPC {
                    throw .rpcError(error, status: response.status)
                }
            }
            throw .httpStatus(response)
        }
        let warnings: [RPCWarning] = response.body.isEmpty ? [] : [.bodyForNotification]
        return UnboxedResponse(result: nil, status: response.status, warnings: warnings)
    }
}

extension RPCWarning {
    package static let resultAndError = RPCWarning(
        .resultAndError, "a response has both result and error, expected one of them"
    )
    static let bodyForNotification = RPCWarning(
        .bodyForNotification, "the response to a notification has a body, expected none")
    package static let stringifiedID = RPCWarning(
        .stringifiedID, "the server turned a numeric id into a string")
}
