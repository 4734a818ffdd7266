import SignetJSON
import Synchronization

/// What the peer says.
extension ConnectionCore {
    /// Takes one message: a request, a notification, a response, or an array of them.
    func take(_ message: [UInt8]) async {
        let reader: JSONReader
        do {
            reader = try adapter.read(message)
        } catch {
            guard error.code == .tooLarge else {
                fault("a message is not strict JSON: \(error.message)")
                return send(.invalid(.parseError))
            }
            fault("a message: \(error.message)")
            return send(.invalid(.invalidRequest))
        }
        var seen = Seen()
        guard reader.root.kind == .array, adapter.version == .v2 else {
            await take(reader.root, in: reader, message.count, &seen) { [weak self] answer in
                if let answer { self?.send(answer) }
            }
            if let rejection = seen.rejection { calls.failAll(.rejected(rejection)) }
            return
        }
        let elements = reader.elements(of: reader.root)
        guard !elements.isEmpty, elements.count <= adapter.maximumBatchCount else {
            fault(
                "a batch has \(elements.count) elements, expected 1...\(adapter.maximumBatchCount)")
            return send(.invalid(.invalidRequest))
        }
        let answers = BatchResponses(count: elements.count) { [weak self] in self?.send($0) }
        for element in elements {
            await take(element, in: reader, element.range.count, &seen) { answers.take($0) }
        }
        // The answer to a batch is one array: what it leaves out has no response, and an error in it that
        // names no call is that of such a call.
        for batch in seen.batches {
            calls.settle(batch, seen.rejection.map(CallOutcome.rejected) ?? .unanswered)
        }
        if let rejection = seen.rejection, seen.batches.isEmpty {
            calls.failAll(.rejected(rejection))
        }
    }

    /// What has been seen of one message.
    private struct Seen {
        /// The batches of which a call was answered.
        var batches: [PendingBatch] = []
        /// The first error that names no call.
        var rejection: RPCError?
        /// The ids of its requests, those that have been answered too.
        var ids: Set<RPCID> = []

        mutating func note(_ batch: PendingBatch?) {
            if let batch, !batches.contains(where: { $0 === batch }) { batches.append(batch) }
        }
    }

    /// Takes one object; `answer` is called once.
    private func take(
        _ element: JSONReader.Element, in reader: JSONReader, _ size: Int,
        _ seen: inout Seen,
        answer: @escaping @Sendable (RPCResponse?) -> Void
    ) async {
        guard element.kind == .object else {
            fault("found a JSON value that is no object, expected a request or a response")
            return answer(.invalid(.invalidRequest))
        }
        var method: JSONReader.Element?
        var isResponse = false
        var hasID = false
        for (name, value) in reader.members(of: element) {
            if reader.isString(name, "method") {
                method = value
            } else if reader.isString(name, "id") {
                hasID = true
            } else if reader.isString(name, "result") || reader.isString(name, "error") {
                isResponse = true
            }
        }
        if let method, !isResponse || (adapter.version == .v1 && method.kind == .string) {
            return await takeRequest(element, in: reader, size, &seen, answer: answer)
        }
        let response = JSONRPCResponse(element, in: reader, adapter: adapter)
        if isResponse || (hasID && isOpen(response.id)) {
            answer(nil)
            return take(response, in: reader, isAlsoRequest: method != nil, &seen)
        }
        fault("found an object that is neither a request nor a response")
        answer(.invalid(.invalidRequest))
    }

    // MARK: Responses

    private func isOpen(_ id: JSONRPCResponse.ID) -> Bool {
        if case .id(let id) = id { calls.isOpen(id) } else { false }
    }

    private func take(
        _ response: JSONRPCResponse, in reader: JSONReader, isAlsoRequest: Bool, _ seen: inout Seen
    ) {
        let outcome: Result<RPCResult, any Error>
        switch response.content {
        case _ where isAlsoRequest:
            outcome = .failure(malformed("found a method beside result or error"))
        case .result(let element):
            outcome = .success(RPCResult(validated: reader.bytes(of: element)))
        case .error(let error):
            let error = RPCError.rpcError(error, status: nil)
            if case .null = response.id {
                // The peer could not read some message of ours, and does not say which.
                if calls.count == 0 {
                    warn(.unknownResponse, "an error names no call, and none is open")
                }
                if seen.rejection == nil { seen.rejection = error }
                return
            }
            outcome = .failure(error)
        case .defect(let defect): outcome = .failure(malformed(defect))
        }
        guard case .id(let id) = response.id else {
            return fault("found a response without an id of a call")
        }
        defer {
            // Of version 1.0 (section 2.1) an invalid response ends the connection, whosever it is; of 2.0
            // it ends its call alone.
            if adapter.version == .v1, case .defect(let defect) = response.content {
                countMalformed(defect)
            }
        }
        if response.hasBoth { options.onWarning?(.resultAndError) }
        switch calls.finish(id, outcome) {
        case .finished(let batch): seen.note(batch)
        case .abandoned: break
        case .duplicate:
            warn(.duplicateResponse, "a call has a second response; the first one counts")
        case .unknown: takeUnknown(id, outcome, &seen)
        }
    }

