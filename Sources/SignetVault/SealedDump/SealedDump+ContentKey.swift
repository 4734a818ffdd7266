import SignetBase
import SignetCrypto
public import SignetJSON

extension SealedDump {
    /// Opens the dump with the content key that `exportKey` returned, without a root.
    ///
    /// The versions aren't compared, because the key opens only this dump. The commitment isn't
    /// checked, because that needs the root.
    ///
    /// - Parameter key: The JWK: `kty` `oct`, `k` of 32 bytes, the dump's `kid`, and `alg`
    ///   `A256GCM`.
    /// - Returns: The dump's content, authenticated.
    /// - Throws: `malformed-keys` if the JWK isn't of this form; `wrong-key` if it's another
    ///   dump's; `tampered`.
    public func open(withContentKey key: JSONObject) throws(VaultError) -> OpenedDump {
        guard key["kty"]?.string == "oct", key["alg"]?.string == "A256GCM",
            let kid = key["kid"]?.string, let text = key["k"]?.string,
            var bytes = Base64.decode(text, from: .url), bytes.count == 32
        else {
            throw VaultError(
                .malformedKeys,
                "the content key isn't a JWK with \"kty\":\"oct\", \"alg\":\"A256GCM\", \"kid\" and "
                    + "\"k\" of 32 bytes")
        }
        defer { wipe(&bytes) }
        guard sameBytes(kid, self.kid) else {
            throw VaultError(.wrongKey, "the content key is another dump's: its \"kid\" differs")
        }
        return OpenedDump(
            dump: self, isExactVersion: false, content: try plaintext(contentKey: bytes.span))
    }

    /// Decrypts the dump and reads its plaintext.
    ///
    /// - Throws: `tampered`.
    func plaintext(contentKey: Span<UInt8>) throws(VaultError) -> DumpPlaintext {
        let bytes: [UInt8]
        do throws(CryptoFailure) {
            bytes = try content.open(with: contentKey)
        } catch {
            throw error.isAuthenticationFailure ? Self.tampered : VaultError(error)
        }
        return try DumpPlaintext(parsing: bytes, expecting: binding)
    }

    static var tampered: VaultError {
        VaultError(
            .tampered,
            "the dump was changed after it was sealed; expected it unchanged: get it from version "
                + "control or a backup again")
    }
}
