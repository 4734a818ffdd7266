import SignetJSON

/// What became of the calls of a batch.
public struct BatchResponse: Sendable, Hashable {
    /// What became of one call.
    public enum Outcome: Sendable, Hashable {
        /// The call has a result.
        case result(RPCResult)
        /// The call failed: the server's error, or a malformed response with the call's id.
        case failure(RPCError)
        /// The server refused the batch with an error that names no call, and answered this call
        /// in no other way.
        case rejected(RPCError)
        /// No response names this call.
        case unanswered
        /// A notification, which has no response.
        case notified
    }

    /// One outcome for each call, in the calls' order.
    public var outcomes: [Outcome]
    /// The calls' ids in the same order; nil for a notification.
    public var ids: [RPCID?]
    /// The HTTP status.
    public var status: Int
    /// What the server did against the protocol without harm.
    public var warnings: [RPCWarning]

    /// The error of the whole: `batch-incomplete` where a call is unanswered, else the first that the
    /// server gave, else that of the first malformed response; nil where all went well.
    public var error: RPCError? {
        let unanswered = outcomes.count { $0 == .unanswered }
        if unanswered > 0 {
            return RPCError(
                code: .batchIncomplete,
                message: "\(unanswered) of \(outcomes.count) calls have no response", status: status
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
    /// - Throws: `RPCError` with code `empty-batch`, `batch-too-large`, `unsupported-call` (version
    ///   1.0), `invalid-id` (the generator gives one id twice), or what one call throws.
    public func box(batch calls: [RPCCall]) throws(RPCError) -> BoxedRequest {
        let (message, ids) = try message(batch: calls)
        return boxed(message.serialized(), BoxedRequest.Expected(ids: ids, isBatch: true))
    }

    /// The array of a batch, and the calls' ids; nil for a notification.
    func message(batch calls: [RPCCall]) throws(RPCError) -> (JSONValue, ids: [RPCID?]) {
        guard version == .v2 else {
            throw RPCError(code: .unsupportedCall, message: "JSON-RPC 1.0 knows no batches")
        }
        guard !calls.isEmpty else {
            throw RPCError(code: .emptyBatch, message: "the batch holds no call")
        }
        guard calls.count <= maximumBatchCount else {
            throw RPCError(
                code: .batchTooLarge,
                message: "the batch holds \(calls.count) calls, the limit is \(maximumBatchCount)")
        }
        var ids: [RPCID?] = []
        var known: Set<RPCID> = []
        var requests: [JSONValue] = []
        for call in calls {
            let id = call.isNotification ? nil : try nextID()
            if let id, !known.insert(id).inserted {
                throw RPCError(code: .invalidID, message: "the id generator gave one id twice")
            }
            ids.append(id)
            requests.append(.object(try request(call, id)))
        }
        return (.array(requests), ids)
    }

    /// Unboxes the response to a batch. Responses are matched by id only, in whatever order they come.
    ///
    /// - Throws: `RPCError` where the response as a whole is none: `http-status`, `malformed-reply` or
    ///   `reply-too-large`.
    public func unboxBatch(
        _ response: RawResponse, to request: BoxedRequest
    ) throws(RPCError) -> BatchResponse {
        guard response.body.count <= maximumResponseSize else {
            throw .responseTooLarge(response, limit: maximumResponseSize)
        }
        var matching = BatchMatching(request.expected.ids, self, response.status)
        if matching.open.isEmpty {
            let warnings = try unboxNotification(response).warnings
            return matching.finished(warnings)
        }
        let reader = try read(response)
        switch reader.root.kind {
        case .array:
            var isRPC = false
            for element in reader.elements(of: reader.root) {
                let answer = JSONRPCResponse(element, in: reader, self)
                isRPC = isRPC || answer.isRPC
                matching.take(answer, reader)
            }
            // A gateway's array says nothing of the calls; its status and its body do.
            guard response.isSuccess || isRPC else { throw .httpStatus(response) }
        case .object:
            let answer = JSONRPCResponse(reader.root, in: reader, self)
            if case .defect(let defect) = answer.content {
                guard response.isSuccess || answer.isRPC else { throw .httpStatus(response) }
                throw .malformedResponse(defect, status: response.status)
            }
            matching.take(answer, reader)
        default:
            guard response.isSuccess else { throw .httpStatus(response) }
            throw .malformedResponse(
                "found a scalar, expected an array of responses or one response",
                status: response.status)
        }
        return matching.finished([])
    }
}

/// Joins the responses of a batch to its calls.
private struct BatchMatching {
    private let ids: [RPCID?]
    private let acceptsStringified: Bool
    private let status: Int
    private var outcomes: [BatchResponse.Outcome?]
    private(set) var open: [RPCID: Int] = [:]
    private var all: [RPCID: Int] = [:]
    private var warnings: [RPCWarning] = []
    private var untold = 0
    private var rejection: RPCError?

    init(_ ids: [RPCID?], _ adapter: JSONRPCAdapter, _ status: Int) {
        self.ids = ids
        self.acceptsStringified = adapter.acceptsStringifiedNumericIDs
        self.status = status
        self.outcomes = ids.map { $0 == nil ? .notified : nil }
        for (position, id) in ids.enumerated() { if let id { open[id] = position } }
        self.all = open
    }

    mutating func take(_ answer: JSONRPCResponse, _ reader: JSONReader) {
        if answer.hasBoth { warn(.resultAndError) }
        let outcome: BatchResponse.Outcome
        switch answer.content {
        case .result(let element):
            outcome = .result(RPCResult(validated: reader.bytes(of: element)))
        case .error(let error):
            let error = RPCError.rpcError(error, status: status)
            if case .null = answer.id {
                if rejection == nil { rejection = error }
                return
            }
            outcome = .failure(error)
        case .defect(let defect): outcome = .failure(.malformedResponse(defect, status: status))
        }
        guard case .id(let id) = answer.id else {
            warn(.malformedResponse, "a response of the batch has no id of a call")
            return
        }
        if let position = open.removeValue(forKey: id) {
            outcomes[position] = outcome
        } else if all[id] != nil {
            warn(
                .duplicateResponse,
                "a call of the batch has a second response; the first one counts")
        } else if acceptsStringified, let position = positionOfStringified(id) {
            warn(.stringifiedID)
            outcomes[position] = outcome
        } else {
            warn(.unknownResponse, "a response of the batch belongs to no call of it")
        }
    }

    private mutating func positionOfStringified(_ id: RPCID) -> Int? {
        guard case .string(let text) = id, let number = JSONNumber(text: text) else { return nil }
        return open.removeValue(forKey: .number(number))
    }

    private mutating func warn(_ code: RPCWarning.Code, _ message: String) {
        warn(RPCWarning(code: code, message: message))
    }

    /// Keeps so many; a server that floods must not fill the memory.
    private mutating func warn(_ warning: RPCWarning) {
        if warnings.count < 100 { warnings.append(warning) } else { untold += 1 }
    }

    func finished(_ more: [RPCWarning]) -> BatchResponse {
        var warnings = warnings
        if untold > 0 {
            warnings.append(
                RPCWarning(
                    code: .furtherWarnings, message: "there were \(untold) further warnings"))
        }
        let rest = rejection.map(BatchResponse.Outcome.rejected) ?? .unanswered
        return BatchResponse(
            outcomes: outcomes.map { $0 ?? rest }, ids: ids, status: status,
            warnings: warnings + more)
    }
}
