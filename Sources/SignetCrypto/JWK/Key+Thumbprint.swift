internal import SignetJSON

extension Key {
    /// The key's thumbprint (RFC 7638): SHA-256 over the members that make the key, as base64url
    /// without padding, 43 characters. A pair and its public half have the same one, and `kid`, `alg`,
    /// `use` and times do not change it. Nil for a key that this package cannot use, and where OpenSSL
    /// fails.
    ///
    /// Of an `oct` key it is a hash of the secret itself (RFC 7638, section 7): whoever sees it can try
    /// out secrets that could be guessed. Show it of random ones only.
    public var thumbprint: String? {
        let names: [String]
        switch kind {
        case .ed25519: names = ["crv", "kty", "x"]
        case .p256, .p384: names = ["crv", "kty", "x", "y"]
        case .rsa: names = ["e", "kty", "n"]
        case .hmac, .vault: return secretThumbprint
        default: return nil
        }
        var text: [UInt8] = []
        for name in names {
            // All are of base64url or a curve's name, so that nothing needs an escape.
            guard let value = publicHalf?[name]?.string else { return nil }
            text.append(text.isEmpty ? UInt8(ascii: "{") : UInt8(ascii: ","))
            text.append(contentsOf: "\"\(name)\":\"\(value)\"".utf8)
        }
        text.append(UInt8(ascii: "}"))
        return Self.thumbprint(of: text.span)
    }

    private var secretThumbprint: String? {
        let parts = ["{\"k\":\"", "\",\"kty\":\"oct\"}"]
        do throws(KeyError) {
            return try withSecret { secret throws(KeyError) in
                // Reserved beforehand: growing would leave copies that nobody wipes.
                var text: [UInt8] = []
                defer { wipe(&text) }
                text.reserveCapacity(secret.count * 4 / 3 + 64)
                text.append(contentsOf: parts[0].utf8)
                Base64.append(secret, as: .url, to: &text)
                text.append(contentsOf: parts[1].utf8)
                return Self.thumbprint(of: text.span)
            }
        } catch {
            return nil
        }
    }

    private static func thumbprint(of text: Span<UInt8>) -> String? {
        do throws(CryptoFailure) {
            return Base64.encode(try Digest.of(text), as: .url)
        } catch {
            return nil
        }
    }
}
