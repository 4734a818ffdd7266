/// The bytes that a request's signature was made of, and the parts of the request in them, redacted
/// as ``StageContents`` is.
public struct SignatureBase: Sendable, Hashable {
    /// A part of the request, such as a field.
    public struct Part: Sendable, Hashable {
        /// The identifier: a component of RFC 9421 such as `@method` or `content-type`, or a
        /// placeholder of a scheme document such as `{method}`.
        public let name: String
        /// The value that was signed, or a mark in place of a secret.
        public let value: String
    }

    /// The name of the scheme.
    public let scheme: String
    /// The id of the key.
    public let keyID: String
    /// The whole base as text, with marks in place of secrets.
    public let text: String
    /// The parts of the request in the base, in order.
    public let parts: [Part]
}
