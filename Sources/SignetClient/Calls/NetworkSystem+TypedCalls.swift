internal import SignetJSON
internal import SignetRPC

extension NetworkSystem {
    /// Makes a typed call.
    ///
    /// - Parameters:
    ///   - call: The call with its parameters.
    ///   - options: The options, which win over the call's own.
    /// - Throws: `ClientError`; its `kind` says whether there was no response, the server refused,
    ///   the response was malformed, or the cause is on this side.
    public func send<Call: TypedCall>(
        _ call: Call, options: CallOptions = CallOptions()
    ) async throws(ClientError) -> Call.Success {
        try await perform(call, options: options) { try call.success(from: $0) }
    }

    /// Makes a call without an endpoint type, and decodes the result as the expected type: `let
    /// order: Order = try await system.send(.get("/orders/7", on: "shop"))`.
    ///
    /// - Parameters:
    ///   - call: The call with its parameters.
    ///   - options: The options, which win over the call's own.
    /// - Throws: As `send(_:options:)` of any typed call.
    public func send<Call: TypedCall, Value: Decodable & Sendable>(
        _ call: Call, options: CallOptions = CallOptions()
    ) async throws(ClientError) -> Value where Call.Success == UnboxedResponse {
        try await perform(call, options: options) { try $0.decode(Value.self) }
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
        options: CallOptions = CallOptions()
    ) async throws(ClientError) -> Value {
        try await perform(call, options: options) { try $0.decode(Value.self) }
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
        options: CallOptions = CallOptions()
    ) async throws(ClientError) -> Output {
        try await perform(call, reading: reformer.responseContent, options: options) {
            try reformer.reform($0)
        }
    }

    /// Makes a typed call, and returns its outcome with everything that is known of it.
    ///
    /// - Parameters:
    ///   - call: The call with its parameters.
    ///   - options: The options, which win over the call's own.
    public func response<Call: TypedCall>(
        to call: Call, options: CallOptions = CallOptions()
    ) async -> Response<Call.Success> {
        await response { note throws(ClientError) in
            try await self.perform(call, options: options, noting: note) {
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
        options: CallOptions = CallOptions()
    ) async -> Response<Output> {
        await response { note throws(ClientError) in
            try await self.perform(
                call, reading: reformer.responseContent, options: options, noting: note
            ) { try reformer.reform($0) }
        }
    }

    private func response<Output>(
        _ work: (ResponseNote) async throws(ClientError) -> Output
    ) async -> Response<Output> {
        let note = ResponseNote()
        do throws(ClientError) {
            return note.response(.success(try await work(note)))
        } catch {
            return note.response(.failure(error))
        }
    }

    /// All stages of a typed call. Its values are checked, and its request is made, after it was
    /// admitted and before its duplicate policy decides.
    private func perform<Output: Sendable>(
        _ call: some TypedCall, reading content: ResponseContent = .json, options: CallOptions,
        noting note: ResponseNote? = nil,
        reform: @escaping @Sendable (UnboxedResponse) throws -> Output
    ) async throws(ClientError) -> Output {
        let target = CallTarget(call, options: options)
        return try await admitted(target) { context throws(ClientError) in
            note?.begin(context)
            let request = try Self.request(
                of: call, reading: content, as: context.options.json)
            let response = try await self.duplicateCalls.run(request, for: context) {
                context throws(ClientError) in
                let (boxed, base) = try context.box(request)
                return try await self.complete(boxed, at: base, for: context)
            }
            note?.setRaw(response.raw)
            return try Self.value(of: response, reform)
        }
    }

    /// Checks a call's values and makes its request.
    static func request(
        of call: some TypedCall, reading content: ResponseContent = .json,
        as conventions: JSONConventions?
    ) throws(ClientError) -> CallRequest {
        do {
            try call.validate()
        } catch let error as ClientError {
            throw error
        } catch let error as RPCError {
            throw ClientError(error)
        } catch {
            // For an error of a foreign type the message has only the type's name, because the
            // error may contain a value.
            throw ClientError(
                .invalidParameters, "the call refused its values: \(type(of: error))")
        }
        return try ClientError.rpc { () throws(RPCError) in
            var request = try JSONConventions.using(conventions ?? JSONConventions()) {
                () throws(RPCError) in try call.request()
            }
            if content == .any || call.responseContent == .any { request.responseContent = .any }
            return request
        }
    }

    /// Converts a response.
    static func value<Value>(
        of response: UnboxedResponse, _ reform: (UnboxedResponse) throws -> Value
    ) throws(ClientError) -> Value {
        do {
            return try reform(response)
        } catch let error as ClientError {
            throw error
        } catch {
            // For an error of a foreign type the message has only the type's name, because the
            // error may contain what the server sent.
            let reason = (error as? JSONError)?.message ?? "\(type(of: error))"
            throw ClientError(
                .typeMismatch, "the result is of another type: \(reason)",
                status: response.status)
        }
    }
}
