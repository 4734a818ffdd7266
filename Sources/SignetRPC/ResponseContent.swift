/// The content of a response that a caller can read. Only REST has other content than JSON.
public enum ResponseContent: Sendable, Hashable {
    /// Only JSON; a response of another form is an error.
    case json
    /// Anything: an image, text, JSON or no body at all. If the body isn't JSON, the call has no
    /// result, and ``UnboxedResponse/raw`` holds the body.
    case any
    /// As ``any``, and also a response with status 304 (RFC 9110, section 15.4.5), which has no
    /// content: for a caller that asked with a validator and reads the status.
    case message
}

extension RawResponse {
    /// The body as text; nil if it isn't valid UTF-8.
    public var text: String? { String(validating: body, as: UTF8.self) }

    /// Refuses a body of more than `limit` bytes.
    func requireSize(atMost limit: Int) throws(PayloadError) {
        guard body.count <= limit else {
            throw PayloadError(
                .responseTooLarge,
                "the response's body has \(body.count) bytes, the limit is \(limit)", status: status
            )
        }
    }
}
