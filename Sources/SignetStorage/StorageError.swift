public import SignetBase
import SignetSystem

/// A store can't be opened or written.
public struct StorageError: SignetError, Sendable, Hashable, CustomStringConvertible {
    /// The type of `code`.
    public typealias Code = SignetErrorCode

    /// The code.
    public let code: Code
    /// One line: what was found, what was expected, and where.
    public let message: String

    /// The code and the message.
    public var description: String { "\(code.name): \(message)" }

    package init(_ code: Code, _ message: String) {
        self.code = code
        self.message = message
    }

    init(_ failure: FileFailure) { self.init(.unusableCacheFolder, failure.description) }
}

extension SignetErrorCode {
    /// The folder can't be used: it belongs to another user, others may write to it, or it can't
    /// be created.
    public static let unusableCacheFolder = usage("unusable-cache-folder")
    /// The key can't seal what is stored: it isn't a vault's.
    public static let wrongCacheKey = usage("wrong-cache-key")
}
