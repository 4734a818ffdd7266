import HTTPTypes
import SignetJSON

/// Plain REST: the call's method is the HTTP method, the result is the reply's JSON body.
///
/// Parameters by name become the JSON body for POST, PUT and PATCH; otherwise they join the query.
public struct RESTAdapter: PayloadAdapter {
    /// The largest body of a reply, in bytes.
    public var maximumReplySize = 64 << 20

    /// Makes an adapter.
    public init() {}

    /// Boxes a call. Nothing has been sent where this throws.
    ///
    /// In the query an array repeats its name, and names and values are percent-encoded (RFC 3986,
    /// section 2.3: all but unreserved characters).
    ///
    /// - Throws: `RPCError` with code `invalid-method` (no token of RFC 9110, section 5.6.2),
    ///   `invalid-params` (by position; an object or null for the query) or `unsupported-call` (a
    ///   notification).
    public func box(_ call: RPCCall) throws(RPCError) -> BoxedRequest {
        guard !call.isNotification else {
            throw RPCError(code: .unsupportedCall, message: "REST knows no notifications")
        }
        guard let method = HTTPRequest.Method(rawValue: call.method.name) else {
            throw RPCError(code: .invalidMethod, message: "the method is no HTTP method")
        }
        var request = BoxedRequest(method: method, fields: [.accept: "application/json"])
        switch call.parameters {
        case nil: break
        case .array:
            throw .invalidParameters("the parameters are by position, REST knows them by name only")
        case .object(let object):
            switch method {
            case .post, .put, .patch:
                request.fields[.contentType] = "application/json"
                request.body = JSONValue.object(object).serialized()
            default:
                request.query = object.isEmpty ? nil : try Self.query(object)
            }
        }
        return request
    }

    /// Unboxes a reply: the body's JSON, or null where a 2xx has no body.
    ///
    /// - Throws: `RPCError` with code `http-status` (not 2xx), `malformed-reply` (no strict JSON) or
    ///   `reply-too-large`.
    public func unbox(_ reply: RawReply, to request: BoxedRequest) throws(RPCError) -> UnboxedReply
    {
        guard reply.body.count <= maximumReplySize else {
            throw .replyTooLarge(reply, limit: maximumReplySize)
        }
        guard reply.isSuccess else { throw .httpStatus(reply) }
        guard !reply.body.isEmpty else {
            return UnboxedReply(
                result: RPCResult(validated: Array("null".utf8)), status: reply.status)
        }
        do {
            return UnboxedReply(result: try RPCResult(parsing: reply.body), status: reply.status)
        } catch {
            throw .malformedReply(
                "the body is no strict JSON: \(error.message)", status: reply.status)
        }
    }

    /// Percent-encoded pairs, joined by `&`.
    private static func query(_ object: JSONObject) throws(RPCError) -> String? {
        var pairs: [String] = []
        for (name, value) in object {
            for element in value.array ?? [value] {
                guard let text = scalar(element) else {
                    let place = value.array == nil ? "a value" : "an array's element"
                    throw .invalidParameters(
                        "\(place) of type \(element.typeName) cannot join the query, wanted a "
                            + "string, number or boolean")
                }
                pairs.append(encoded(name) + "=" + encoded(text))
            }
        }
        return pairs.isEmpty ? nil : pairs.joined(separator: "&")
    }

    private static func scalar(_ value: JSONValue) -> String? {
        switch value {
        case .string(let text): text
        case .number(let number): number.text
        case .bool(let bool): bool ? "true" : "false"
        case .null, .array, .object: nil
        }
    }

    private static func encoded(_ text: String) -> String {
        let digits = Array("0123456789ABCDEF".utf8)
        var bytes: [UInt8] = []
        for byte in text.utf8 {
            switch byte {
            case 0x30...0x39, 0x41...0x5a, 0x61...0x7a, 0x2d, 0x2e, 0x5f, 0x7e: bytes.append(byte)
            default: bytes += [0x25, digits[Int(byte >> 4)], digits[Int(byte & 15)]]
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}
