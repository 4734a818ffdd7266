import SignetBase
package import SignetJSON

/// The parts of a JWE (RFC 7516) that every serialization has: a protected header, and content that
/// is encrypted with A128GCM or A256GCM.
package struct JWEContent: Sendable, Hashable {
    /// The reason that a text isn't a JWE of the expected form.
    package struct Malformed: Error {
        package let problem: String
    }

    /// The base64url text of the protected header, which the tag covers.
    package let protected: [UInt8]
    package let nonce: [UInt8]
    package let ciphertext: [UInt8]
    package let tag: [UInt8]

    /// Takes the parts of a JWE.
    ///
    /// - Throws: `Malformed` if the nonce hasn't 12 bytes or the tag hasn't 16.
    package init(
        protected: [UInt8], nonce: [UInt8], ciphertext: [UInt8], tag: [UInt8]
    ) throws(Malformed) {
        guard nonce.count == AESGCM.nonceByteCount else {
            throw Malformed(
                problem: "found a nonce of \(nonce.count) bytes, expected "
                    + "\(AESGCM.nonceByteCount)")
        }
        guard tag.count == AESGCM.tagByteCount else {
            throw Malformed(
                problem: "found a tag of \(tag.count) bytes, expected \(AESGCM.tagByteCount)")
        }
        self.protected = protected
        self.nonce = nonce
        self.ciphertext = ciphertext
        self.tag = tag
    }

    /// Encrypts a text. Never use a nonce twice with one key.
    ///
    /// - Parameters:
    ///   - text: The plaintext. The ciphertext takes its place, so that no copy is left.
    ///   - header: The JSON of the protected header.
    /// - Throws: `CryptoFailure` if a size is wrong or OpenSSL fails. Then the text is wiped.
    package init(
        sealing text: consuming [UInt8], header: [UInt8], key: Span<UInt8>,
        size: AESGCM.KeySize = .bits256, nonce: [UInt8]
    ) throws(CryptoFailure) {
        let protected = Base64.encodeBytes(header.span, as: .url)
        self.tag = try AESGCM.seal(
            inPlace: &text, key: key, size: size, nonce: nonce.span,
            authenticating: protected.span)
        self.protected = protected
        self.nonce = nonce
        self.ciphertext = text
    }

    /// Returns the plaintext, which the caller wipes if it's secret.
    ///
    /// - Throws: `CryptoFailure`, with `isAuthenticationFailure` if something was changed.
    package func open(
        with key: Span<UInt8>, size: AESGCM.KeySize = .bits256
    ) throws(CryptoFailure) -> [UInt8] {
        try AESGCM.open(
            ciphertext: ciphertext.span, tag: tag.span, key: key, size: size, nonce: nonce.span,
            authenticating: protected.span)
    }

    /// Returns the members of a protected header.
    ///
    /// - Parameter text: The header in base64url.
    package static func header(
        decoding text: Span<UInt8>, maximumDepth: Int = 2
    ) throws(Malformed) -> JSONObject {
        let json = try decode(text, named: "the header")
        let value: JSONValue
        do throws(JSONError) {
            value = try JSONValue(parsing: json, maximumDepth: maximumDepth)
        } catch {
            throw Malformed(problem: "the header is not strict JSON: \(error.message)")
        }
        guard let object = value.object else {
            throw Malformed(problem: "the header: found \(value.typeName), expected object")
        }
        return object
    }

    /// Decodes canonical base64url.
    package static func decode(
        _ text: Span<UInt8>, named name: String
    ) throws(Malformed) -> [UInt8] {
        guard let bytes = Base64.decode(text, from: .url) else {
            throw Malformed(problem: "\(name) is not canonical base64url")
        }
        return bytes
    }
}
