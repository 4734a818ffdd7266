import HTTPTypes
import SignetRPC
import SignetTransport

// The places of stubs. Without a stub each returns what it was given, at once.
extension CallContext {
    func beforeBoxing(_ request: CallRequest) async throws(ClientError) -> CallRequest {
        guard !stubs.isEmpty else { return request }
        return try await apply(to: request, at: .beforeBoxing) { stub, request in
            try await stub.beforeBoxing(request, of: self.identity)
        }
    }

    /// Returns a call of a batch.
    ///
    /// - Throws: `unsupported-call` if a stub made something of it that can't be in a batch.
    func beforeBoxing(_ call: RPCCall) async throws(ClientError) -> RPCCall {
        guard !stubs.isEmpty else { return call }
        guard case .procedure(let changed, nil) = try await beforeBoxing(.procedure(call)) else {
            throw ClientError(
                .unsupportedCall,
                "a stub put a request with a path into a batch, expected a procedure")
        }
        return changed
    }

    /// - Throws: `refused-url` if a stub changed the scheme or the host.
    func beforeSigning(_ request: HTTPRequest) async throws(ClientError) -> HTTPRequest {
        guard !stubs.isEmpty else { return request }
        let changed = try await apply(to: request, at: .beforeSigning) { stub, request in
            try await stub.beforeSigning(request, of: self.identity)
        }
        guard changed.scheme == request.scheme, changed.authority == request.authority else {
            throw .refusedURL("a stub changed the scheme or the host of the call")
        }
        if changed.path != request.path { try snapshot.urlRules.check(WebURL(of: changed)) }
        return changed
    }

    /// The response of the first stub that has one; nil if the engine is to be asked.
    func beforeEngine(_ request: FrozenRequest) async throws(ClientError) -> EngineResponse? {
        let request = EngineRequest(request.head, body: request.body)
        for active in stubs {
            let response = try await Self.run(active.stub) {
                try await active.stub.beforeEngine(request, of: self.identity)
            }
            guard let response else { continue }
            log.add(CallRecord.StubUse(place: .beforeEngine, module: active.module.name))
            return response
        }
        return nil
    }

    func afterEngine(_ response: EngineResponse) async throws(ClientError) -> EngineResponse {
        var response = response
        for active in stubs {
            let current = response
            response = try await Self.run(active.stub) {
                try await active.stub.afterEngine(current, of: self.identity)
            }
            if !response.isSame(as: current) {
                log.noteChange()
                log.add(CallRecord.StubUse(place: .afterEngine, module: active.module.name))
            }
        }
        return response
    }

    func beforeDelivery(_ response: UnboxedResponse) async throws(ClientError) -> UnboxedResponse {
        guard !stubs.isEmpty else { return response }
        let changed = try await apply(to: response, at: .beforeDelivery) { stub, response in
            try await stub.beforeDelivery(response, of: self.identity)
        }
        if changed != response {
            log.setChanged(
                status: changed.status, bodySize: changed.raw.body.count, isOwn: false)
        }
        return changed
    }

    private func apply<Value: Sendable & Equatable>(
        to value: Value, at place: CallRecord.StubUse.Place,
        _ act: @Sendable (any CallStub, Value) async throws -> Value
    ) async throws(ClientError) -> Value {
        var value = value
        for active in stubs {
            let current = value
            value = try await Self.run(active.stub) { try await act(active.stub, current) }
            if value != current {
                log.add(CallRecord.StubUse(place: place, module: active.module.name))
            }
        }
        return value
    }

    private static func run<Value: Sendable>(
        _ stub: any CallStub, _ work: () async throws -> Value
    ) async throws(ClientError) -> Value {
        do {
            return try await work()
        } catch {
            throw ClientError(of: "stub", stub, error)
        }
    }
}