    /// A response with no call's id may have a call's id in another spelling: it is not the response, unless
    /// that is allowed, but no other will come.
    private func takeUnknown(
        _ id: RPCID, _ outcome: Result<RPCResult, any Error>, _ seen: inout Seen
    ) {
        var match = PendingCalls.Match.unknown
        if case .string(let text) = id, let number = JSONNumber(text: text),
            calls.isOpen(.number(number))
        {
            let isAccepted = adapter.acceptsStringifiedNumericIDs
            if isAccepted { options.onWarning?(.stringifiedID) }
            match = calls.finish(
                .number(number),
                isAccepted ? outcome : .failure(malformed(Self.otherID)))
        } else if case .number(let number) = id,
            let value = number.double.flatMap(Int64.init(exactly:)),
            calls.isOpen(.number(JSONNumber(value)))
        {
            match = calls.finish(
                .number(JSONNumber(value)), .failure(malformed(Self.otherID)))
        } else {
            warn(.unknownResponse, "a response belongs to no call")
        }
        if case .finished(let batch) = match { seen.note(batch) }
    }

    private static let otherID = "the member id is not the call's id in type and value"

    private func malformed(_ what: String) -> RPCError { .malformedResponse(what, status: nil) }

    private func warn(_ code: RPCWarning.Code, _ message: String) {
        options.onWarning?(RPCWarning(code: code, message: message))
    }

    /// A message that may have been the response to any call.
    private func fault(_ what: String) {
        calls.failAll(.response(.failure(malformed(what))))
        countMalformed(what)
    }

    private func countMalformed(_ what: String) {
        warn(.malformedResponse, what)
        let count = malformedCount.add(1, ordering: .relaxed).newValue
        // JSON-RPC 1.0, section 2.1, closes the connection at once.
        if count > options.maximumMalformedMessages || adapter.version == .v1 {
            end(malformed("\(count) messages are none of JSON-RPC; the last: \(what)"))
        }
    }

    // MARK: Requests

    private func takeRequest(
        _ element: JSONReader.Element, in reader: JSONReader, _ size: Int, _ seen: inout Seen,
        answer: @escaping @Sendable (RPCResponse?) -> Void
    ) async {
        guard let (call, id) = request(reader.value(element)) else {
            countMalformed("found a request that is none")
            return answer(.invalid(.invalidRequest))
        }
        guard let id else {
            answer(nil)
            if let cancelled = options.cancellation.cancelled(by: call) {
                return incoming.cancel(cancelled)
            }
            return await incoming.add(
                IncomingCalls.Item(call: call, id: nil, size: size, answer: answer))
        }
        let isNew = seen.ids.insert(id).inserted
        if let error = isNew ? incoming.admit(id) : IncomingCalls.isOpen {
            let isKnown = error.kind == .invalidRequest
            return answer(RPCResponse(id: isKnown ? .null : id.json, outcome: .failure(error)))
        }
        await incoming.add(IncomingCalls.Item(call: call, id: id, size: size, answer: answer))
    }

    /// Reads a request; nil where it is none, an id of nil for a notification.
    private func request(_ value: JSONValue) -> (RPCCall, RPCID?)? {
        guard let object = value.object, let method = object["method"]?.string else { return nil }
        if adapter.version == .v2, object["jsonrpc"] != "2.0" { return nil }
        var call = RPCCall(RPCMethod(method))
        switch object["params"] {
        case .array(let values): call.parameters = .array(values)
        case .object(let members) where adapter.version == .v2: call.parameters = .object(members)
        case nil where adapter.version == .v2: break
        default: return nil
        }
        switch object["id"] {
        case .string(let text): return (call, .string(text))
        case .number(let number): return (call, .number(number))
        case nil where adapter.version == .v2: break
        case .null where adapter.version == .v1: break
        default: return nil
        }
        call.isNotification = true
        return (call, nil)
    }

    /// Hands notifications to the handler one after another, and begins requests between them.
    func deliver() async {
        let peer = RPCPeer(core: self)
        while let item = await incoming.next() {
            guard let id = item.id else {
                await handler.notification(item.call, peer)
                continue
            }
            incoming.serve(id, Task { await serve(item, id, peer) })
        }
    }

    private func serve(_ item: IncomingCalls.Item, _ id: RPCID, _ peer: RPCPeer) async {
        let outcome: Result<JSONValue, RPCServerError>
        do {
            outcome = .success(try await handler.request(item.call, peer))
        } catch let error as RPCServerError {
            outcome = .failure(error)
        } catch is CancellationError {
            outcome = .failure(RPCServerError(.requestCancelled))
        } catch {
            outcome = .failure(RPCServerError(.internalError))
        }
        let isUnwanted = incoming.finish(id) && !options.cancellation.answersCancelled
        item.answer(isUnwanted ? nil : RPCResponse(id: id.json, outcome: outcome))
    }

    private func send(_ answer: RPCResponse) {
        if let frame = try? framed(answer.object(adapter.version)) {
            outgoing.add(frame)
        } else if let frame = try? framed(
            RPCResponse.invalid(.internalError, answer.id).object(adapter.version))
        {
            outgoing.add(frame)
        }
    }

    private func send(_ answers: [RPCResponse]) {
        let array = { (answers: [RPCResponse]) in
            JSONValue.array(answers.map { .object($0.object(self.adapter.version)) })
        }
        if let frame = try? framed(array(answers)) {
            outgoing.add(frame)
        } else if let frame = try? framed(
            array(answers.map { RPCResponse.invalid(.internalError, $0.id) }))
        {
            outgoing.add(frame)
        }
    }
}
