/// Turns calls into HTTP requests ("boxing") and responses into results ("unboxing").
///
/// An adapter holds no state of a single call. The data that unboxing needs about the request is in
/// ``BoxedRequest/expected``. Conform to this protocol to support a protocol of your own:
///
/// ```swift
/// import HTTPTypes
/// import SignetJSON
/// import SignetRPC
///
/// struct PlainTextAdapter: PayloadAdapter {
///     func box(_ call: RPCCall) throws(PayloadError) -> BoxedRequest {
///         guard !call.isNotification, case .object(let members)? = call.parameters else {
///             throw PayloadError(.unsupportedCall, "expected parameters by name")
///         }
///         return BoxedRequest(
///             method: .post, path: "/" + call.method.name,
///             fields: [.contentType: "application/json"],
///             body: JSONValue.object(members).serialized())
///     }
///
///     func unbox(
///         _ response: RawResponse, to request: BoxedRequest
///     ) throws(PayloadError) -> UnboxedResponse {
///         guard response.isSuccess else { throw .httpStatus(response) }
///         let text = String(decoding: response.body, as: UTF8.self)
///         return UnboxedResponse(result: RPCResult(.string(text)), status: response.status)
///     }
/// }
/// ```
public protocol PayloadAdapter: Sendable {
    /// Boxes a call. If this throws, nothing has been sent.
    func box(_ call: RPCCall) throws(PayloadError) -> BoxedRequest

    /// Unboxes the response to a call that this adapter boxed.
    func unbox(_ response: RawResponse, to request: BoxedRequest) throws(PayloadError)
        -> UnboxedResponse
}
