import SignetBase
import SignetJSON

/// The words of a name, which suggest whether its value is a secret.
///
/// `apiKey`, `api-key` and `API_KEY` have the same words. A name with dots also has the words of
/// the parts above the last one.
struct SecretName {
    /// The words of each part between dots, in lower case, without those at the end that say
    /// nothing (`key.current`, `password_2`).
    private let parts: [[String]]
    /// The words of all parts.
    private let words: [String]

    init(_ name: String) {
        var parts = name.split(separator: ".").map { Self.words(of: $0) }
        while let part = parts.last, let word = part.last, parts.count > 1 || part.count > 1,
            Self.qualifiers.contains(word) || Self.isVersion(word)
                || part.count > 1 && word.allSatisfy(\.isNumber)
        {
            parts[parts.count - 1].removeLast()
            if parts[parts.count - 1].isEmpty { parts.removeLast() }
        }
        self.parts = parts
        words = parts.flatMap(\.self)
    }

    private static func words(of part: Substring) -> [String] {
        if part.utf8.allSatisfy({ $0 < 0x80 }) { return words(ofASCII: part.utf8) }
        var words: [String] = []
        var word = ""
        var wasLower = false
        for character in part {
            if !character.isLetter && !character.isNumber || wasLower && character.isUppercase {
                if !word.isEmpty { words.append(LetterFolding.fold(word)) }
                word = ""
            }
            if character.isLetter || character.isNumber { word += character.lowercased() }
            wasLower = character.isLowercase || character.isNumber
        }
        return word.isEmpty ? words : words + [LetterFolding.fold(word)]
    }

    private static func words(ofASCII part: Substring.UTF8View) -> [String] {
        var words: [String] = []
        var word: [UInt8] = []
        var wasLower = false
        func end() {
            if !word.isEmpty { words.append(String(decoding: word, as: UTF8.self)) }
            word.removeAll(keepingCapacity: true)
        }
        for byte in part {
            if !byte.isLetterOrDigit || wasLower && byte.isUppercaseLetter { end() }
            if byte.isLetterOrDigit { word.append(byte.lowercased) }
            wasLower = byte.isLowercaseLetter || byte.isDigit
        }
        end()
        return words
    }

    /// Returns whether a word is the version of a key: `v2`.
    private static func isVersion(_ word: String) -> Bool {
        word.count > 1 && word.utf8.first == UInt8(ascii: "v")
            && word.dropFirst().allSatisfy(\.isNumber)
    }

    /// The number of words.
    var wordCount: Int { words.count }

    /// Whether the name is of a key that is meant to be published.
    var isPublicKey: Bool {
        let words = self.words.suffix(2)
        guard let last = words.last, let first = words.first else { return false }
        return last == "key" && Self.publishedKinds.contains(first)
            || Self.publishedKinds.contains { last == $0 + "key" }
    }

    /// Whether a text, a number or a list of this name is neither a secret nor a public key for it.
    var isInnocent: Bool {
        // The rules for settings read the value.
        !isPublicKey && parts.first != ["services"] && !Self.samples.contains { isSecret(of: $0) }
    }

    /// A value of each kind that ``isSecret(of:)`` tells apart and may call secret.
    private static let samples: [JSONValue] = ["x", "x:y", "1s", 1, 12_345_678_901, []]

    /// Returns whether the value of this name is probably a secret.
    func isSecret(of value: JSONValue) -> Bool {
        guard let last = parts.last, let word = last.last, !isSetting(value) else { return false }
        switch value {
        case .bool: return false
        // A plural doesn't mean a secret here: `max_tokens` is a limit.
        case .number(let number):
            if word == "seed", number.isInteger, number.text.utf8.count > 10 { return true }
            return Self.isSecretWord(word, orPlural: false) || word == "pin" || word == "puk"
                || Self.isLastWord(word, in: Self.lastWords) || word == "key" && endsWithKey
                || endsWithPair || isBelowSecrets
        case .string where DurationText.duration(value) != nil:
            return Self.isSecretWord(word, orPlural: false)
                || Self.durationWords.contains(Self.withoutNumber(word)) || endsWithKey
                || isBelowSecrets
        case .string(let text):
            if KnownFormats.isPin(Array(text.utf8)[...]) { return false }
            return isSecretText(
                last, word: word, isOrdinary: Self.descriptions.contains(word),
                isPlace: Self.isPlace(text, as: word))
                || !text.isEmpty && Self.sessionWords.contains(word)
                || text.utf8.contains(UInt8(ascii: ":"))
                    && words.suffix(2) == ["user", "info"]
        default: return isSecretText(last, word: word, isOrdinary: false, isPlace: false)
        }
    }

    private func isSecretText(
        _ last: [String], word: String, isOrdinary: Bool, isPlace: Bool
    ) -> Bool {
        !isOrdinary && !isPlace && Self.hasSecretWord(words) || endsWithKey
            || Self.isLastWord(word, in: Self.lastWords)
            || Self.isLastWord(word, in: Self.lastTextWords) || endsWithPair
            || namesWebhook
            || isBelowSecrets
            || !isPlace
                && parts.dropLast().contains { $0.last.map { Self.isSecretWord($0) } ?? false }
    }

