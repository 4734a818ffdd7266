internal import SignetRPC

/// What the system says of a stream that could not be opened, read or written.
public struct RPCStreamError: Error, Sendable, Hashable, CustomStringConvertible {
    /// What was tried: `open`, `connect`, `start`, `read` or `write`.
    public let operation: String
    /// The number of the system's error; `ECANCELED` where the stream was closed on this side.
    public let number: Int32

    init(operation: String, number: Int32) {
        self.operation = operation
        self.number = number
    }

    /// What was tried, and the system's words.
    public var description: String { "\(operation): \(Self.words(number))" }
}
