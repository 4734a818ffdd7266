import SignetJSON
import SignetRPC
import Synchronization

/// Messages from the peer.
extension ConnectionCore {
    /// Receives one message: a request, a notification, a response, or an array of them.
    func receive(_ message: [UInt8]) async {
        let reader: JSONReader
        do {
            reader = try adapter.read(message)
        } catch {
            guard error.code == .tooLargeJSON else {
                reportProtocolError("a message is not strict JSON: \(error.message)")
                return send(.invalid(.parseError))
            }
            reportProtocolError("a message: \(error.message)")
            return send(.invalid(.invalidRequest))
        }
        var progress = BatchProgress()
        guard reader.root.kind == .array, adapter.version == .v2 else {
            await receive(
                reader.root, in: reader, size: message.count, progress: &progress
            ) { [weak self] response in
                if let response { self?.send(response) }
            }
            if let rejection = progress.rejection { calls.endAll(with: .rejected(rejection)) }
            return
        }
        let elements = reader.elements(of: reader.root)
        guard !elements.isEmpty, elements.count <= adapter.maximumBatchCount else {
            reportProtocolError(
                "a batch has \(elements.count) elements, expected 1...\(adapter.maximumBatchCount)")
            return send(.invalid(.invalidRequest))
        }
        let responses = BatchResponses(count: elements.count) { [weak self] in self?.send($0) }
        for element in elements {
            await receive(
                element, in: reader, size: element.range.count, progress: &progress
            ) { responses.add($0) }
        }
        // The response to a batch is one array. A call that it omits has no response, and an error
        // without an id in it belongs to such a call.
        for batch in progress.batches {
            calls.endRest(
                of: batch, with: progress.rejection.map(CallOutcome.rejected) ?? .unanswered)
        }
        if let rejection = progress.rejection, progress.batches.isEmpty {
            calls.endAll(with: .rejected(rejection))
        }
    }

    /// The parts of one message received so far.
    private struct BatchProgress {
        /// The batches that received a response to one of their calls.
        var batches: [PendingBatch] = []
        /// The first error that names no call.
        var rejection: PayloadError?
        /// The ids of its requests, including those that were served already.
        var ids: Set<RPCID> = []

        mutating func add(_ batch: PendingBatch?) {
            if let batch, !batches.contains(where: { $0 === batch }) { batches.append(batch) }
        }
    }

    /// Receives one object. `respond` is called once.
    private func receive(
        _ element: JSONReader.Element, in reader: JSONReader, size: Int,
        progress: inout BatchProgress, respond: @escaping @Sendable (RPCResponse?) -> Void
    ) async {
        guard element.kind == .object else {
            reportProtocolError(
                "found a JSON value of another type, expected a request or response object")
            return respond(.invalid(.invalidRequest))
        }
        var method: JSONReader.Element?
        var isResponse = false
        var hasID = false
        for (name, value) in reader.members(of: element) {
            if reader.isString(name, equalTo: "method") {
                method = value
            } else if reader.isString(name, equalTo: "id") {
                hasID = true
            } else if reader.isString(name, equalTo: "result")
                || reader.isString(name, equalTo: "error")
            {
                isResponse = true
            }
        }
        if let method, !isResponse || (adapter.version == .v1 && method.kind == .string) {
            return await receiveRequest(
                element, in: reader, size: size, progress: &progress, respond: respond)
        }
        let response = JSONRPCResponse(element, in: reader, adapter: adapter)
        if isResponse || (hasID && isPending(response.id)) {
            respond(nil)
            return receiveResponse(
                response, in: reader, isAlsoRequest: method != nil, progress: &progress)
        }
        reportProtocolError("found an object that is neither a request nor a response")
        respond(.invalid(.invalidRequest))
    }

    // MARK: Responses

    private func isPending(_ id: JSONRPCResponse.ID) -> Bool {
        if case .id(let id) = id { calls.isPending(id) } else { false }
    }

    private func receiveResponse(
        _ response: JSONRPCResponse, in reader: JSONReader, isAlsoRequest: Bool,
        progress: inout BatchProgress
    ) {
        let outcome: Result<RPCResult, any Error>
        switch response.content {
        case _ where isAlsoRequest:
            outcome = .failure(malformed("found a method together with a result or error"))
        case .result(let element):
            outcome = .success(RPCResult(validated: reader.bytes(of: element)))
        case .error(let error):
            let error = PayloadError.rpcError(error, status: nil)
            if case .null = response.id {
                // The peer could not read one of our messages, and doesn't say which.
                if calls.count == 0 {
                    warn(.unknownResponse, message: "an error names no call, and none is pending")
                }
                if progress.rejection == nil { progress.rejection = error }
                return
            }
            outcome = .failure(error)
        case .problem(let problem): outcome = .failure(malformed(problem))
        }
        guard case .id(let id) = response.id else {
            return reportProtocolError("found a response without a call's id")
        }
        defer {
            // With version 1.0 (section 2.1) an invalid response ends the connection, with 2.0 only
            // its call.
            if adapter.version == .v1, case .problem(let problem) = response.content {
                countMalformed(problem)
            }
        }
        if response.hasBoth { options.onWarning?(.resultAndError) }
        switch calls.complete(id, with: outcome) {
        case .completed(let batch): progress.add(batch)
        case .abandoned: break
        case .duplicate:
            warn(
                .duplicateResponse,
                message: "a call has a second response; the first one counts")
        case .unknown: receiveUnknown(id, outcome: outcome, progress: &progress)
        }
    }

