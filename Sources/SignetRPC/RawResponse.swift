public import HTTPTypes
import SignetBase

/// An HTTP response with its whole body, not yet interpreted.
public struct RawResponse: Sendable, Hashable {
    /// The HTTP status.
    public var status: Int
    /// The response's fields.
    public var fields: HTTPFields
    /// The body's bytes, after content codings were decoded.
    public var body: [UInt8]
    /// The fields that followed the body (RFC 9110, section 6.5); nil if there were none.
    public var trailers: HTTPFields?

    /// The interim responses that came before it, such as a 103 (RFC 9110, section 15.2); never a
    /// 100. A stored response, a stream and a download have none.
    public var interim: [HTTPResponse] = []

    /// More to say in the message of an error about the status; no value of the response.
    package var note: String?

    /// Creates a response without trailers.
    public init(status: Int, fields: HTTPFields = [:], body: [UInt8]) {
        self.status = status
        self.fields = fields
        self.body = body
    }

    /// The body without a byte order mark at its beginning, which a reader of JSON may skip (RFC
    /// 8259, section 8.1).
    var json: [UInt8] { body.hasByteOrderMark ? Array(body.dropFirst(3)) : body }

    /// Whether the status is 2xx.
    public var isSuccess: Bool { (200..<300).contains(status) }
}

extension RawResponse: CustomStringConvertible, CustomReflectable {
    /// The status, the names of the fields and the body's size; no value of a field and not the
    /// body.
    public var description: String {
        let names = fields.map(\.name.canonicalName).joined(separator: ", ")
        return "RawResponse(status: \(status), fields: [\(names)], body: \(body.count) bytes)"
    }

    /// The parts of the description, and the names of the trailers.
    public var customMirror: Mirror {
        Mirror(
            self,
            children: [
                "status": status, "fields": fields.map(\.name.canonicalName),
                "body": "\(body.count) bytes",
                "trailers": trailers.map { $0.map(\.name.canonicalName) } as Any,
            ])
    }
}
