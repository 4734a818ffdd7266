import SignetRPC

extension NetworkSystem {
    /// Makes a typed call.
    ///
    /// - Parameters:
    ///   - call: The call with its parameters.
    ///   - options: The options, which win over the call's own.
    /// - Throws: `ClientError`; its `kind` says whether there was no response, the server refused,
    ///   the response was malformed, or the cause is on this side.
    public func send<Call: TypedCall>(
        _ call: Call, options: RequestOptions = RequestOptions()
    ) async throws(ClientError) -> Call.Success {
        try await pipeline.perform(call, options: options) { try call.success(from: $0) }
    }

    /// Makes a call without an endpoint type, and decodes the result as the expected type: `let
    /// order: Order = try await system.send(.get("/orders/7", on: "shop"))`.
    ///
    /// - Parameters:
    ///   - call: The call with its parameters.
    ///   - options: The options, which win over the call's own.
    /// - Throws: As `send(_:options:)` of any typed call.
    public func send<Call: TypedCall, Value: Decodable & Sendable>(
        _ call: Call, options: RequestOptions = RequestOptions()
    ) async throws(ClientError) -> Value where Call.Success == UnboxedResponse {
        try await pipeline.perform(call, options: options) { try $0.decode(Value.self) }
    }

    /// Makes a typed call, and decodes the result as another type than the call's own.
    ///
    /// - Parameters:
    ///   - call: The call with its parameters.
    ///   - type: The type of the value.
    ///   - options: The options, which win over the call's own.
    /// - Throws: As `send(_:options:)`.
    public func send<Value: Decodable & Sendable>(
        _ call: some TypedCall, as type: Value.Type,
        options: RequestOptions = RequestOptions()
    ) async throws(ClientError) -> Value {
        try await pipeline.perform(call, options: options) { try $0.decode(Value.self) }
    }

    /// Makes a typed call, and converts the response with a reformer in place of the call's own
    /// conversion.
    ///
    /// - Parameters:
    ///   - call: The call with its parameters.
    ///   - reformer: The conversion, such as `.text`, `.bytes`, `.raw` or one of the program's own.
    ///   - options: The options, which win over the call's own.
    /// - Throws: As `send(_:options:)`.
    public func send<Output>(
        _ call: some TypedCall, as reformer: some Reformer<Output>,
        options: RequestOptions = RequestOptions()
    ) async throws(ClientError) -> Output {
        try await pipeline.perform(call, reading: reformer.responseContent, options: options) {
            try reformer.reform($0, to: call)
        }
    }

    /// Makes a typed call, and returns its outcome with everything that is known of it.
    ///
    /// - Parameters:
    ///   - call: The call with its parameters.
    ///   - options: The options, which win over the call's own.
    public func response<Call: TypedCall>(
        to call: Call, options: RequestOptions = RequestOptions()
    ) async -> CallResponse<Call.Success> {
        await response { note throws(ClientError) in
            try await self.pipeline.perform(call, options: options, noting: note) {
                try call.success(from: $0)
            }
        }
    }

    /// Makes a typed call, converts the response with a reformer, and returns the outcome with
    /// everything that is known of it.
    ///
    /// - Parameters:
    ///   - call: The call with its parameters.
    ///   - reformer: The conversion.
    ///   - options: The options, which win over the call's own.
    public func response<Output>(
        to call: some TypedCall, as reformer: some Reformer<Output>,
        options: RequestOptions = RequestOptions()
    ) async -> CallResponse<Output> {
        await response { note throws(ClientError) in
            try await self.pipeline.perform(
                call, reading: reformer.responseContent, options: options, noting: note
            ) { try reformer.reform($0, to: call) }
        }
    }

    private func response<Output>(
        _ work: (ResponseNote) async throws(ClientError) -> Output
    ) async -> CallResponse<Output> {
        let note = ResponseNote()
        do throws(ClientError) {
            return note.response(.success(try await work(note)))
        } catch {
            return note.response(.failure(error))
        }
    }
}
