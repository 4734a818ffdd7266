import SignetBase

/// Replaces the secrets of fields. Names, the schemes of credentials, and the names and attributes
/// of cookies stay.
struct FieldRedactor {
    let judge: SecretJudge

    /// Returns fields without secrets.
    func redacted(
        _ fields: [RecordedField], of message: String, in log: inout RedactionLog
    ) -> [RecordedField] {
        fields.map { field in
            let place = "\(message).fields.\(field.name.lowercased())"
            // A switch, such as Access-Control-Allow-Credentials.
            guard !field.bytes.isEmpty, !["true", "false"].contains(field.value),
                let value = redacted(field.bytes, of: field.name.lowercased(), at: place, in: &log)
            else { return field }
            return RecordedField(name: field.name, bytes: value)
        }
    }

    /// Returns a value without secrets, or nil if it has none.
    private func redacted(
        _ value: [UInt8], of name: String, at place: String, in log: inout RedactionLog
    ) -> [UInt8]? {
        switch name {
        case "authorization", "proxy-authorization": return credentials(value, at: place, in: &log)
        case "cookie": return cookies(value, at: place, in: &log)
        case "set-cookie": return setCookie(value, at: place, in: &log)
        case "location", "content-location", "referer":
            let url = String(decoding: value, as: UTF8.self)
            let redacted = URLRedactor(judge: judge).redacted(url, at: place, in: &log)
            return sameBytes(redacted, url) ? nil : Array(redacted.utf8)
        case _ where judge.isSecret(field: name): return mark(value[...], at: place, in: &log)
        default: return judge.redacted(value, named: Array(name.utf8), at: place, in: &log)
        }
    }

    private func mark(
        _ secret: ArraySlice<UInt8>, at place: String, in log: inout RedactionLog
    ) -> [UInt8] {
        secret.isEmpty ? [] : Array(log.mark(secret, at: place).utf8)
    }

    /// `SCHEME redacted-1`.
    private func credentials(
        _ value: [UInt8], at place: String, in log: inout RedactionLog
    ) -> [UInt8] {
        guard let space = value.firstIndex(of: ASCII.space),
            Self.schemes.contains(
                String(decoding: value[..<space].map(\.lowercased), as: UTF8.self))
        else { return mark(value[...], at: place, in: &log) }
        let secret = value[(space + 1)...].drop(while: \.isBlank)
        return value[...space] + mark(secret, at: place, in: &log)
    }

    private static let schemes: Set<String> = [
        "basic", "bearer", "digest", "dpop", "negotiate", "token", "apikey", "signature", "hmac",
        "aws4-hmac-sha256", "tc3-hmac-sha256", "acs3-hmac-sha256", "wechatpay2-sha256-rsa2048",
        "gnap", "privatetoken", "hoba", "mutual", "vapid", "scram-sha-256",
    ]

    /// `NAME=redacted-1; NAME=redacted-2`.
    private func cookies(
        _ value: [UInt8], at place: String, in log: inout RedactionLog
    ) -> [UInt8] {
        var result: [UInt8] = []
        let pairs = value.split(separator: ASCII.semicolon, omittingEmptySubsequences: false)
        for (index, pair) in pairs.enumerated() {
            if index > 0 { result.append(ASCII.semicolon) }
            result += pair.prefix(while: \.isBlank)
            result += cookie(pair.trimmingBlanks(), at: place, in: &log)
        }
        return result
    }

    /// A cookie without a name that a browser would show is a secret as a whole.
    private func cookie(
        _ pair: ArraySlice<UInt8>, at place: String, in log: inout RedactionLog
    ) -> [UInt8] {
        let name = pair.prefix { $0 != ASCII.equals }
        guard name.count < pair.count, !name.isEmpty, name.allSatisfy(\.isToken),
            !judge.isSecret(name: Array(name)), !judge.looksSecret(text: Array(name))
        else { return mark(pair, at: place, in: &log) }
        let value = pair[(name.endIndex + 1)...]
        let shown = String(decoding: name, as: UTF8.self)
        return name + [ASCII.equals] + mark(value, at: "\(place).\(shown)", in: &log)
    }

    /// `NAME=redacted-1; Path=/; HttpOnly`. Attributes that browsers don't know are secret too.
    private func setCookie(
        _ value: [UInt8], at place: String, in log: inout RedactionLog
    ) -> [UInt8] {
        let parts = value.split(separator: ASCII.semicolon, omittingEmptySubsequences: false)
        var result = cookie(parts[0].trimmingBlanks(), at: place, in: &log)
        for part in parts.dropFirst() {
            result.append(ASCII.semicolon)
            result += part.prefix(while: \.isBlank)
            let attribute = part.trimmingBlanks()
            let name = attribute.prefix { $0 != ASCII.equals }.map(\.lowercased)
            if Self.attributes.contains(String(decoding: name, as: UTF8.self)) {
                result +=
                    judge.replacingKnown(Array(attribute), at: place, in: &log)
                    ?? Array(attribute)
            } else {
                result += mark(attribute, at: place, in: &log)
            }
        }
        return result
    }

    private static let attributes: Set<String> = [
        "path", "domain", "expires", "max-age", "secure", "httponly", "samesite", "partitioned",
        "priority", "version", "comment",
    ]
}
