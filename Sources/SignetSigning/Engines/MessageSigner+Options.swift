extension MessageSigner {
    /// The choices that apply to all messages of a signer.
    public struct Options: Sendable, Hashable {
        /// The components that the signature covers; nil for the scheme's default.
        ///
        /// The default of `rfc9421` for a request is `@method`, `@authority`, `@path`, `@query` if
        /// the target has a query, and `content-digest` if there is a body; for a response
        /// `@status` and, if there is a body, `content-digest`. `salted-hmac-v1` always covers
        /// method, authority, path, query and body; the list names the fields that it covers in
        /// addition, by default none.
        public var coveredComponents: [ComponentIdentifier]?
        /// The signature's label (`rfc9421`); nil for `sig1`.
        public var label: String?
        /// The purpose of the signature (`rfc9421`, parameter `tag`).
        public var tag: String?
        /// Seconds from `created` to `expires` (`rfc9421`); nil leaves `expires` out.
        public var lifetime: Int64?
        /// Whether each signature gets a random nonce unless the caller passes one (`rfc9421`).
        /// `salted-hmac-v1` and scheme documents that use a nonce always add one. Other documents
        /// refuse this option.
        public var addsNonce = false
        /// The algorithm of a Content-Digest or Repr-Digest that the signer adds because it is
        /// covered and missing (`rfc9421`).
        public var digest = BodyDigest.sha256
        /// The types of the fields that are covered with `;sf` or `;key` (`rfc9421`).
        public var fieldTypes = StructuredFieldTypes()
        /// The peer's request for this signature (`rfc9421`). The signature has its label,
        /// components, tag and nonce; `coveredComponents`, `label` and `tag` must be nil.
        public var acceptSignature: AcceptSignature?

        /// The settings of a scheme document, such as SigV4's region and service.
        public var settings: [String: String] = [:]

        /// Creates options that leave all choices to the scheme.
        public init() {}
    }
}
