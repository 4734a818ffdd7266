internal import SignetRPC

/// How messages stand in a stream of bytes.
public struct RPCFraming: Sendable, Hashable {
    enum Value: Sendable, Hashable { case contentLength, lines }

    let value: Value

    /// A header with `Content-Length` before each message (Language Server Protocol 3.17, base protocol).
    ///
    /// Read strictly: lines end with CR LF, exactly one Content-Length of decimal digits, at most one
    /// Content-Type whose charset, if any, is UTF-8. Fields of other names are passed over.
    public static let contentLength = RPCFraming(value: .contentLength)

    /// One message a line, as of the Model Context Protocol's standard streams. Written with LF; a CR
    /// before the LF and empty lines are passed over.
    public static let lines = RPCFraming(value: .lines)

    /// A message, which is compact JSON and so holds no newline, as bytes of the stream.
    func frame(_ message: [UInt8]) -> [UInt8] {
        switch value {
        case .contentLength: Array("Content-Length: \(message.count)\r\n\r\n".utf8) + message
        case .lines: message + [0x0A]
        }
    }
}
