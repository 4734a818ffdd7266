package import SignetJSON

/// The outcomes of the calls of a batch.
///
/// ```swift
/// import SignetJSON
/// import SignetRPC
///
/// let adapter = JSONRPCAdapter()
/// let request = try adapter.box(batch: [
///     RPCCall("orders.get", parameters: .array([7])),
///     RPCCall("log", parameters: .array(["asked"]), isNotification: true),
/// ])
/// // Send `request.body` with the HTTP client of your choice; this is the response:
/// let body = #"[{"jsonrpc":"2.0","id":1,"result":"tea"}]"#
/// let response = try adapter.unboxBatch(
///     RawResponse(status: 200, body: Array(body.utf8)), to: request)
/// for case .result(let result) in response.outcomes { print(result.value) }
/// ```
public struct BatchResponse: Sendable, Hashable {
    /// The outcome of one call.
    public enum Outcome: Sendable, Hashable {
        /// The call's result.
        case result(RPCResult)
        /// The server's error, or a malformed response with the call's id.
        case failure(PayloadError)
        /// The server rejected the batch with an error that names no call, and sent no response
        /// with this call's id.
        case rejected(PayloadError)
        /// No response has this call's id.
        case unanswered
        /// The call is a notification, which has no response.
        case notified
    }

    /// One outcome for each call, in the calls' order.
    public var outcomes: [Outcome]
    /// The calls' ids in the same order; nil for a notification.
    public var ids: [RPCID?]
    /// The HTTP status.
    public var status: Int
    /// Harmless violations of the protocol by the server.
    public var warnings: [RPCWarning]

    /// Sets the conventions by which the results and the errors' data are decoded.
    package mutating func use(_ conventions: JSONConventions) {
        for index in outcomes.indices {
            switch outcomes[index] {
            case .result(var result):
                result.conventions = conventions
                outcomes[index] = .result(result)
            case .failure(var error):
                error.server?.conventions = conventions
                outcomes[index] = .failure(error)
            case .rejected(var error):
                error.server?.conventions = conventions
                outcomes[index] = .rejected(error)
            case .unanswered, .notified: break
            }
        }
    }

    /// The batch's error: `batch-incomplete` if a call is unanswered, else the server's first
    /// error, else the first malformed response; nil if every call succeeded.
    public var error: PayloadError? {
        let unanswered = outcomes.count { $0 == .unanswered }
        if unanswered > 0 {
            return PayloadError(
                .batchIncomplete,
                "\(unanswered) of \(outcomes.count) calls have no response", status: status
            )
        }
        let errors = outcomes.lazy.compactMap { outcome in
            switch outcome {
            case .failure(let error), .rejected(let error): error
            case .result, .unanswered, .notified: nil
            }
        }
        return errors.first { $0.code == .rpcError } ?? errors.first
    }
}

extension JSONRPCAdapter {
    /// Boxes calls and notifications as one array (JSON-RPC 2.0, section 6).
    ///
    /// - Throws: `PayloadError` with code `empty-batch`, `batch-too-large`, `unsupported-call`
    ///   (version 1.0), `invalid-id` (the generator repeated an id), or an error that boxing one
    ///   call throws.
    public func box(batch calls: [RPCCall]) throws(PayloadError) -> BoxedRequest {
        let (message, ids) = try message(batch: calls)
        return boxed(message, expecting: BoxedRequest.Expected(ids: ids, isBatch: true))
    }

    /// Returns the array of a batch, and the calls' ids; nil for a notification.
    package func message(batch calls: [RPCCall]) throws(PayloadError) -> (JSONValue, ids: [RPCID?])
    {
        guard version == .v2 else {
            throw PayloadError(.unsupportedCall, "JSON-RPC 1.0 has no batches")
        }
        guard !calls.isEmpty else {
            throw PayloadError(.emptyBatch, "the batch contains no call")
        }
        guard calls.count <= maximumBatchCount else {
            throw PayloadError(
                .batchTooLarge,
                "the batch contains \(calls.count) calls, the limit is \(maximumBatchCount)"
            )
        }
        var ids: [RPCID?] = []
        var known: Set<RPCID> = []
        var requests: [JSONValue] = []
        for call in calls {
            let id = call.isNotification ? nil : try nextID()
            if let id, !known.insert(id).inserted {
                throw PayloadError(.invalidCallID, "the id generator repeated an id")
            }
            ids.append(id)
            requests.append(.object(try request(for: call, id: id)))
        }
        return (.array(requests), ids)
    }