    /// Returns whether the network system reads the name and the value is not a secret:
    /// `services.NAME.signing.key` holds the short id of a key, `services.NAME.sealing.keys`
    /// several, and `services.NAME.json.keys` a style.
    private func isSetting(_ value: JSONValue) -> Bool {
        guard parts.count >= 3, parts[0] == ["services"] else { return false }
        if parts.count == 3, parts[2] == ["cookies"] { return true }
        let end = Array(parts.suffix(2))
        if [[["sealing"], ["keys"]], [["sealing"], ["response", "keys"]]].contains(end) {
            return value.array?.allSatisfy(Self.isShortID) == true
        }
        let names = [[["signing"], ["key"]], [["json"], ["keys"]], [["sealing"], ["signature"]]]
        return names.contains(end) && Self.isShortID(value)
    }

    private static func isShortID(_ value: JSONValue) -> Bool {
        guard let text = value.string else { return false }
        return (1...32).contains(text.utf8.count)
            && text.utf8.allSatisfy { $0.isLetterOrDigit || "-_.".utf8.contains($0) }
            && !hasSecretWord(words(of: text[...]))
    }

    /// Whether the name is a webhook's, whose URL is its secret.
    private var namesWebhook: Bool {
        guard let last = parts.last, let word = last.last else { return false }
        let above = parts.dropLast().last ?? []
        return Self.hookWords.contains(word)
            || Self.addressWords.contains(word)
                && (last + above).contains(where: Self.hookWords.contains)
    }

    /// Returns whether a value is what a word such as "file" or "url" says, so that the name is of
    /// the place of a secret and not of the secret.
    private static func isPlace(_ text: String, as word: String) -> Bool {
        switch word {
        case "url", "uri", "endpoint": ConfigurationURL(text) != nil
        case "file", "path", "dir", "folder", "directory":
            ["/", "./", "../", "~/"].contains { text.startsWithBytes(of: $0) }
        default: false
        }
    }

    /// Words that say that the value describes a secret.
    private static let descriptions: Set<String> = [
        "type", "algorithm", "alg", "issuer", "audience", "scheme", "format", "name", "header",
        "prefix",
    ]

    // MARK: - Words

    /// Returns whether a word means a secret. A number may follow it (`password2`), and another
    /// word may precede it (`pgpassword`).
    private static func isSecretWord(_ word: String, orPlural: Bool = true) -> Bool {
        let word = withoutNumber(word)
        return endings[word.utf8.last ?? 0, default: []].contains { word.endsWithBytes(of: $0) }
            || orPlural && word.endsWithBytes(of: "s")
                && isSecretWord(String(word.dropLast()), orPlural: false)
    }

    /// Returns whether one of the words, or two that are written apart, mean a secret.
    private static func hasSecretWord(_ words: [String]) -> Bool {
        words.contains { isSecretWord($0) }
            || zip(words, words.dropFirst()).contains { isSecretWord($0 + $1) }
    }

    /// Whether a part above the last one says in the plural that the names below it are of secrets.
    private var isBelowSecrets: Bool {
        parts.indices.dropLast().contains { index in
            guard let word = parts[index].last, word.endsWithBytes(of: "s") else { return false }
            return Self.isSecretWord(String(word.dropLast()), orPlural: false) || word == "creds"
                || word == "logins"
                || Self.isKey(parts[...index].flatMap(\.self))
        }
    }

    /// Returns whether a word means a secret if it is the last one: `auth` does, but not in
    /// `auth.url`.
    private static func isLastWord(_ word: String, in words: Set<String>) -> Bool {
        let word = withoutNumber(word)
        return words.contains(word)
            || word.endsWithBytes(of: "pass") && !otherPassWords.contains(word)
            || word.endsWithBytes(of: "pw")
            || word != "pins" && word.endsWithBytes(of: "s")
                && words.contains(String(word.dropLast()))
    }

    private var endsWithPair: Bool {
        guard words.count > 1 else { return false }
        let word = words[words.count - 1]
        let single = word.endsWithBytes(of: "s") ? String(word.dropLast()) : word
        guard Self.pairEnds.contains(word) || Self.pairEnds.contains(single) else { return false }
        let before = words[words.count - 2]
        return Self.pairs.contains("\(before) \(word)")
            || Self.pairs.contains("\(before) \(single)")
    }

    private static func withoutNumber(_ word: String) -> String {
        let bytes = word.utf8
        var end = bytes.endIndex
        while end > bytes.startIndex, bytes[bytes.index(before: end)].isDigit {
            end = bytes.index(before: end)
        }
        let rest = word[..<end]
        guard let byte = rest.utf8.last, byte >= 0x80 else { return String(rest) }
        return String(word.reversed().drop(while: \.isNumber).reversed())
    }

    private var endsWithKey: Bool { Self.isKey(words) }

