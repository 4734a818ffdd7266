import CSignetOpenSSL
package import SignetBase

/// The failure of a cryptographic primitive: a wrong size, a value out of range, a tag that does
/// not match, or an error in OpenSSL.
///
/// The reason contains sizes and limits, never bytes.
package struct CryptoFailure: SignetError, Sendable, Hashable, CustomStringConvertible {
    /// The operation that failed, such as `"AES-256-GCM open"`.
    package let operation: String
    /// The found and the expected value.
    package let reason: String
    /// Whether the only cause is a tag that does not match.
    package let isAuthenticationFailure: Bool

    package init(operation: String, reason: String, isAuthenticationFailure: Bool = false) {
        self.operation = operation
        self.reason = reason
        self.isAuthenticationFailure = isAuthenticationFailure
    }

    /// The code in the tool's output.
    package var code: SignetErrorCode { .cryptoFailed }
    package var message: String { "\(operation): \(reason)" }
    package var description: String { message }

    /// A failure in OpenSSL. Clears the thread's error queue, so that no other code reads our error
    /// as its own.
    static func library(_ operation: String) -> CryptoFailure {
        signet_openssl_forget_errors()
        return CryptoFailure(operation: operation, reason: "OpenSSL reported a failure")
    }
}
