import SignetBase
import SignetCrypto
import SignetJSON

/// Decides if a value looks like a secret: by its name, by its form, and by what is inside it.
///
/// It inspects texts, the elements of arrays, the names and values of objects, and JSON inside
/// strings, even in base64 or percent-encoded. It accepts pins (`sha256/…`), named hashes
/// (`sha256:…`), UUIDs, public keys and certificates, and URLs without user info, a secret's
/// parameter or the path of a webhook. It can miss a secret, because a short password looks like
/// any other word.
struct SecretDetector {
    /// Returns the most certain finding about a value, or nil.
    ///
    /// - Parameter name: The key that has the value; nil to judge the value alone.
    static func finding(in value: JSONValue, named name: String?) -> SecretFinding? {
        var detector = SecretDetector()
        detector.inspect(value, named: name, depth: 0)
        if let name, SecretName(name).isSecret(of: value) { detector.add(.likely("its name")) }
        return detector.found
    }

    /// Returns whether a member's name is itself a secret, such as `alice:hunter2`.
    static func isSecret(name: String) -> Bool {
        var detector = SecretDetector()
        detector.inspect(name: name, depth: 0)
        return detector.found != nil
    }

    /// Returns the finding about an object whose members mean a secret only together, or nil.
    static func reasonToKeepWhole(_ object: JSONObject) -> SecretFinding? {
        if object["kty"] != nil, privateMembers.contains(where: { object[$0] != nil }) {
            return .certain("the private members of a JWK")
        }
        return isNamedSecret(object) ? .likely("the value of a secret's name") : nil
    }

    /// Returns whether an object is a Secret of Kubernetes.
    static func isSecretResource(_ object: JSONObject) -> Bool {
        object["kind"] == "Secret" && dataMembers.contains { object[$0] != nil }
    }

    static let dataMembers = ["data", "stringData"]

    /// Returns whether an object is a pair such as `{"name":"DB_PASSWORD","value":"…"}`, with names
    /// in any case.
    private static func isNamedSecret(_ object: JSONObject) -> Bool {
        if isSecretResource(object) { return false }
        var names: [SecretName] = []
        var values: [JSONValue] = []
        for (member, value) in object {
            let member = member.lowercased()
            if nameMembers.contains(member), let name = value.string {
                names.append(SecretName(name))
            }
            if valueMembers.contains(member) { values.append(value) }
        }
        return values.contains { value in names.contains { $0.isSecret(of: value) } }
    }

    private static let nameMembers: Set<String> = [
        "name", "key", "field", "header", "variable", "id", "property", "label", "title", "kind",
        "type", "n", "@name",
    ]
    static let valueMembers: Set<String> = [
        "value", "val", "content", "data", "default", "current", "v", "#text", "defaultvalue",
    ]

    private var found: SecretFinding?
    /// Whether the name of the value is that of a public key, which looks random.
    private var isPublicKey = false

    private var isDone: Bool { found?.isCertain == true }

    private mutating func add(_ finding: SecretFinding?) {
        guard let finding, found == nil || finding.isCertain && !isDone else { return }
        found = finding
    }

    /// The maximum depth of JSON in strings of JSON. A deeper string is inspected as a text.
    private static let maximumDepth = 8

    private mutating func inspect(_ value: JSONValue, named name: String?, depth: Int) {
        if isDone { return }
        switch value {
        case .null, .bool: return
        case .number(let number): inspectCode(Array(number.text.utf8)[...])
        case .string(let text): inspect(string: text, named: name, depth: depth)
        case .array(let elements):
            inspect(list: elements)
            for element in elements {
                inspect(element, named: name, depth: depth)
                // A list of pairs: `[["X-Api-Key","…"]]`.
                if let pair = element.array, pair.count == 2,
                    pair[0].string.map({ SecretName($0).isSecret(of: pair[1]) }) == true
                {
                    add(.likely("the value of a secret's name"))
                }
            }
        case .object(let object): inspect(object, named: name, depth: depth)
        }
    }

    /// Inspects what the elements of a list mean together.
    private mutating func inspect(list elements: [JSONValue]) {
        if SecretCodes.isKeyBytes(elements) { add(.likely("the bytes of a key")) }
        let texts = elements.compactMap(\.string)
        guard texts.count == elements.count, texts.count > 1 else { return }
        // A flat list: `["db","password","hunter2"]`. A list of names has no other marks.
        for (text, next) in zip(texts, texts.dropFirst())
        where next.utf8.contains(where: Self.isMark) {
            let name = SecretName(text)
            if name.wordCount <= 3, name.isSecret(of: .string(next)),
                !SecretName(next).isSecret(of: "x"),
                SecretAssignments.isLiteral(Array(next.utf8)[...], minimumCount: 1)
            {
                add(.likely("the value of a secret's name"))
            }
        }
        if SecretCommands.holdSecret(in: Array(texts.joined(separator: " ").utf8)[...]) {
            add(.likely("a password or key after its name"))
        }
    }

    private static func isMark(_ byte: UInt8) -> Bool {
        !byte.isLetter && !"_- ./".utf8.contains(byte)
    }