    /// Returns whether words end with "key" or "keys", and the word before it isn't one such as
    /// "public" or "cache".
    private static func isKey(_ words: [String]) -> Bool {
        guard let last = words.last.map(withoutNumber) else { return false }
        let word = last.endsWithBytes(of: "keys") ? String(last.dropLast()) : last
        guard word.endsWithBytes(of: "key"), !otherWords.contains(word) else { return false }
        let before = word == "key" ? words.dropLast().last : String(word.dropLast(3))
        return before.map { !publicKeyKinds.contains($0) } ?? true
    }
}

// MARK: - Lists

extension SecretName {
    /// Words that mean a secret, at the end of a longer word too, by their last byte.
    private static let endings = Dictionary(
        grouping: [
            "password", "passwd", "passwrd", "passphrase", "passcode", "passkey", "pwd", "pswd",
            "psw", "secret", "token", "credential", "apikey", "privatekey", "secretkey",
            "accesskey",
            "dsn", "mnemonic", "connectionstring", "connstr", "passwordhash", "pwhash",
            // The words for a password, a key or a secret in other languages, without accents.
            "passwort", "kennwort", "geheimnis", "schlussel", "schluessel", "zugangsdaten",
            "losungswort", "zugangscode", "geheimzahl", "freischaltcode",
            "contrasena", "contrasenya", "motdepasse", "senha", "segredo", "segreto",
            "wachtwoord", "parola", "haslo", "heslo", "losenord", "passord", "adgangskode",
            "salasana", "jelszo", "slaptazodis", "lozinka",
            "пароль", "секрет", "токен", "κωδικος", "סיסמה", "รหัสผ่าน",
            "密码", "密碼", "密钥", "密鑰", "口令", "パスワード", "暗証番号", "비밀번호", "비번",
        ].map(LetterFolding.fold)
    ) { $0.utf8.last ?? 0 }
    private static let lastWords: Set<String> = [
        "auth", "authorization", "bearer", "cookie", "jwt", "otp", "totp", "mfa", "private", "pw",
        "salt", "pepper", "pincode", "cvv", "cvc", "psk", "cred", "hmac", "ssn",
        "clave", "chave", "mdp", "cle", "sifre", "geslo", "parool", "sleutel", "ключ",
    ]
    /// Words after which even a duration is a secret.
    private static let durationWords: Set<String> = ["pass", "pepper", "pin", "psk", "pw", "salt"]
    /// Cookies of sessions, whose text is a secret.
    private static let sessionWords: Set<String> = [
        "phpsessid", "jsessionid", "sessionid", "session", "sid",
    ]
    /// Other words that end with "pass".
    private static let otherPassWords: Set<String> = [
        "bypass", "compass", "encompass", "overpass", "surpass", "trespass", "underpass",
    ]
    /// Words before "key" that say that it is published.
    private static let publishedKinds: Set<String> = ["public", "publishable", "site"]
    /// Words that mean a secret only in front of a text: `seed: 42` is a number to begin with.
    private static let lastTextWords: Set<String> = [
        "pin", "seed", "login", "logon", "sig", "signature", "sas", "sk", "puk", "unseal", "2fa",
        "keystore", "pfx", "netrc",
    ]
    private static let pairs: Set<String> = [
        "pin code", "access code", "door code", "license code", "activation code", "auth code",
        "backup code", "invite code",
        "recovery code", "scratch code", "security code", "unlock code", "verification code",
        "connection string", "conn string", "conn str", "seed phrase", "recovery phrase",
        "secret phrase", "key phrase", "session id", "security answer", "snmp community",
        "community string", "shared access", "master seed", "wallet seed", "signing seed",
        "alarm code", "keypad code", "master code", "setup code", "gate code", "lock code",
        "pairing code", "lock combination", "card number", "cardholder number",
        "de passe", "palavra passe", "mat khau", "kata sandi", "clave secreta", "clave api",
        "chiave segreta", "chiave api", "cle api", "كلمة المرور",
    ]
    /// The second words of pairs.
    private static let pairEnds = Set(
        pairs.compactMap { $0.split(separator: " ").last.map(String.init) })
    /// Words at the end of a name that don't change its meaning.
    private static let qualifiers: Set<String> = [
        "value", "text", "plain", "plaintext", "cleartext", "raw", "data", "content",
        "base64", "b64", "hex", "pem", "der", "encoded", "encrypted", "enc", "current", "previous",
        "old", "new", "next", "prod", "production", "dev", "development", "staging", "test", "live",
        "default", "primary", "secondary", "backup", "main",
    ]
    private static let hookWords: Set<String> = ["webhook", "webhooks", "hook"]
    private static let addressWords: Set<String> = [
        "url", "urls", "uri", "endpoint", "address", "link", "target",
    ]
    private static let publicKeyKinds: Set<String> = [
        "public", "pub", "verify", "verification", "verifying", "sort", "primary", "foreign",
        "partition", "routing", "cache", "index", "map", "column", "shard", "translation", "i18n",
        "jwks", "jwk", "site", "publishable",
    ]
    /// Other words that end with "key".
    private static let otherWords: Set<String> = [
        "monkey", "turkey", "donkey", "hockey", "jockey", "whiskey", "hotkey", "passkey", "lackey",
    ]
}
