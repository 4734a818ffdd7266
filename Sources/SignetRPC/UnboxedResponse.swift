public import HTTPTypes

/// The outcome of one call.
public struct UnboxedResponse: Sendable, Hashable {
    /// The result; nil for a notification, and for content that isn't JSON if the caller can read
    /// any.
    public var result: RPCResult?
    /// The HTTP status.
    public var status: Int
    /// The response's fields if the adapter passes them on, as ``RESTAdapter`` does; otherwise
    /// empty.
    public var fields: HTTPFields
    /// Harmless violations of the protocol by the server.
    public var warnings: [RPCWarning]
    /// The response as it was received, after content codings were decoded. An adapter needn't set
    /// it, because the network system does. Until then the body is the result's text.
    public var raw: RawResponse

    /// Creates an unboxed response.
    public init(
        result: RPCResult?, status: Int, fields: HTTPFields = [:], warnings: [RPCWarning] = []
    ) {
        self.init(
            result: result, warnings: warnings,
            raw: RawResponse(status: status, fields: fields, body: result?.bytes ?? []))
    }

    /// Creates the response that an adapter read, with its fields.
    init(result: RPCResult?, warnings: [RPCWarning] = [], raw: RawResponse) {
        self.result = result
        self.status = raw.status
        self.fields = raw.fields
        self.warnings = warnings
        self.raw = raw
    }

    /// Creates a response that has no result, because no adapter has read it.
    public init(_ raw: RawResponse) {
        self.init(result: nil, raw: raw)
    }
}
