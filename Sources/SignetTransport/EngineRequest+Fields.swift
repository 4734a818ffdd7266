public import HTTPTypes
import SignetBase

extension EngineRequest {
    /// Returns whether an engine sends a field of the request unchanged. An engine calls this for
    /// each field before it connects.
    ///
    /// The engine itself creates Host from the request's authority and Content-Length from the
    /// body. The request may contain these two only with the same values. For them the function
    /// returns `false`.
    ///
    /// - Throws: `TransportError` with code `invalid-request` for a Host or a Content-Length that
    ///   differs, and for a field that belongs to the connection or to a proxy.
    public func sends(_ field: HTTPField) throws(TransportError) -> Bool {
        switch field.name.canonicalName {
        case "host":
            guard sameBytes(field.value, request.authority ?? "") else {
                throw Self.invalid("the field Host and the request's authority differ")
            }
            return false
        case "content-length":
            guard let length = body.length, field.value == String(length) else {
                throw Self.invalid(
                    body.length.map {
                        "the field Content-Length does not match the body, which has \($0) bytes"
                    } ?? "found the field Content-Length with a body whose length is not known")
            }
            return false
        case "proxy-authorization":
            throw Self.invalid(
                "the field Proxy-Authorization is not allowed: set the proxy's credentials")
        case "trailer" where body.hasTrailers: return true
        case "transfer-encoding", "upgrade", "http2-settings", "proxy-connection", "trailer",
            "keep-alive":
            throw Self.invalid(
                "the field \(field.name.rawName) is not allowed, because the connection sets it")
        case "connection" where !["close", "keep-alive"].contains(field.value.lowercased()):
            throw Self.invalid("the field Connection must be close or keep-alive")
        default: return true
        }
    }

    private static func invalid(_ message: String) -> TransportError {
        TransportError(.invalidRequest, message)
    }
}
