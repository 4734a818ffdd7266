import SignetBase
import SignetJSON

/// Finds secrets in the URLs of a text: user info, parameters, and the paths of webhooks.
enum SecretURL {
    /// Returns the most certain finding about the URLs of a text, or nil.
    static func finding(in text: ArraySlice<UInt8>) -> SecretFinding? {
        var found: SecretFinding?
        var rest = text
        // The start of the next URL of a list that has no spaces, which is judged by itself.
        var next = text.startIndex
        while let position = rest.firstPosition(of: "//") {
            let scheme = rest[..<position].suffix(32).reversed()
                .prefix { !isEnd($0) }.reversed()
            rest = rest[(position + 2)...]
            guard
                scheme.last == UInt8(ascii: ":")
                    || scheme.isEmpty && rest.first != UInt8(ascii: "/")
            else { continue }
            // Found once for each URL, so that a text of many slashes is read once.
            if next < rest.startIndex { next = rest.firstPosition(of: "://") ?? rest.endIndex }
            let url = rest[..<next].prefix(8192).prefix { !isEnd($0) }
            if secretSchemes.contains(where: { scheme.elementsEqual($0) }) {
                return .certain("a URL that is a secret as a whole")
            }
            let authority = url.prefix { !"/?#\\".utf8.contains($0) }
            if holdsUserInfo(authority, of: url) { return .certain("a URL with user info") }
            let after = url[authority.endIndex...]
            if holdsParameter(url) { found = .likely("a parameter of a URL") }
            if isWebhook(authority, path: after.prefix { !"?#".utf8.contains($0) }) {
                found = .likely("the URL of a webhook")
            }
        }
        return found
    }

    /// URLs of these schemes are keys or accounts.
    private static let secretSchemes = [
        "otpauth:", "otpauth-migration:", "ss:", "ssr:", "vmess:", "vless:", "trojan:",
        "secret-token:",
    ].map { Array($0.utf8) }

    private static func isEnd(_ byte: UInt8) -> Bool {
        byte <= 0x20 || "\"'`<>".utf8.contains(byte)
    }

    /// Returns whether a URL has user info, also if the password has characters such as `/` that
    /// end the authority.
    private static func holdsUserInfo(
        _ authority: ArraySlice<UInt8>, of url: ArraySlice<UInt8>
    ) -> Bool {
        if let at = authority.lastIndex(of: UInt8(ascii: "@")) {
            // `[^` starts a class of a regular expression, not a user name.
            return authority[..<at].firstPosition(of: "[^") == nil
        }
        guard let colon = authority.firstIndex(of: UInt8(ascii: ":")), colon > authority.startIndex,
            authority.first != UInt8(ascii: "[")
        else { return false }
        let port = authority[(colon + 1)...]
        guard let first = port.first, !first.isDigit || !port.allSatisfy(\.isDigit),
            !"$%{<*[(".utf8.contains(first)
        else { return false }
        return url[authority.endIndex...].contains(UInt8(ascii: "@"))
    }

    // MARK: - Parameters

    private static func holdsParameter(_ text: ArraySlice<UInt8>) -> Bool {
        text.split { "?&#;".utf8.contains($0) }.contains { parameter in
            guard let equals = parameter.firstIndex(of: UInt8(ascii: "=")) else { return false }
            let value = parameter[(equals + 1)...]
            guard SecretAssignments.isLiteral(value, minimumCount: 1) else { return false }
            let name = String(decoding: lowercased(parameter[..<equals]), as: UTF8.self)
            return parameterNames.contains(name)
                || SecretName(name).isSecret(of: SecretAssignments.value(of: value))
                || value.split { !tokenBytes.contains($0) }.contains(
                    where: EntropyEstimate.looksRandom)
        }
    }

    /// Returns a name with percent escapes decoded and ASCII letters in lower case.
    private static func lowercased(_ name: ArraySlice<UInt8>) -> [UInt8] {
        var bytes: [UInt8] = []
        PercentCoding.appendDecoded(name, to: &bytes)
        return bytes.map(\.lowercased)
    }

    /// Names of parameters whose value is a secret or a signature.
    static let parameterNames: Set<String> = [
        "appid", "awsaccesskeyid", "code", "h", "hash", "hdnea", "hdnts", "jsessionid", "k",
        "phpsessid", "policy", "session", "sessionid", "sid", "st", "ticket", "x-amz-credential",
        "x-amz-signature", "x-goog-credential", "x-goog-signature",
    ]

    // MARK: - Webhooks

    private static func isWebhook(_ host: ArraySlice<UInt8>, path: ArraySlice<UInt8>) -> Bool {
        let name = String(decoding: host.map(\.lowercased), as: UTF8.self)
        let segments = path.split(separator: UInt8(ascii: "/"))
        if !segments.isEmpty, webhookHosts.contains(where: { name.endsWithBytes(of: $0) }) {
            return true
        }
        var isAfterHook = name.split(separator: ".").contains { hookWords.contains(String($0)) }
        var isAfterWebhook = false
        for segment in segments {
            let word = String(decoding: segment.map(\.lowercased), as: UTF8.self)
            if isAfterHook, isOpaque(segment) { return true }
            if isAfterWebhook,
                segment.first?.isDigit == true || word.startsWithBytes(of: "private-")
            {
                return true
            }
            isAfterWebhook = isAfterWebhook || word == "webhooks" || word == "ical"
            if word.startsWithBytes(of: "bot"), segment.dropFirst(3).first?.isDigit == true,
                segment.contains(UInt8(ascii: ":"))
            {
                return true
            }
            // A word such as `token` names the segment after it.
            isAfterHook =
                isAfterHook || hookWords.contains(word) || SecretName(word).isSecret(of: "")
        }
        return false
    }

    /// Hosts on which every path is a secret.
    private static let webhookHosts = [
        "hooks.slack.com", "webhook.office.com", "hooks.zapier.com", "hc-ping.com",
        "webhook.site", "hook.make.com", "hook.integromat.com", "pipedream.net",
    ]
    private static let hookWords: Set<String> = [
        "hook", "hooks", "webhook", "webhooks", "webhookb2", "heartbeat", "heartbeats", "incoming",
        "integration", "invoke", "trigger", "triggers", "macros", "private",
    ]

    /// Returns whether a segment of a path isn't a word: a UUID, or letters and digits mixed.
    private static func isOpaque(_ segment: ArraySlice<UInt8>) -> Bool {
        KnownFormats.isUUID(segment)
            || segment.count >= 8 && segment.allSatisfy(tokenBytes.contains)
                && segment.contains(where: \.isDigit)
                && (segment.contains(where: \.isLetter) || segment.count >= 12)
            || EntropyEstimate.looksRandom(segment)
    }

    private static let tokenBytes = ASCIISet(lettersDigitsAnd: "+/_=-")
}
