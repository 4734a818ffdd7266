public import HTTPTypes
public import SignetRPC
public import SignetTransport

/// A request on its way, as the interceptors of an attempt see it.
public struct OutgoingCall: Sendable, CustomReflectable {
    let call: AdmittedCall
    /// Which call it is.
    public var identity: CallIdentity { call.identity }
    /// The call's merged options.
    public var options: RequestOptions { call.options }
    /// The run mode of the configuration that the call began with.
    public var mode: RunMode { call.mode }
    /// The number of the attempt, from 1; nil before the first one.
    public internal(set) var attempt: Int?
    /// The origin of the request, which never changes.
    let origin: WebOrigin
    /// The method, URL and fields. The scheme and the host can't be changed.
    public var request: HTTPRequest
    /// The body. `isReplayable` says whether it can be sent again.
    public var body: HTTPRequestBody

    init(call: AdmittedCall, at origin: WebOrigin, request: HTTPRequest, body: HTTPRequestBody) {
        (self.call, self.origin) = (call, origin)
        (self.request, self.body) = (request, body)
    }

    /// Call, attempt, method and URL without its query; neither fields nor the body.
    public var customMirror: Mirror {
        Mirror(
            self,
            children: [
                "call": identity, "attempt": attempt as Any, "method": request.method,
                "url": CallRecord.Location(request).text,
            ])
    }
}

/// Code that runs around a whole call: it sees the call before its request is made, and the outcome
/// before it is converted.
///
/// An interceptor may change the request, change the response, look at errors, respond itself, or
/// call `next` again if the body is replayable. Interceptors run in the order in which they are
/// declared: those of the system first, then those of the service, the endpoint and the call.
///
/// The outcome is the unboxed response, which the service's checks have accepted, or the error: no
/// response, an RPC error, a status that isn't 2xx, a business code or a malformed body. Each
/// `next` runs all that follows: the parameters' checks, the duplicate policy, boxing, and the
/// attempts.
///
/// An exchange and a batch have only the response's `raw`. For a download and a stream its body
/// is empty, and only an own response (without `next`) is written to the file or handed out. After
/// a stream's header was handed out, and while or after a download's body was read, `next` ends
/// with `interceptor-failed`.
///
/// This one renews a token that the service calls expired by a code in its result, for all calls
/// in one place:
///
/// ```swift
/// struct Renewal: CallInterceptor {
///     let tokens: Tokens
///     func intercept(_ call: PendingCall, next: NextCall) async throws -> UnboxedResponse {
///         var call = call
///         let token = try await tokens.token()
///         call.fields[.authorization] = "Bearer \(token)"
///         do throws(ClientError) {
///             return try await next(call)
///         } catch {
///             guard error.response?.result?.value["code"] == 4001 else { throw error }
///             let new = try await tokens.token(replacing: token)
///             call.fields[.authorization] = "Bearer \(new)"
///             return try await next(call)
///         }
///     }
/// }
///
/// actor Tokens {
///     private let renew: @Sendable () async throws -> String
///     private var current: Task<String, any Error>?
///
///     init(renew: @escaping @Sendable () async throws -> String) { self.renew = renew }
///
///     /// The token, or a new one; calls that replace the same one at once get the same new one.
///     func token(replacing old: String? = nil) async throws -> String {
///         while let running = current {
///             if let token = try? await running.value, token != old { return token }
///             if current == running { current = nil }  // it has expired, or couldn't be had
///         }
///         let task = Task { try await renew() }
///         current = task
///         return try await task.value
///     }
/// }
/// ```
public protocol CallInterceptor: Sendable {
    /// Handles a call.
    ///
    /// - Throws: A `ClientError` is passed on. Of any other error the caller gets the type's name,
    ///   with the code `interceptor-failed`.
    func intercept(_ call: PendingCall, next: NextCall) async throws -> UnboxedResponse
}

/// Code that runs around each attempt, before the attempt is signed.
///
/// It sees the response when the header has arrived, after redirects; the body can be read once.
///
/// ```swift
/// struct RequestNumber: AttemptInterceptor {
///     func intercept(_ call: OutgoingCall, next: NextAttempt) async throws -> EngineResponse {
///         var call = call
///         call.request.headerFields[.init("X-Attempt")!] = "\(call.attempt ?? 0)"
///         return try await next(call)
///     }
/// }
/// ```
public protocol AttemptInterceptor: Sendable {
    /// Handles an attempt.
    ///
    /// - Throws: As `CallInterceptor.intercept(_:next:)`.
    func intercept(_ call: OutgoingCall, next: NextAttempt) async throws -> EngineResponse
}

/// The identity, options and run mode of an admitted call, as interceptors see them.
final class AdmittedCall: Sendable {
    let identity: CallIdentity
    /// The merged options.
    let options: RequestOptions
    /// The run mode of the configuration that the call began with.
    let mode: RunMode

    init(_ identity: CallIdentity, options: RequestOptions, mode: RunMode) {
        self.identity = identity
        self.options = options
        self.mode = mode
    }
}

/// The rest of the pipeline around a call: `try await next(call)`.
///
/// A further use needs a replayable body. After the interceptor has returned, every use throws.
public struct NextCall: Sendable {
    let send: @Sendable (PendingCall) async throws(ClientError) -> UnboxedResponse

    /// Sends the call on.
    ///
    /// - Throws: The call's error; `body-not-replayable` the second time, if the body can't be read
    ///   again; `cancelled` after the interceptor returned or the call ended.
    public func callAsFunction(_ call: PendingCall) async throws(ClientError) -> UnboxedResponse {
        try await send(call)
    }
}

/// The rest of the pipeline around an attempt: `try await next(call)`.
///
/// A further use needs a replayable body. After the interceptor has returned, every use throws.
public struct NextAttempt: Sendable {
    let send: @Sendable (OutgoingCall) async throws(ClientError) -> EngineResponse

    /// Sends the attempt on.
    ///
    /// - Throws: As ``NextCall/callAsFunction(_:)``; `refused-url` if the scheme or the host was
    ///   changed.
    public func callAsFunction(_ call: OutgoingCall) async throws(ClientError) -> EngineResponse {
        try await send(call)
    }
}
