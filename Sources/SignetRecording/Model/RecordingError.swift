public import SignetBase

/// A recording that can't be read, written or replayed.
public struct RecordingError: SignetError, Sendable, Hashable, CustomStringConvertible {
    /// The code.
    public let code: SignetErrorCode
    /// One line: what was found, what was expected, and where. It contains no value of a message.
    public let message: String

    init(_ code: SignetErrorCode, _ message: String) {
        self.code = code
        self.message = printable(message)
    }

    /// The message.
    public var description: String { message }
}

/// The codes of recordings.
extension SignetErrorCode {
    /// An input isn't a HAR: it isn't JSON, or has no `log.entries`.
    public static let malformedRecording = usage("malformed-recording")
    /// A file is another program's recording, or no recording, and is kept as it is.
    public static let foreignRecording = usage("foreign-recording")
    /// The system runs in production, and the program didn't ask for a recording there by name.
    public static let recordingInProduction = usage("recording-in-production")
    /// A request has no recording, or all of its recordings were replayed.
    public static let notRecorded = checkFailed("not-recorded", kind: .noResponse)
    /// A request or a response differs from its recording.
    public static let differsFromRecording = checkFailed("differs-from-recording")
}
