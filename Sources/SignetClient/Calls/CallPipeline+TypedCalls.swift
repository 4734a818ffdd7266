import SignetJSON
import SignetRPC

extension CallPipeline {
    /// Makes a typed call.
    ///
    /// - Parameters:
    ///   - content: The content of the response that the caller can read.
    ///   - note: Notes what becomes known of the call.
    ///   - reform: Converts the response.
    func perform<Output: Sendable>(
        _ call: some TypedCall, reading content: ResponseContent = .json, options: RequestOptions,
        noting note: ResponseNote? = nil,
        reform: @escaping @Sendable (UnboxedResponse) throws -> Output
    ) async throws(ClientError) -> Output {
        try await perform(
            call, at: CallTarget(call, options: options, isInMemory: true), reading: content,
            noting: note, reform: reform)
    }

    /// Makes a typed call, which may have begun.
    func perform<Output: Sendable>(
        _ call: some TypedCall, at target: CallTarget, reading content: ResponseContent,
        noting note: ResponseNote?,
        reform: @escaping @Sendable (UnboxedResponse) throws -> Output
    ) async throws(ClientError) -> Output {
        try await run(
            target, began: note.map { note in { @Sendable in note.begin($0) } },
            request: { context throws(ClientError) in
                try CallRequest(of: call, reading: content, as: context.options.json)
            },
            value: { response throws(ClientError) in
                note?.setRaw(response.raw)
                return try response.converted(by: reform)
            })
    }
}

extension CallTarget {
    /// Creates the target of a typed call, whose own options are below those that are given.
    init(
        _ call: some TypedCall, options: RequestOptions, isBoxed: Bool = true,
        isInMemory: Bool = false
    ) {
        self.init(
            service: call.service, method: call.methodName,
            options: call.callOptions.merging(options), isBoxed: isBoxed,
            isInMemory: isInMemory, path: call.pathTemplate)
    }
}

extension CallRequest {
    /// Checks a call's values and makes its request.
    init(
        of call: some TypedCall, reading content: ResponseContent = .json,
        as conventions: JSONConventions?
    ) throws(ClientError) {
        do {
            try call.validate()
        } catch let error as ClientError {
            throw error
        } catch let error as PayloadError {
            throw ClientError(error)
        } catch {
            // For an error of a foreign type the message has only the type's name, because the
            // error may contain a value.
            throw ClientError(
                .invalidParameters, "the call refused its values: \(type(of: error))")
        }
        self = try ClientError.rpc { () throws(PayloadError) in
            var request: CallRequest
            let conventions = conventions ?? JSONConventions()
            if conventions == .ofCall {
                request = try call.request()
            } else {
                request = try JSONConventions.using(conventions) { () throws(PayloadError) in
                    try call.request()
                }
            }
            if content != .json {
                request.responseContent = content
            } else if call.responseContent != .json {
                request.responseContent = call.responseContent
            }
            return request
        }
    }
}

extension UnboxedResponse {
    /// Converts the response.
    func converted<Value>(
        by reform: (UnboxedResponse) throws -> Value
    ) throws(ClientError) -> Value {
        do {
            return try reform(self)
        } catch let error as ClientError {
            throw error
        } catch let error as JSONError {
            throw ClientError(
                .typeMismatch, "the result is of another type: \(error.message)", status: status)
        } catch {
            // The message has only the type's name, because the error may contain what the server
            // sent.
            throw ClientError(
                .conversionFailed, "the program's conversion threw \(type(of: error))",
                status: status)
        }
    }
}
