internal import SignetRPC

/// The system's error in opening, reading or writing a stream.
public struct RPCStreamError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The operation that failed: `open`, `connect`, `start`, `read` or `write`.
    public let operation: String
    /// The system's error number; `ECANCELED` if the stream was closed on this side.
    public let number: Int32

    init(operation: String, number: Int32) {
        self.operation = operation
        self.number = number
    }

    /// The operation and the system's text for the error.
    public var description: String { "\(operation): \(Self.words(number))" }
}
