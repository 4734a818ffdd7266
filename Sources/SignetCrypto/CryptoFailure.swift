internal import CSignetOpenSSL

/// A primitive that could not do its work: a wrong size, a value out of range, a tag that does not
/// hold, or OpenSSL refusing.
///
/// The reason names sizes and limits, never bytes.
package struct CryptoFailure: Error, Sendable, Hashable, CustomStringConvertible {
    /// What was asked for, such as `"AES-256-GCM open"`.
    package let operation: String
    /// What was found and what was wanted.
    package let reason: String
    /// Whether the one cause is a tag that does not hold.
    package let isAuthenticationFailure: Bool

    package init(operation: String, reason: String, isAuthenticationFailure: Bool = false) {
        self.operation = operation
        self.reason = reason
        self.isAuthenticationFailure = isAuthenticationFailure
    }

    package var description: String { "\(operation): \(reason)" }

    /// OpenSSL said no. Its error queue is emptied, so that nobody later reads ours as theirs.
    static func library(_ operation: String) -> CryptoFailure {
        copenssl_forget_errors()
        return CryptoFailure(operation: operation, reason: "OpenSSL refused")
    }
}
