import SignetBase
import SignetSystem

extension CryptoKey {
    /// Creates a key for HMAC from a text, such as the secret of a partner's webhooks.
    ///
    /// The key's bytes are the text in UTF-8, which Signet wipes with the key. The text itself
    /// stays in the program's memory. A scheme refuses a key that is too short for it.
    ///
    /// ```swift
    /// let key = try CryptoKey.hmac("It's a Secret to Everybody", id: "github")
    /// print(key)  // CryptoKey("github", hmac, redacted)
    /// ```
    ///
    /// - Parameters:
    ///   - secret: The whole secret, without a line break at its end.
    ///   - id: The key's id, for messages and logs.
    ///   - algorithm: `HS256` or `HS512`.
    /// - Throws: `KeyError` with `malformedKeys` if the secret is empty, ends with a line break or
    ///   contains a private key in PEM, or for another algorithm; with `invalidKeyID` for the id.
    ///   The message doesn't contain the secret.
    public static func hmac(
        _ secret: String, id: String, algorithm: String = "HS256"
    ) throws(KeyError) -> CryptoKey {
        try hmac(secret.utf8.span, id: id, algorithm: algorithm)
    }

    /// Creates a key for HMAC from bytes, such as `withSecret` of a configuration lends.
    ///
    /// - Throws: As `hmac(_:id:algorithm:)` for a text.
    public static func hmac(
        _ secret: Span<UInt8>, id: String, algorithm: String = "HS256"
    ) throws(KeyError) -> CryptoKey {
        guard secret.isEmpty || secret[secret.count - 1] != UInt8(ascii: "\n") else {
            throw KeyParts.malformed("the secret ends with a line break, expected the secret alone")
        }
        var bytes = secret.indices.map { secret[$0] }
        defer { wipe(&bytes) }
        let key = try ImportedKey(
            bytes, form: .encoded(.raw), id: id, kind: .hmac, algorithm: algorithm)
        return try KeySet(
            parsing: KeyFile.newSet(of: key.text).bytes, source: "the key \"\(printable(id))\""
        ).key(id: id)
    }
}
