public import SignetBase

/// The system's error in opening, reading or writing a stream.
public struct RPCStreamError: SignetError, Sendable, Hashable, CustomStringConvertible {
    /// The type of `code`.
    public typealias Code = SignetErrorCode

    /// The operation that failed.
    public let code: Code
    /// The operation and the system's text for the error.
    public var message: String { "\(code.name): \(Self.words(number))" }
    /// The system's error number; `ECANCELED` if the stream was closed on this side.
    public let number: Int32

    init(_ code: Code, number: Int32) {
        self.code = code
        self.number = number
    }

    /// The message.
    public var description: String { message }
}

extension SignetErrorCode {
    /// The system has no descriptors for the stream.
    public static let openFailed = noResponse("open")
    /// The program of a child process can't be started.
    public static let startFailed = noResponse("start")
    /// Bytes can't be read.
    public static let readFailed = noResponse("read")
    /// Bytes can't be written.
    public static let writeFailed = noResponse("write")
}
