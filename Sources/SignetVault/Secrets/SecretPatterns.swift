import SignetBase

/// Recognises secrets by their format: prefixes of tokens, password hashes, authorizations, cookies
/// and recovery phrases.
enum SecretPatterns {
    /// The prefixes of vendors' secret tokens.
    private static let prefixes = bytes(
        "ABIA", "ACCA", "AGE-SECRET-KEY-1", "AIza", "AKIA", "ASIA", "ATATT3", "ATBB",
        "ATCTT3", "BBDC-", "CFPAT-", "EAACEdEose0cBA", "EZAK", "EZTK", "FLWSECK", "FlyV1",
        "GOCSPX-", "NRAK-", "NRII-", "PMAK-", "CLOJARS_", "dckr_oat_", "dckr_pat_",
        "doo_v1_", "dop_v1_", "dor_v1_", "eyJrIjoi", "figd_", "fo1_", "gho_", "ghp_", "ghr_",
        "ghs_", "ghu_", "github_pat_", "glagent-", "glc_", "glcbt-", "gldt-", "glft-", "glimt-",
        "glpat-", "glptt-", "glrt-", "glsa_", "glsoat-", "gsk_", "hf_", "lin_api_", "lsv2_", "nfp_",
        "npm_", "nsec1", "ntn_", "ops_eyJ", "pnu_", "pplx-", "pscale_oauth_",
        "pscale_pw_", "pscale_tkn_", "pul-", "pypi-", "r8_", "rk_live_", "rk_test_",
        "rubygems_", "sbp_", "sgp_", "shpat_", "shpca_", "shppa_", "shpss_", "sk-ant-",
        "sk-or-", "sk-proj-", "sk-svcacct-", "sk_live_", "sk_test_", "sntrys_", "sntryu_",
        "sq0csp-", "sqa_", "sqp_", "squ_", "tfp_", "tprv", "tskey-", "vercel_", "waka_", "whsec_",
        "phx_", "nvapi-", "tvly-", "xai-", "xapp-", "xkeysib-", "xoxa-", "xoxb-", "xoxc-", "xoxd-",
        "xoxe-", "xoxo-", "xoxp-",
        "xoxr-", "xoxs-", "xprv", "xsmtpsib-", "yprv", "zprv")

    /// Prefixes that contain a dot or another byte at which a text is split into tokens. They are
    /// matched before.
    private static let dottedPrefixes = bytes(
        "1//0", "SG.", "dp.ct.", "dp.pt.", "dp.st.", "dt0c01.", "hvb.", "hvr.", "hvs.",
        "secret-token:",
        "ya29.")

    /// The prefixes of vendors' public keys.
    private static let publishable = bytes("pk_live_", "pk_test_", "rzp_live_", "rzp_test_")

    static func hasTokenPrefix(_ token: ArraySlice<UInt8>) -> Bool {
        prefixes.contains { token.starts(with: $0) }
    }

    /// Returns whether a token has the form of a vendor's token whose prefix alone may start a
    /// word: `SK`, `AKID`, `ATTA` or `dapi`, or whose mark is at the end.
    static func hasTokenForm(_ token: ArraySlice<UInt8>) -> Bool {
        let isHex = { (part: ArraySlice<UInt8>, count: Int) in
            part.count >= count && part.allSatisfy(\.isHexDigit)
        }
        if token.starts(with: "SK".utf8), token.count == 34 { return isHex(token.dropFirst(2), 32) }
        if token.starts(with: "dapi".utf8) { return isHex(token.dropFirst(4), 28) }
        if token.starts(with: "AKID".utf8) || token.starts(with: "ATTA".utf8) {
            return token.allSatisfy(\.isLetterOrDigit) && token.contains(where: \.isLowercaseLetter)
        }
        if token.suffix(4).elementsEqual("NRAL".utf8) { return isHex(token.dropLast(4), 32) }
        let region = token.dropFirst(32)
        return region.starts(with: "-us".utf8) && isHex(token.prefix(32), 32)
            && (1...2).contains(region.dropFirst(3).count)
            && region.dropFirst(3).allSatisfy(\.isDigit)
    }

