internal import SignetBase
import SignetCrypto
import SignetJSON

/// Detects public values that look like a secret.
///
/// It inspects texts, the elements of arrays, the names and values of objects, and JSON inside
/// strings, even in base64. It accepts pins (`sha256/…`), named hashes (`sha256:…`), URLs without
/// user info, UUIDs, public keys and certificates. It can miss a secret, because a short password
/// looks like any other word.
struct SecretDetector {
    /// A finding, described without any part of the value.
    struct Finding: Equatable {
        let reason: String
        /// Whether the value has the format of a secret, and isn't only random or named like one.
        let isCertain: Bool

        static func certain(_ reason: String) -> Finding { .init(reason: reason, isCertain: true) }
        static func likely(_ reason: String) -> Finding { .init(reason: reason, isCertain: false) }
    }

    /// Returns the most certain finding in a value, or nil.
    static func finding(in value: JSONValue) -> Finding? {
        var detector = SecretDetector()
        detector.inspect(value, depth: 0)
        return detector.found
    }

    private var found: Finding?

    private var isDone: Bool { found?.isCertain == true }

    private mutating func add(_ finding: Finding?) {
        guard let finding, found == nil || finding.isCertain && !isDone else { return }
        found = finding
    }

    /// The maximum depth of JSON in strings of JSON. A deeper string is inspected as a text.
    private static let maximumDepth = 8

    private mutating func inspect(_ value: JSONValue, depth: Int) {
        if isDone { return }
        switch value {
        case .null, .bool, .number: return
        case .string(let text): inspect(string: text, depth: depth)
        case .array(let elements):
            for element in elements { inspect(element, depth: depth) }
        case .object(let object):
            let isKey = object["kty"] != nil
            if isKey, Self.privateMembers.contains(where: { object[$0] != nil }) {
                return add(.certain("the private members of a JWK"))
            }
            for (name, value) in object {
                // Skip the public members of a JWK, which look as random as the private ones.
                if isKey, Self.publicMembers.contains(where: { sameBytes($0, name) }) { continue }
                inspect(text: Array(name.utf8), depth: depth)
                inspect(value, depth: depth)
            }
        }
    }

    /// RFC 7518, section 6.
    private static let privateMembers = ["k", "d", "p", "q", "dp", "dq", "qi", "oth"]
    private static let publicMembers = [
        "n", "e", "x", "y", "kid", "x5c", "x5t", "x5t#S256",
    ]

    private mutating func inspect(string text: String, depth: Int) {
        let first = text.utf8.first { !Self.isSpace($0) }
        if depth < Self.maximumDepth, let first, "{[\"".utf8.contains(first),
            let inner = try? JSONValue(parsing: Array(text.utf8))
        {
            return inspect(inner, depth: depth + 1)
        }
        inspect(text: Array(text.utf8), depth: depth)
    }

    // MARK: - Text

    private mutating func inspect(text bytes: [UInt8], depth: Int) {
        var rest = bytes[...]
        // Skip PEM blocks: the lines of a certificate look random but aren't secret.
        while let begin = rest.firstPosition(of: "-----BEGIN ") {
            let label = rest[(begin + 11)...].prefix(64).prefix { $0 != UInt8(ascii: "-") }
            if label.firstPosition(of: "PRIVATE KEY") != nil {
                return add(.certain("a private key in PEM"))
            }
            inspect(pieces: rest[..<begin], depth: depth)
            let isPublic = Self.publicLabels.contains { label.firstPosition(of: $0) != nil }
            let after = rest[label.endIndex...]
            let end = isPublic ? after.firstPosition(of: "-----END ") : nil
            rest = end.map { rest[($0 + 9)...] } ?? after
            if isDone { return }
        }
        inspect(pieces: rest, depth: depth)
    }

    private static let publicLabels = [
        "CERTIFICATE", "PUBLIC KEY", "X509 CRL", "PARAMETERS",
    ]

    private mutating func inspect(pieces text: ArraySlice<UInt8>, depth: Int) {
        var isBasic = false
        for piece in text.split(whereSeparator: Self.isSeparator) {
            if isBasic, Self.isBasicCredential(piece) {
                return add(.certain("a user name and password in base64"))
            }
            isBasic = piece.count == 5 && piece.map({ $0 | 0x20 }).elementsEqual("basic".utf8)
            inspect(piece: piece, depth: depth)
            if isDone { return }
        }
    }

    private mutating func inspect(piece: ArraySlice<UInt8>, depth: Int) {
        if KnownFormats.isPin(piece) || KnownFormats.isUUID(piece) { return }
        if let authority = Self.authority(of: piece) {
            if Self.holdsUserInfo(authority) { return add(.certain("a URL with user info")) }
            if ConfigurationURL(String(decoding: piece, as: UTF8.self)) != nil { return }
        }
        if SecretPatterns.hasDottedPrefix(piece) {
            return add(.certain("the prefix of a known kind of token"))
        }
        if Self.isJWT(piece) { return add(.likely("a JSON Web Token")) }
        if SecretPatterns.isAssignment(piece) { add(.likely("a password or key after its name")) }
        let piece = KnownFormats.removingHash(from: piece)
        for token in piece.split(whereSeparator: { !Self.tokenBytes.contains($0) }) {
            inspect(token: token, depth: depth)
            if isDone { return }
        }
    }

    private mutating func inspect(token: ArraySlice<UInt8>, depth: Int) {
        guard token.count >= 16 else { return }
        if SecretPatterns.isPublishable(token) { return }
        if SecretPatterns.hasTokenPrefix(token) {
            return add(.certain("the prefix of a known kind of token"))
        }
        if depth < Self.maximumDepth, let bytes = Self.decoded(token) {
            if KnownFormats.isKeyOrCertificate(bytes) { return }
            if KnownFormats.isPrivateKey(bytes) { return add(.certain("a private key in base64")) }
            if bytes.starts(with: "-----BEGIN ".utf8) {
                return inspect(text: bytes, depth: depth + 1)
            }
            if bytes.first == UInt8(ascii: "{") {
                let before = found
                inspect(string: String(decoding: bytes, as: UTF8.self), depth: depth + 1)
                if found != before { return }
            }
        }
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

    private static func authority(of piece: ArraySlice<UInt8>) -> ArraySlice<UInt8>? {
        guard let colon = piece.firstPosition(of: "://") else { return nil }
        return piece[(colon + 3)...].prefix { !"/?#".utf8.contains($0) }
    }

    private static func holdsUserInfo(_ authority: ArraySlice<UInt8>) -> Bool {
        guard let at = authority.lastIndex(of: UInt8(ascii: "@")) else { return false }
        // `[^` starts a class of a regular expression, not a user name.
        return authority[..<at].firstPosition(of: "[^") == nil
    }

    /// Returns whether a piece has three base64url parts of which the first encodes `{"…` (RFC
    /// 7519, section 3).
    private static func isJWT(_ piece: ArraySlice<UInt8>) -> Bool {
        guard let begin = piece.firstPosition(of: "eyJ") else { return false }
        return piece[begin...].prefix { tokenBytes.contains($0) || $0 == UInt8(ascii: ".") }
            .split(separator: UInt8(ascii: ".")).count >= 3
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

extension ArraySlice<UInt8> {
    /// Returns the position of the first occurrence of a text, or nil.
    func firstPosition(of text: String) -> Int? {
        let pattern = Array(text.utf8)
        guard count >= pattern.count else { return nil }
        return (startIndex...(endIndex - pattern.count)).first { position in
            self[position] == pattern[0] && self[position...].starts(with: pattern)
        }
    }
}
