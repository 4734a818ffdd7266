import SignetJSON

/// Tells whether a value that would be public looks like a secret, and by what.
///
/// Looked at are texts, the elements of arrays, names and values of objects, and JSON held in
/// strings. Pins (`sha256/…`) and URLs without user info are exempt. It is a net for clumsy hands,
/// not a proof: a short password looks like any other word.
enum SecretDetector {
    /// Why the value looks like a secret, in words that hold none of it, or nil.
    static func reason(in value: JSONValue) -> String? { reason(in: value, depth: 0) }

    /// JSON in a string in JSON in a string …: beyond this the text itself is judged.
    private static let deepest = 8

    private static func reason(in value: JSONValue, depth: Int) -> String? {
        switch value {
        case .null, .bool, .number: return nil
        case .string(let text): return reason(in: text, depth: depth)
        case .array(let elements):
            for element in elements {
                if let reason = reason(in: element, depth: depth) { return reason }
            }
            return nil
        case .object(let object):
            if isPrivateJWK(object) { return "the private members of a JWK" }
            for (name, value) in object {
                if let reason = textReason(in: name) ?? reason(in: value, depth: depth) {
                    return reason
                }
            }
            return nil
        }
    }

    private static func reason(in text: String, depth: Int) -> String? {
        let first = text.utf8.first { !isSpace($0) }
        if depth < deepest, let first, "{[\"".utf8.contains(first),
            let inner = try? JSONValue(parsing: Array(text.utf8))
        {
            return reason(in: inner, depth: depth + 1)
        }
        return textReason(in: text)
    }

    /// `kty` beside a private member (RFC 7517, section 4; RFC 7518, section 6).
    private static func isPrivateJWK(_ object: JSONObject) -> Bool {
        object["kty"] != nil
            && ["k", "d", "p", "q", "dp", "dq", "qi", "oth"].contains { object[$0] != nil }
    }

    private static func textReason(in text: String) -> String? {
        let bytes = Array(text.utf8)
        if holdsPrivatePEM(bytes) { return "a private key in PEM" }
        for piece in bytes.split(whereSeparator: { isSpace($0) || $0 == 0x2c || $0 == 0x3b }) {
            if isPin(piece) { continue }
            if let url = ConfigurationURL(String(decoding: piece, as: UTF8.self)) {
                if url.hasUserInfo { return "a URL with user info" }
                continue
            }
            if isUUID(piece) { continue }
            for token in piece.split(whereSeparator: { !isTokenByte($0) }) {
                if hasSecretPrefix(token) { return "the prefix of a known kind of token" }
                if TextRandomness(token)?.looksRandom == true { return "long high-entropy text" }
            }
        }
        return nil
    }

    private static func holdsPrivatePEM(_ bytes: [UInt8]) -> Bool {
        var rest = bytes[...]
        while let begin = rest.firstRange(of: Array("-----BEGIN ".utf8)) {
            let label = rest[begin.upperBound...].prefix(64)
            if label.firstRange(of: Array("PRIVATE KEY".utf8)) != nil { return true }
            rest = rest[begin.upperBound...]
        }
        return false
    }

    private static func isPin(_ text: ArraySlice<UInt8>) -> Bool {
        text.count == 51 && text.starts(with: "sha256/".utf8) && text.last == UInt8(ascii: "=")
            && text.dropFirst(7).dropLast().allSatisfy {
                isLetterOrDigit($0) || $0 == UInt8(ascii: "+") || $0 == UInt8(ascii: "/")
            }
    }

    /// An identifier in the form of RFC 9562: hexadecimal digits in groups of 8, 4, 4, 4 and 12.
    private static func isUUID(_ text: ArraySlice<UInt8>) -> Bool {
        let groups = text.split(separator: UInt8(ascii: "-"), omittingEmptySubsequences: false)
        return groups.map(\.count) == [8, 4, 4, 4, 12]
            && groups.joined().allSatisfy { isLetterOrDigit($0) && ($0 | 0x20) <= 0x66 }
    }

    private static let prefixes: [[UInt8]] = [
        "AGE-SECRET-KEY-1", "AKIA", "ASIA", "github_pat_", "ghp_", "gho_", "ghs_", "glpat-",
        "sk_live_", "sk_test_", "rk_live_", "whsec_", "xoxb-", "xoxp-", "xoxa-",
    ].map { Array($0.utf8) }

    private static func hasSecretPrefix(_ token: ArraySlice<UInt8>) -> Bool {
        token.count >= 16 && prefixes.contains { token.starts(with: $0) }
    }

    private static func isSpace(_ byte: UInt8) -> Bool {
        byte == 0x20 || (0x09...0x0d).contains(byte)
    }

    private static func isTokenByte(_ byte: UInt8) -> Bool {
        isLetterOrDigit(byte) || "+/_=-".utf8.contains(byte)
    }

    private static func isLetterOrDigit(_ byte: UInt8) -> Bool {
        (0x30...0x39).contains(byte) || (0x61...0x7a).contains(byte | 0x20)
    }
}
