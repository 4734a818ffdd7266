import HTTPTypes
import SignetBase

/// Replaces the secrets of fields. Names, the schemes of credentials, and the names and attributes
/// of cookies stay.
struct FieldRedactor {
    let judge: SecretJudge

    /// Returns the fields of a message without secrets.
    func redacted(
        _ fields: [RecordedField], of message: String, in log: inout RedactionLog
    ) -> [RecordedField] {
        fields.map { field in
            let name = field.name.lowercased()
            let place = "\(message).fields.\(name)"
            let bytes = log.replacingForeignMarks(field.bytes, at: place)
            let known = judge.replacingKnown(bytes, at: place, in: &log)
            // A switch, such as Access-Control-Allow-Credentials.
            let isSwitch = ["true", "false"].contains(field.value)
            let value = isSwitch ? known : redacted(known, of: name, at: place, in: &log) ?? known
            var result = RecordedField(name: field.name, bytes: value)
            let nameBytes = Array(field.name.utf8)
            if judge.judged(nameBytes).isSecret {
                result.name = log.mark(nameBytes, at: "\(message).fields")
            }
            return result
        }
    }

    /// Returns a value without secrets, or nil if it has none.
    func redacted(
        _ value: [UInt8], of name: String, at place: String, in log: inout RedactionLog
    ) -> [UInt8]? {
        guard !value.isEmpty else { return nil }
        switch name {
        case "authorization", "proxy-authorization": return credentials(value, at: place, in: &log)
        case "cookie":
            return CookieRedactor(judge: judge).cookies(value, at: place, in: &log)
        case "set-cookie":
            return CookieRedactor(judge: judge).setCookies(value, at: place, in: &log)
        case "content-type": return mediaType(value, at: place, in: &log)
        case "signature-input":
            return judge.looksSecret(value, named: Array(name.utf8))
                ? mark(value[...], at: place, in: &log) : nil
        case "link": return links(value, at: place, in: &log)
        case "refresh": return refresh(value, at: place, in: &log)
        case _ where judge.isSecret(field: name): return mark(value[...], at: place, in: &log)
        case _ where Self.urls.contains(name) || value.first == ASCII.slash:
            return URLRedactor(texts: TextRedactor(judge: judge)).redacted(
                value, at: place, in: &log)
        default:
            return TextRedactor(judge: judge).redacted(
                value, named: Array(name.utf8), at: place, in: &log)
        }
    }

    /// Fields whose values are URLs, perhaps relative ones.
    private static let urls: Set<String> = [
        "location", "content-location", "referer", ":path", "x-forwarded-uri", "x-forwarded-url",
        "x-original-url", "x-original-uri", "x-rewrite-url", "x-request-uri", "x-request-url",
        "x-envoy-original-path", "x-forwarded-path", "destination", "sourcemap", "x-sourcemap",
        "x-http-url", "x-url", "x-uri", "x-accel-redirect", "x-pjax-url", "hx-current-url",
        "hx-location", "hx-redirect", "turbo-location",
    ]

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
        return value[..<secret.startIndex] + mark(secret, at: place, in: &log)
    }

    private static let schemes: Set<String> = [
        "basic", "bearer", "digest", "dpop", "negotiate", "token", "apikey", "signature", "hmac",
        "aws4-hmac-sha256", "tc3-hmac-sha256", "acs3-hmac-sha256", "wechatpay2-sha256-rsa2048",
        "gnap", "privatetoken", "hoba", "mutual", "vapid", "scram-sha-256",
    ]

    /// A media type. Its boundary looks random, but the body has it in the clear.
    func mediaType(
        _ value: [UInt8], at place: String, in log: inout RedactionLog
    ) -> [UInt8]? {
        let texts = TextRedactor(judge: judge)
        guard let boundary = MediaType(String(decoding: value, as: UTF8.self)).boundary,
            (1...70).contains(boundary.count), let range = value.firstRange(of: boundary)
        else {
            return texts.redacted(value, named: [], at: place, in: &log)
        }
        let rest = Array(value[..<range.lowerBound] + value[range.upperBound...])
        guard texts.hasSecret(rest, named: [], in: log) else { return nil }
        return mark(value[...], at: place, in: &log)
    }

    /// The targets of links (RFC 8288, section 3), which are in angle brackets.
    private func links(
        _ value: [UInt8], at place: String, in log: inout RedactionLog
    ) -> [UInt8]? {
        var result: [UInt8] = []
        var kept = 0
        while let open = value[kept...].firstIndex(of: UInt8(ascii: "<")),
            let close = value[open...].firstIndex(of: UInt8(ascii: ">"))
        {
            result += value[kept...open]
            result += URLRedactor(texts: TextRedactor(judge: judge)).redacted(
                Array(value[(open + 1)..<close]), at: place, in: &log)
            kept = close
        }
        result += value[kept...]
        return TextRedactor(judge: judge).redacted(result, named: [], at: place, in: &log)
            ?? result
    }

    /// `5; url=/orders?…`.
    private func refresh(
        _ value: [UInt8], at place: String, in log: inout RedactionLog
    ) -> [UInt8]? {
        guard let range = value.map(\.lowercased).firstRange(of: Array("url=".utf8)) else {
            return TextRedactor(judge: judge).redacted(value, named: [], at: place, in: &log)
        }
        let url = value[range.upperBound...].drop { $0 == ASCII.quote || $0 == UInt8(ascii: "'") }
        return value[..<url.startIndex]
            + URLRedactor(texts: TextRedactor(judge: judge)).redacted(
                Array(url), at: place, in: &log)
    }
}
