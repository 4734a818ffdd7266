import SignetJSON
import SignetSystem

extension CryptoKey {
    /// The key's thumbprint (RFC 7638): 43 characters, the SHA-256 of the required members in
    /// base64url without padding. Nil if this package cannot use the key, or OpenSSL fails.
    ///
    /// A key pair and its public half have the same thumbprint; `kid`, `alg`, `use` and times don't
    /// affect it.
    ///
    /// The thumbprint of an `oct` key is a hash of the secret itself (RFC 7638, section 7), and
    /// lets a reader test guesses of the secret. Show it only for randomly generated secrets.
    public var thumbprint: String? {
        if let publicHalf { return Self.thumbprint(of: kind, publicHalf: publicHalf) }
        return kind.isSecret ? secretThumbprint : nil
    }

    static func thumbprint(of kind: Kind, publicHalf: JSONObject) -> String? {
        let names: [String]
        switch kind {
        case .ed25519, .x25519: names = ["crv", "kty", "x"]
        case .p256, .p384: names = ["crv", "kty", "x", "y"]
        case .rsa: names = ["e", "kty", "n"]
        default: return nil
        }
        var text: [UInt8] = []
        for name in names {
            // All values are base64url or names of curves, so none needs an escape.
            guard let value = publicHalf[name]?.string else { return nil }
            text.append(text.isEmpty ? UInt8(ascii: "{") : UInt8(ascii: ","))
            text.append(contentsOf: "\"\(name)\":\"\(value)\"".utf8)
        }
        text.append(UInt8(ascii: "}"))
        return thumbprint(of: text.span)
    }

    private var secretThumbprint: String? {
        let parts = ["{\"k\":\"", "\",\"kty\":\"oct\"}"]
        return try? withSecret { secret in
            // Reserved first, because growing would leave copies of the secret in memory.
            var text: [UInt8] = []
            defer { wipe(&text) }
            text.reserveCapacity(secret.count * 4 / 3 + 64)
            text.append(contentsOf: parts[0].utf8)
            Base64.append(secret, as: .url, to: &text)
            text.append(contentsOf: parts[1].utf8)
            return Self.thumbprint(of: text.span)
        }
    }

    private static func thumbprint(of text: Span<UInt8>) -> String? {
        (try? Digest.of(text)).map { Base64.encode($0, as: .url) }
    }
}
