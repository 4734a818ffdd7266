import SignetBase
import SignetJSON

/// Finds secrets that follow the option of a command or a directive's name, without a sign between.
enum SecretCommands {
    /// Returns whether a command has an option such as `--token VALUE`, `-storepass VALUE` or
    /// `-u USER:PASSWORD`, or a text is a line of .netrc.
    static func holdSecret(in text: ArraySlice<UInt8>) -> Bool {
        let words = text.split(whereSeparator: isSpace)
        let isNetrc = ["machine", "default"].contains {
            words.first?.elementsEqual($0.utf8) == true
        }
        // The options of the command that was named last.
        var options: Set<String> = []
        var before: ArraySlice<UInt8> = []
        for (index, word) in words.enumerated() {
            defer { before = word }
            let name = String(decoding: word.prefix(32), as: UTF8.self)
            if let known = passwordOptions[name] { options.formUnion(known) }
            if attachedPasswords.contains(name) { options.insert("-p…") }
            if options.contains("-p…"), word.starts(with: "-p".utf8), word.count > 2,
                SecretAssignments.isLiteral(word.dropFirst(2), minimumCount: 3)
            {
                return true
            }
            if options.contains("-u"), word.starts(with: "-u".utf8),
                !word.starts(with: "-url".utf8),
                word.dropFirst(3).contains(UInt8(ascii: ":"))
            {
                return true
            }
            guard word.first != UInt8(ascii: "-"),
                SecretAssignments.isLiteral(word, minimumCount: 3)
            else { continue }
            let option = String(decoding: before.prefix(64), as: UTF8.self)
            if isNetrc && option == "password" || options.contains(option) && option != "-u" {
                return true
            }
            if SecretCodes.isOracleLogin(word), option == "sqlplus" { return true }
            if SecretAssignments.isQuote(word[word.startIndex]) {
                // SQL: `PASSWORD '…'`, `IDENTIFIED BY '…'`.
                let keyword = option.lowercased()
                if keyword == "password" || keyword == "by" { return true }
                if keyword == "authorization", holdCredentials(words[index...]) { return true }
            }
            if names(option, secret: word) { return true }
        }
        return false
    }

    /// Returns whether an option names a secret, and a word is its value.
    private static func names(_ option: String, secret word: ArraySlice<UInt8>) -> Bool {
        if option == "-u" || option == "--user" { return word.contains(UInt8(ascii: ":")) }
        if option.startsWithBytes(of: "-pass"), word.starts(with: "pass:".utf8) {
            return word.count > 5
        }
        guard option.utf8.count > 4, option.startsWithBytes(of: "-") else { return false }
        let name = option.drop { $0 == "-" }
        let value = SecretAssignments.value(of: word)
        // `-Dtoken` sets the property `token`.
        return SecretName(String(name)).isSecret(of: value)
            || name.first == "D" && SecretName(String(name.dropFirst())).isSecret(of: value)
    }

    /// Returns whether words that follow `Authorization` are credentials, such as `"Bearer …"`.
    private static func holdCredentials(_ words: ArraySlice<ArraySlice<UInt8>>) -> Bool {
        guard words.count > 1 else { return false }
        let scheme = String(decoding: words[words.startIndex].dropFirst(), as: UTF8.self)
        return ["basic", "bearer", "digest", "token", "apikey"].contains(scheme.lowercased())
            && SecretAssignments.isLiteral(
                words[words.startIndex + 1].prefix { !SecretAssignments.isQuote($0) },
                minimumCount: 3)
    }

    /// Returns whether a line is a directive such as `requirepass VALUE` or `export TOKEN VALUE`.
    static func holdDirective(in text: ArraySlice<UInt8>) -> Bool {
        text.split(whereSeparator: { $0 == 0x0A || $0 == 0x0D }).contains { line in
            var words = line.split(maxSplits: 4, whereSeparator: isSpace)[...]
            guard let first = words.first else { return false }
            let isSetter = setters.contains(
                String(decoding: first.prefix(32), as: UTF8.self).lowercased())
            if isSetter { words.removeFirst() }
            guard words.count == 2, let name = words.first, let value = words.last,
                name.count <= 64, SecretAssignments.isLiteral(value, minimumCount: 3)
            else { return false }
            let text = String(decoding: name, as: UTF8.self)
            if directives.contains(text.lowercased()) { return true }
            // Two words may be a sentence: then the second has no digits.
            guard isSetter || value.contains(where: \.isDigit) && value.contains(where: \.isLetter),
                name.allSatisfy({ $0.isLetterOrDigit || "_-.".utf8.contains($0) })
            else { return false }
            return SecretName(text).isSecret(of: SecretAssignments.value(of: value))
        }
    }

    /// The options of commands after which a password follows.
    private static let passwordOptions: [String: Set<String>] = [
        "redis-cli": ["-a"], "sshpass": ["-p"], "login": ["-p"], "mongosh": ["-p"],
        "mongo": ["-p"], "mongodump": ["-p"], "mongorestore": ["-p"], "ldapsearch": ["-w"],
        "mosquitto_pub": ["-P"], "mosquitto_sub": ["-P"], "ipmitool": ["-P"], "sqlcmd": ["-P"],
        "zip": ["-P"], "curl": ["-u"],
    ]
    /// Commands that take a password directly after `-p`.
    private static let attachedPasswords: Set<String> = [
        "mysql", "mysqladmin", "mysqldump", "mysqlimport", "sshpass", "7z",
    ]
    /// Words before a name and its value.
    private static let setters: Set<String> = [
        "arg", "env", "export", "fastcgi_param", "proxy_set_header", "set", "setenv", "setx",
    ]
    private static let directives: Set<String> = [
        "bindpw", "masterauth", "requirepass", "rootpw", "smtp_sasl_passwd",
    ]

    private static func isSpace(_ byte: UInt8) -> Bool {
        byte.isBlank || byte == 0x0A || byte == 0x0D
    }
}