    private mutating func inspect(_ object: JSONObject, named name: String?, depth: Int) {
        let isKey = object["kty"] != nil
        add(Self.reasonToKeepWhole(object))
        if isDone { return }
        if Self.isSecretResource(object) { add(.likely("the data of a Secret")) }
        for (member, value) in object {
            // Skip the public members of a JWK, which look as random as the private ones.
            if isKey, Self.publicMembers.contains(where: { sameBytes($0, member) }) { continue }
            let path = name.map { "\($0).\(member)" } ?? member
            if !Self.isKeySet(member, value), SecretName(path).isSecret(of: value) {
                add(.likely("the name of a member"))
            }
            inspect(name: member, depth: depth)
            inspect(value, named: path, depth: depth)
        }
    }

    /// Returns whether a member is the list of a JWK Set, whose keys are inspected themselves.
    private static func isKeySet(_ member: String, _ value: JSONValue) -> Bool {
        sameBytes(member, "keys")
            && value.array?.allSatisfy { $0.object?["kty"] != nil } ?? false
    }

    /// RFC 7518, section 6.
    private static let privateMembers = ["k", "d", "p", "q", "dp", "dq", "qi", "oth"]
    private static let publicMembers = [
        "n", "e", "x", "y", "kid", "x5c", "x5t", "x5t#S256",
    ]

    private mutating func inspect(string text: String, named name: String?, depth: Int) {
        let wasPublicKey = isPublicKey
        isPublicKey = name.map { SecretName($0).isPublicKey } ?? false
        defer { isPublicKey = wasPublicKey }
        let bytes = Array(text.utf8)
        let first = bytes.first { !Self.isSpace($0) }
        if depth < Self.maximumDepth, let first, "{[\"".utf8.contains(first),
            let inner = try? JSONValue(parsing: bytes)
        {
            return inspect(inner, named: name, depth: depth + 1)
        }
        inspect(text: bytes, depth: depth)
        guard depth < Self.maximumDepth, !isDone,
            bytes.indices.contains(where: { bytes[$0] == 0x25 && bytes.hasPercentEscape(at: $0) })
        else { return }
        var decoded: [UInt8] = []
        PercentCoding.appendDecoded(bytes[...], to: &decoded)
        inspect(string: String(decoding: decoded, as: UTF8.self), named: name, depth: depth + 1)
    }

    // MARK: - Text

    private mutating func inspect(name: String, depth: Int) {
        let bytes = Array(name.utf8)
        inspect(text: bytes, depth: depth)
        if SecretCodes.isUserAndPassword(bytes[...]) { add(.likely("a user name and a password")) }
    }

    private mutating func inspect(text bytes: [UInt8], depth: Int) {
        add(SecretURL.finding(in: bytes[...]))
        if Self.isPrivateKeyText(bytes) { return add(.certain("a private key in PEM")) }
        var rest = bytes[...]
        // Skip PEM blocks: the lines of a certificate look random but aren't secret.
        while let begin = rest.firstPosition(of: "-----BEGIN ") {
            let label = rest[(begin + 11)...].prefix(64).prefix { $0 != UInt8(ascii: "-") }
            inspect(part: rest[..<begin], depth: depth)
            let isPublic = Self.publicLabels.contains { label.firstPosition(of: $0) != nil }
            let after = rest[label.endIndex...]
            let end = isPublic ? after.firstPosition(of: "-----END ") : nil
            rest = end.map { rest[($0 + 9)...] } ?? after
            if isDone { return }
        }
        inspect(part: rest, depth: depth)
    }

    /// Returns whether a text has the label of a private key: of PEM, of SSH.com with four dashes,
    /// or of PuTTY; in capitals or not.
    private static func isPrivateKeyText(_ bytes: [UInt8]) -> Bool {
        let text = bytes.map(\.lowercased)[...]
        if text.firstPosition(of: "minisign encrypted secret key") != nil { return true }
        guard bytes.contains(UInt8(ascii: "-")) else { return false }
        return [
            "private key-----", "private key block-----", "private key ----",
            "putty-user-key-file",
        ].contains { text.firstPosition(of: $0) != nil }
    }

    private static let publicLabels = [
        "CERTIFICATE", "PUBLIC KEY", "X509 CRL", "PARAMETERS",
    ]

    /// Inspects a text without PEM blocks.
    private mutating func inspect(part text: ArraySlice<UInt8>, depth: Int) {
        let words = text.split(maxSplits: 64, whereSeparator: Self.isSpace)
        if SecretPatterns.isAuthorization(words) { add(.likely("a field Authorization")) }
        if SecretCodes.isRecoveryPhrase(words) { add(.likely("a recovery phrase")) }
        if SecretCodes.isGrouped(words) { add(.likely("a code in groups of four")) }
        inspectCode(text.trimmingBlanks())
        if SecretPatterns.isCookie(text) { add(.likely("a cookie")) }
        if words.count == 1, SecretPatterns.resemblesPassword(words[0]) {
            add(.likely("a text that mixes characters as passwords do"))
        }
        if SecretAssignments.areContained(in: text) || SecretCommands.holdSecret(in: text)
            || SecretCommands.holdDirective(in: text)
        {
            add(.likely("a password or key after its name"))
        }
        var isBasic = false
        for piece in text.split(whereSeparator: Self.isSeparator) {
            if isBasic, Self.isBasicCredential(piece) {
                return add(.certain("a user name and password in base64"))
            }
            isBasic = piece.count == 5 && piece.map(\.lowercased).elementsEqual("basic".utf8)
            inspect(piece: piece, depth: depth)
            if isDone { return }
        }
    }