    /// Returns whether a piece of text starts like a token with a dot in it.
    static func hasDottedPrefix(_ piece: ArraySlice<UInt8>) -> Bool {
        piece.count >= 20 && dottedPrefixes.contains { piece.starts(with: $0) }
            // A personal access token of Airtable: `pat`, 14 characters, a dot, hexadecimal.
            || piece.starts(with: "pat".utf8) && piece.count >= 34
                && piece.dropFirst(3).prefix(14).allSatisfy(\.isLetterOrDigit)
                && piece.dropFirst(17).first == UInt8(ascii: ".")
                && piece.dropFirst(18).allSatisfy(\.isHexDigit)
    }

    static func isPublishable(_ token: ArraySlice<UInt8>) -> Bool {
        publishable.contains { token.starts(with: $0) }
    }

    // MARK: - Plain texts

    /// Returns whether a text is of fewer letters, digits, `-`, `.` and `_` than any rule for forms
    /// needs: a licence key has 14, the number of a card 15, and tokens have 16 or more.
    ///
    /// The rules for shorter texts need other bytes, but for those whose marks are looked for here:
    /// hashes of passwords, and `eyJ` and a dot of a JSON Web Token.
    static func isPlain(_ text: ArraySlice<UInt8>) -> Bool {
        guard text.count <= longestPlain else { return false }
        var (hasDot, hasJ) = (false, false)
        for byte in text {
            guard isPlain(byte) else { return false }
            if byte == ASCII.dot { hasDot = true }
            if byte == UInt8(ascii: "J") { hasJ = true }
        }
        return !(hasDot && hasJ) && !plainHashMarks.contains { text.starts(with: $0) }
    }

    private static let longestPlain = 13

    private static func isPlain(_ byte: UInt8) -> Bool {
        byte.isLetterOrDigit || byte == ASCII.minus || byte == ASCII.dot || byte == ASCII.underscore
    }

    private static let plainHashMarks = hashMarks.filter { $0.allSatisfy(isPlain) }

    // MARK: - Passwords

    /// Returns whether a piece of text contains the hash of a password, as of crypt(5), LDAP or
    /// Django.
    static func isPasswordHash(_ piece: ArraySlice<UInt8>) -> Bool {
        var start = piece.startIndex
        while true {
            let rest = piece[start...]
            if hashMarks.contains(where: { rest.count > $0.count && rest.starts(with: $0) }) {
                return true
            }
            // A name may come first: `admin:$apr1$…`.
            guard let sign = rest.firstIndex(where: { $0 == ASCII.colon || $0 == ASCII.equals })
            else { return false }
            start = sign + 1
        }
    }

    private static let hashMarks = bytes(
        "$1$", "$2$", "$2a$", "$2b$", "$2x$", "$2y$", "$5$", "$6$", "$7$", "$8$", "$9$", "$y$",
        "$gy$", "$apr1$", "$argon2", "$scrypt$", "$pbkdf2", "$sha1$", "$md5", "$shiro1$", "$P$",
        "$H$", "$bcrypt", "pbkdf2_sha", "pbkdf2:sha", "scrypt:", "bcrypt_sha256$", "argon2$argon2",
        "SCRAM-SHA-", "{SSHA}", "{SSHA256}", "{SSHA512}", "{SHA}", "{SHA256}", "{SHA512}", "{SMD5}",
        "{MD5}", "{CRYPT}", "{crypt}", "{bcrypt}",
        "{noop}", "{PBKDF2", "{ARGON2}", "{scrypt}", "{argon2}", "{pbkdf2}")

    /// Returns whether a text without spaces mixes letters of both cases, digits and marks, as
    /// passwords do and names don't.
    static func resemblesPassword(_ text: ArraySlice<UInt8>) -> Bool {
        guard (8...64).contains(text.count), let first = text.first, !"$%#@".utf8.contains(first),
            text.allSatisfy(\.isVisible),
            !text.contains(where: { "/\\.,:;=()[]{}<>|\"'`".utf8.contains($0) })
        else { return false }
        return text.contains(where: \.isUppercaseLetter)
            && text.contains(where: \.isLowercaseLetter)
            && text.contains(where: \.isDigit) && text.contains { "!#$%&*?@^~".utf8.contains($0) }
    }