    /// Unboxes the response to a batch. Responses are matched to calls by id, in any order.
    ///
    /// - Throws: `PayloadError` with code `http-status`, `malformed-response` or
    ///   `response-too-large` if the response as a whole is unusable.
    public func unboxBatch(
        _ response: RawResponse, to request: BoxedRequest
    ) throws(PayloadError) -> BatchResponse {
        try response.requireSize(atMost: maximumResponseSize)
        var matching = BatchMatching(
            ids: request.expected.ids, adapter: self, status: response.status)
        if matching.open.isEmpty {
            let warnings = try unboxNotification(response).warnings
            return matching.finished(addingWarnings: warnings)
        }
        let reader = try read(response)
        switch reader.root.kind {
        case .array:
            var isRPC = false
            for element in reader.elements(of: reader.root) {
                let message = JSONRPCResponse(element, in: reader, adapter: self)
                isRPC = isRPC || message.isRPC
                matching.receive(message, from: reader)
            }
            // If no element is a JSON-RPC response, the array came from a gateway: its status
            // counts.
            guard response.isSuccess || isRPC else { throw .httpStatus(response) }
        case .object:
            let message = JSONRPCResponse(reader.root, in: reader, adapter: self)
            if case .problem(let problem) = message.content {
                throw message.refusal(of: response, because: problem)
            }
            matching.receive(message, from: reader)
        default:
            throw .unusable(
                response, because: "found a scalar, expected an array of responses or one response")
        }
        return matching.finished(addingWarnings: [])
    }
}

/// Matches the responses of a batch to its calls.
private struct BatchMatching {
    private let ids: [RPCID?]
    private let acceptsStringified: Bool
    private let status: Int
    private var outcomes: [BatchResponse.Outcome?]
    private(set) var open: [RPCID: Int] = [:]
    private var all: [RPCID: Int] = [:]
    private var warnings: [RPCWarning] = []
    private var droppedWarnings = 0
    private var rejection: PayloadError?

    init(ids: [RPCID?], adapter: JSONRPCAdapter, status: Int) {
        self.ids = ids
        self.acceptsStringified = adapter.acceptsStringifiedNumericIDs
        self.status = status
        self.outcomes = ids.map { $0 == nil ? .notified : nil }
        for (position, id) in ids.enumerated() { if let id { open[id] = position } }
        self.all = open
    }

    mutating func receive(_ message: JSONRPCResponse, from reader: JSONReader) {
        if message.hasBoth { warn(.resultAndError) }
        let outcome: BatchResponse.Outcome
        switch message.content {
        case .result(let element):
            outcome = .result(RPCResult(validated: reader.bytes(of: element)))
        case .error(let error):
            let error = PayloadError.rpcError(error, status: status)
            if case .null = message.id {
                if rejection == nil { rejection = error }
                return
            }
            outcome = .failure(error)
        case .problem(let problem): outcome = .failure(.malformedResponse(problem, status: status))
        }
        guard case .id(let id) = message.id else {
            warn(RPCWarning(.malformedResponse, "a response of the batch names no call"))
            return
        }
        if let position = open.removeValue(forKey: id) {
            outcomes[position] = outcome
        } else if all[id] != nil {
            let message = "a call of the batch has a second response; the first one counts"
            warn(RPCWarning(.duplicateResponse, message))
        } else if acceptsStringified, let position = removeStringified(id) {
            warn(.stringifiedID)
            outcomes[position] = outcome
        } else {
            let message = "a response of the batch has none of its calls' ids"
            warn(RPCWarning(.unknownResponse, message))
        }
    }

    private mutating func removeStringified(_ id: RPCID) -> Int? {
        guard case .string(let text) = id, let number = JSONNumber(text: text) else { return nil }
        return open.removeValue(forKey: .number(number))
    }

    /// Keeps at most 100 warnings, so that a server that floods doesn't fill the memory.
    private mutating func warn(_ warning: RPCWarning) {
        if warnings.count < 100 { warnings.append(warning) } else { droppedWarnings += 1 }
    }

    func finished(addingWarnings more: [RPCWarning]) -> BatchResponse {
        var warnings = warnings
        if droppedWarnings > 0 {
            warnings.append(
                RPCWarning(.furtherWarnings, "there were \(droppedWarnings) further warnings"))
        }
        let rest = rejection.map(BatchResponse.Outcome.rejected) ?? .unanswered
        return BatchResponse(
            outcomes: outcomes.map { $0 ?? rest }, ids: ids, status: status,
            warnings: warnings + more)
    }
}
