package import SignetBase
import SignetSystem

/// A store can't be opened.
public struct StorageError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The kind of a failure. Later versions may add more.
    public struct Code: Sendable, Hashable, CustomStringConvertible {
        package let value: ErrorCode

        private init(_ value: ErrorCode) { self.value = value }

        /// The name that scripts rely on, in kebab-case.
        public var name: String { value.name }

        /// The name.
        public var description: String { name }

        /// The folder can't be used: it belongs to another user, others may write to it, or it
        /// can't be created.
        public static let unusableFolder = Code(.usage("unusable-cache-folder"))
        /// The key can't seal what is stored: it isn't a vault's.
        public static let wrongKey = Code(.usage("wrong-cache-key"))
    }

    /// The code.
    public let code: Code
    /// One line: what was found, what was expected, and where.
    public let message: String

    /// The code and the message.
    public var description: String { "\(code.name): \(message)" }

    init(_ code: Code, _ message: String) {
        self.code = code
        self.message = message
    }

    init(_ failure: FileFailure) { self.init(.unusableFolder, failure.description) }
}
