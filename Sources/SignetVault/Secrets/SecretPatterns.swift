/// Recognises secrets by the prefixes of tokens and by names such as `password=`.
enum SecretPatterns {
    /// The prefixes of vendors' secret tokens.
    private static let prefixes = bytes(
        "AGE-SECRET-KEY-1", "AKIA", "ASIA", "AIza", "ATATT3", "EAACEdEose0cBA", "GOCSPX-",
        "dckr_pat_", "doo_v1_", "dop_v1_", "eyJrIjoi", "figd_", "gho_", "ghp_", "ghr_",
        "ghs_", "ghu_", "github_pat_", "glc_", "gldt-", "glpat-", "glptt-", "glrt-", "glsa_",
        "hf_", "lin_api_", "npm_", "nsec1", "ntn_", "pnu_", "pul-", "pypi-",
        "rk_live_", "rk_test_", "rubygems_", "shpat_", "shpca_", "shppa_", "shpss_", "sk-ant-",
        "sk-proj-", "sk_live_", "sk_test_", "sq0csp-", "tskey-", "vercel_", "whsec_", "xapp-",
        "xoxa-", "xoxb-", "xoxe-", "xoxo-", "xoxp-", "xoxr-", "xoxs-", "xprv")

    /// Prefixes that contain a dot. They are matched before a text is split into tokens at dots.
    private static let dottedPrefixes = bytes("SG.", "dp.pt.", "hvb.", "hvs.", "ya29.")

    /// The prefixes of vendors' public keys.
    private static let publishable = bytes("pk_live_", "pk_test_", "rzp_live_", "rzp_test_")

    private static let names = bytes(
        "password", "passwd", "passphrase", "pwd", "accountkey", "sharedaccesskey", "secret_key",
        "secretkey", "secret_access_key", "secretaccesskey", "client_secret", "clientsecret",
        "api_key", "apikey", "api-key", "access_token", "accesstoken", "auth_token", "authtoken",
        "private_key", "privatekey")

    /// Values that are not a secret after such a name, as in templates.
    private static let harmless = bytes(
        "true", "false", "yes", "no", "null", "none", "nil", "required", "optional", "string")

    static func hasTokenPrefix(_ token: ArraySlice<UInt8>) -> Bool {
        prefixes.contains { token.starts(with: $0) }
    }

    /// Returns whether a piece of text starts like a token with a dot in it.
    static func hasDottedPrefix(_ piece: ArraySlice<UInt8>) -> Bool {
        piece.count >= 20 && dottedPrefixes.contains { piece.starts(with: $0) }
    }

    static func isPublishable(_ token: ArraySlice<UInt8>) -> Bool {
        publishable.contains { token.starts(with: $0) }
    }

    /// Returns whether a piece of text contains an assignment such as `password=…`.
    static func isAssignment(_ piece: ArraySlice<UInt8>) -> Bool {
        var rest = piece
        while let equals = rest.firstIndex(of: UInt8(ascii: "=")) {
            let name = rest[..<equals].map { (0x41...0x5a).contains($0) ? $0 | 0x20 : $0 }
            let value = rest[(equals + 1)...].prefix { !"&|".utf8.contains($0) }
            if names.contains(where: { name.ends(with: $0) }), isLiteral(value) { return true }
            rest = rest[(equals + 1)...]
        }
        return false
    }

    /// Returns whether a value is a literal, not a placeholder or a pattern.
    private static func isLiteral(_ value: ArraySlice<UInt8>) -> Bool {
        guard value.count >= 3, let first = value.first, !"$%{<*[(.\\=".utf8.contains(first)
        else { return false }
        return !harmless.contains { $0.elementsEqual(value.map { $0 | 0x20 }) }
    }

    private static func bytes(_ texts: String...) -> [[UInt8]] { texts.map { Array($0.utf8) } }
}

extension [UInt8] {
    fileprivate func ends(with other: [UInt8]) -> Bool { suffix(other.count).elementsEqual(other) }
}
