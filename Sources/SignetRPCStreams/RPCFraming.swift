import SignetRPC

/// The framing of messages in a stream of bytes.
///
/// A byte order mark before a message or before the first header is skipped (RFC 8259, section
/// 8.1), because some runtimes write it there.
public struct RPCFraming: Sendable, Hashable {
    enum Value: Sendable, Hashable { case contentLength, lines }

    let value: Value

    /// A header with `Content-Length` before each message (Language Server Protocol 3.17, base
    /// protocol).
    ///
    /// Parsed strictly: lines end with CR LF, with exactly one Content-Length of decimal digits and
    /// at most one Content-Type, whose charset, if any, is UTF-8. Other fields are ignored.
    public static let contentLength = RPCFraming(value: .contentLength)

    /// One message per line, as on the Model Context Protocol's standard streams. Written with LF;
    /// when reading, a CR before the LF and empty lines are ignored.
    public static let lines = RPCFraming(value: .lines)

    /// Returns a message, which is compact JSON and so contains no newline, as bytes of the stream.
    func frame(_ message: [UInt8]) -> [UInt8] {
        switch value {
        case .contentLength: Array("Content-Length: \(message.count)\r\n\r\n".utf8) + message
        case .lines: message + [0x0A]
        }
    }
}