    /// Inspects a whole text or number.
    private mutating func inspectCode(_ text: ArraySlice<UInt8>) {
        if SecretCodes.isCardNumber(text) { add(.likely("the number of a card")) }
        if SecretCodes.isLicenseKey(text) { add(.likely("a licence key")) }
        if SecretCodes.isOracleLogin(text) || SecretCodes.isPasswordLine(text) {
            add(.likely("a user name and a password"))
        }
    }

    private mutating func inspect(piece: ArraySlice<UInt8>, depth: Int) {
        if KnownFormats.isPin(piece) || KnownFormats.isUUID(piece) { return }
        // SecretURL has judged all URLs.
        if piece.firstPosition(of: "://") != nil,
            ConfigurationURL(String(decoding: piece, as: UTF8.self)) != nil
        {
            return
        }
        if SecretPatterns.hasDottedPrefix(piece) {
            return add(.certain("the prefix of a known kind of token"))
        }
        if SecretPatterns.hasUserInfo(piece) { add(.likely("a user name and a password")) }
        if SecretPatterns.isPasswordHash(piece) { add(.likely("the hash of a password")) }
        if Self.isJWT(piece) { return add(.likely("a JSON Web Token")) }
        let piece = KnownFormats.removingHash(from: piece)
        for token in piece.split(whereSeparator: { !Self.tokenBytes.contains($0) }) {
            inspect(token: token, depth: depth)
            if isDone { return }
        }
    }

    private mutating func inspect(token: ArraySlice<UInt8>, depth: Int) {
        guard token.count >= 16 else { return }
        if SecretPatterns.isPublishable(token) { return }
        if SecretPatterns.hasTokenPrefix(token) || SecretPatterns.hasTokenForm(token) {
            return add(.certain("the prefix of a known kind of token"))
        }
        if SecretPatterns.isBase32(token) { add(.likely("the base32 of a secret")) }
        if depth < Self.maximumDepth, let bytes = Self.decoded(token) {
            if KeyBytes.isKeyOrCertificate(bytes) { return }
            if KeyBytes.isPrivateKey(bytes) { return add(.certain("a private key in base64")) }
            if bytes.starts(with: "-----BEGIN ".utf8) {
                return inspect(text: bytes, depth: depth + 1)
            }
            if let first = bytes.first, "{[".utf8.contains(first) {
                let before = found
                inspect(
                    string: String(decoding: bytes, as: UTF8.self), named: nil, depth: depth + 1)
                if found != before { return }
            }
            if SecretCodes.isCredential(bytes) {
                return add(.likely("a user name and password in base64"))
            }
        }
        if isPublicKey { return }
        // Measure a long token in pieces, so that a secret in it isn't hidden by the average.
        var rest = token
        while !rest.isEmpty {
            if EntropyEstimate.looksRandom(rest.prefix(2048)) {
                return add(.likely("long high-entropy text"))
            }
            rest = rest.dropFirst(2048)
        }
    }

    // MARK: - Forms

    /// Returns whether a piece has base64url parts of which the first encodes `{"…` (RFC 7519,
    /// section 3). The signature may be absent.
    private static func isJWT(_ piece: ArraySlice<UInt8>) -> Bool {
        guard let begin = piece.firstPosition(of: "eyJ") else { return false }
        return piece[begin...].prefix { tokenBytes.contains($0) || $0 == UInt8(ascii: ".") }
            .split(separator: UInt8(ascii: ".")).count >= 2
    }

    private static func isBasicCredential(_ piece: ArraySlice<UInt8>) -> Bool {
        guard let bytes = decoded(piece) else { return false }
        return bytes.contains(UInt8(ascii: ":")) && bytes.allSatisfy { (0x20...0x7e).contains($0) }
    }

    private static func decoded(_ token: ArraySlice<UInt8>) -> [UInt8]? {
        let text = token.prefix { $0 != UInt8(ascii: "=") }
        let isURL = text.contains { $0 == UInt8(ascii: "-") || $0 == UInt8(ascii: "_") }
        var bytes = Array(text)
        if isURL { return Base64.decode(bytes.span, from: .url) }
        while !bytes.count.isMultiple(of: 4) { bytes.append(UInt8(ascii: "=")) }
        return Base64.decode(bytes.span, from: .standard)
    }

    private static func isSpace(_ byte: UInt8) -> Bool {
        byte == 0x20 || (0x09...0x0d).contains(byte)
    }

    private static func isSeparator(_ byte: UInt8) -> Bool {
        isSpace(byte) || ",;\"'`<>".utf8.contains(byte)
    }

    private static let tokenBytes = ASCIISet(lettersDigitsAnd: "+/_=-")
}
