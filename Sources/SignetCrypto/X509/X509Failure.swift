/// A certificate, key or request cannot be read.
package struct X509Failure: Error, Sendable, Hashable, CustomStringConvertible {
    /// The found and the expected value; never a byte of a key.
    package let message: String

    package init(_ message: String) {
        self.message = message
    }

    package var description: String { message }
}