    /// Returns whether a piece of text has the form `USER:PASSWORD@`, with no scheme before it.
    static func hasUserInfo(_ piece: ArraySlice<UInt8>) -> Bool {
        if let oracle = piece.firstPosition(of: "jdbc:oracle:"),
            let at = piece.firstIndex(of: UInt8(ascii: "@")), oracle < at
        {
            return piece[oracle..<at].contains(UInt8(ascii: "/"))
        }
        guard let colon = piece.firstIndex(of: UInt8(ascii: ":")), colon > piece.startIndex,
            let at = piece.lastIndex(of: UInt8(ascii: "@")), at > colon + 1, at < piece.endIndex - 1
        else { return false }
        let user = piece[..<colon]
        let scheme = String(decoding: user.map(\.lowercased), as: UTF8.self)
        return user.allSatisfy { $0.isLetterOrDigit || "._-+%".utf8.contains($0) }
            && !["mailto", "sip", "sips", "xmpp", "acct", "im", "urn", "did", "npm"].contains(
                scheme)
            && !piece[(at + 1)...].starts(with: "sha".utf8)
            && !"/$%{<*[(".utf8.contains(piece[colon + 1])
    }

    // MARK: - Whole texts

    /// Returns whether the words of a text are credentials of a field Authorization.
    static func isAuthorization(_ words: [ArraySlice<UInt8>]) -> Bool {
        var words = words[...]
        if let first = words.first, first.last == UInt8(ascii: ":") { words = words.dropFirst() }
        guard words.count >= 2, let scheme = words.first, scheme.count <= 16 else { return false }
        let name = String(decoding: scheme.map(\.lowercased), as: UTF8.self)
        let credentials = words[words.startIndex + 1]
        guard SecretAssignments.isLiteral(credentials, minimumCount: 3) else { return false }
        if name == "aws4-hmac-sha256" || name == "digest" {
            return credentials.contains(UInt8(ascii: "="))
        }
        guard words.count == 2 else { return false }
        if name == "bearer" || name == "dpop" { return true }
        return authorizationSchemes.contains(name)
            && (credentials.contains(where: \.isDigit) || credentials.count >= 16)
    }

    private static let authorizationSchemes: Set<String> = [
        "apikey", "api-key", "geniekey", "key", "negotiate", "oauth", "splunk", "ssws", "token",
    ]

    /// Returns whether a text is a field Set-Cookie.
    static func isCookie(_ text: ArraySlice<UInt8>) -> Bool {
        guard text.contains(UInt8(ascii: "=")), text.contains(UInt8(ascii: ";")) else {
            return false
        }
        let parts = text.split(separator: UInt8(ascii: ";")).dropFirst().map { part in
            String(decoding: part.trimmingBlanks().map(\.lowercased), as: UTF8.self)
        }
        return parts.contains { part in
            part == "httponly" || part == "secure" || part.startsWithBytes(of: "samesite=")
                || part.startsWithBytes(of: "path=/")
        }
    }

    /// Returns whether a token is base32 of at least ten bytes, such as the secret of a code
    /// generator. In lower case it has the length of such a secret, because it looks like a name.
    static func isBase32(_ token: ArraySlice<UInt8>) -> Bool {
        let digits = token.prefix { $0 != UInt8(ascii: "=") }
        guard digits.count >= 16, token[digits.endIndex...].allSatisfy({ $0 == UInt8(ascii: "=") })
        else { return false }
        let isUpper = digits.allSatisfy { $0.isUppercaseLetter || (0x32...0x37).contains($0) }
        let isLower = digits.allSatisfy { $0.isLowercaseLetter || (0x32...0x37).contains($0) }
        guard isUpper || isLower && [16, 24, 26, 32, 52, 56, 64].contains(digits.count),
            let first = digits.firstIndex(where: \.isDigit)
        else { return false }
        // Digits between letters: a name has them at the end.
        return digits[first...].contains(where: \.isLetter)
    }

    private static func bytes(_ texts: String...) -> [[UInt8]] { texts.map { Array($0.utf8) } }
}