    /// Receives a response to no pending call. If its id is a call's id in another spelling, no
    /// other response will come, so the call ends: with the response if the adapter accepts that
    /// spelling, else with an error.
    private func receiveUnknown(
        _ id: RPCID, outcome: Result<RPCResult, any Error>, progress: inout BatchProgress
    ) {
        var completion = PendingCalls.Completion.unknown
        if case .string(let text) = id, let number = JSONNumber(text: text),
            calls.isPending(.number(number))
        {
            let isAccepted = adapter.acceptsStringifiedNumericIDs
            if isAccepted { options.onWarning?(.stringifiedID) }
            completion = calls.complete(
                .number(number),
                with: isAccepted ? outcome : .failure(malformed(JSONRPCAdapter.otherID)))
        } else if case .number(let number) = id,
            let value = number.double.flatMap(Int64.init(exactly:)),
            calls.isPending(.number(JSONNumber(value)))
        {
            completion = calls.complete(
                .number(JSONNumber(value)), with: .failure(malformed(JSONRPCAdapter.otherID)))
        } else {
            warn(.unknownResponse, message: "a response has an id that belongs to no call")
        }
        if case .completed(let batch) = completion { progress.add(batch) }
    }
    private func malformed(_ what: String) -> PayloadError { .malformedResponse(what, status: nil) }

    private func warn(_ code: RPCWarning.Code, message: String) {
        options.onWarning?(RPCWarning(code, message))
    }

    /// Ends every pending call, because this message may have been the response to any of them.
    private func reportProtocolError(_ what: String) {
        calls.endAll(with: .response(.failure(malformed(what))))
        countMalformed(what)
    }

    private func countMalformed(_ what: String) {
        warn(.malformedResponse, message: what)
        let count = malformedCount.add(1, ordering: .relaxed).newValue
        // JSON-RPC 1.0, section 2.1, closes the connection at once.
        if count > options.maximumMalformedMessages || adapter.version == .v1 {
            end(malformed("\(count) messages are not valid JSON-RPC; the last: \(what)"))
        }
    }

    // MARK: Requests

    private func receiveRequest(
        _ element: JSONReader.Element, in reader: JSONReader, size: Int,
        progress: inout BatchProgress, respond: @escaping @Sendable (RPCResponse?) -> Void
    ) async {
        guard let (call, id) = request(reader.value(element)) else {
            countMalformed("found an invalid request")
            return respond(.invalid(.invalidRequest))
        }
        guard let id else {
            respond(nil)
            if let cancelled = options.cancellation.cancelled(by: call) {
                return incoming.cancel(cancelled)
            }
            return await incoming.add(
                IncomingCalls.Item(call: call, id: nil, size: size, respond: respond))
        }
        let isNew = progress.ids.insert(id).inserted
        if let error = isNew ? incoming.admit(id) : IncomingCalls.duplicateID {
            let isKnown = error.kind == .invalidRequest
            return respond(RPCResponse(id: isKnown ? .null : id.json, outcome: .failure(error)))
        }
        await incoming.add(IncomingCalls.Item(call: call, id: id, size: size, respond: respond))
    }

    /// Returns a request's call and id, nil for a notification's id; returns nil if the request is
    /// invalid.
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

    /// Passes notifications to the handler one after another, and starts requests between them.
    func deliver() async {
        let peer = RPCPeer(core: self)
        while let item = await incoming.next() {
            guard let id = item.id else {
                await handler.notification(item.call, peer)
                continue
            }
            incoming.attach(Task { await serve(item, id: id, peer: peer) }, to: id)
        }
    }

    private func serve(_ item: IncomingCalls.Item, id: RPCID, peer: RPCPeer) async {
        let outcome: Result<JSONValue, RPCServerError>
        do {
            outcome = .success(try await handler.request(item.call, peer))
        } catch let error as RPCServerError {
            outcome = .failure(error)
        } catch let error where error is CancellationError || error.isCancellation {
            outcome = .failure(RPCServerError(.requestCancelled))
        } catch {
            outcome = .failure(RPCServerError(.internalError))
        }
        let isUnwanted = incoming.finish(id) && !options.cancellation.respondsToCancelled
        item.respond(isUnwanted ? nil : RPCResponse(id: id.json, outcome: outcome))
    }

    /// Sends a response; if it is too large, an error in its place.
    private func send(_ response: RPCResponse) { send([response]) { $0[0] } }

    /// Sends the responses to a batch; if they are too large, errors in their place.
    private func send(_ responses: [RPCResponse]) { send(responses) { .array($0) } }

    private func send(_ responses: [RPCResponse], as message: ([JSONValue]) -> JSONValue) {
        func frame(_ responses: [RPCResponse]) -> [UInt8]? {
            try? framed(message(responses.map { .object($0.object(adapter.version)) }))
        }
        let bytes =
            frame(responses) ?? frame(responses.map { .invalid(.internalError, id: $0.id) })
        if let bytes { outgoing.add(bytes) }
    }
}
