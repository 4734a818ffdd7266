package import SignetBase

/// A certificate, key or request cannot be read.
package struct X509Failure: SignetError, Sendable, Hashable, CustomStringConvertible {
    /// The found and the expected value; never a byte of a key.
    package let message: String

    package init(_ message: String) {
        self.message = message
    }

    /// The code in the tool's output.
    package var code: SignetErrorCode { .malformedInput }
    package var description: String { message }
}
