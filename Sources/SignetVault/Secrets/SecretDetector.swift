internal import SignetBase
import SignetCrypto
import SignetJSON

/// Tells whether a value that would be public looks like a secret, and by what.
///
/// Looked at are texts, the elements of arrays, names and values of objects, and JSON held in
/// strings, also in base64. Exempt are pins (`sha256/…`), named hashes (`sha256:…`), URLs without user
/// info, UUIDs, and public keys and certificates. It is a net for clumsy hands, not a proof: a short
/// password looks like any other word.
struct SecretDetector {
    /// What was found, in words that hold none of it.
    struct Finding: Equatable {
        let reason: String
        /// Whether it has a secret's form, and is not merely random or named like one.
        let isCertain: Bool

        static func certain(_ reason: String) -> Finding { .init(reason: reason, isCertain: true) }
        static func likely(_ reason: String) -> Finding { .init(reason: reason, isCertain: false) }
    }

    /// The gravest thing found in a value, or nil.
    static func finding(in value: JSONValue) -> Finding? {
        var detector = SecretDetector()
        detector.look(at: value, depth: 0)
        return detector.found
    }

    private var found: Finding?

    private var isDone: Bool { found?.isCertain == true }

    private mutating func add(_ finding: Finding?) {
        guard let finding, found == nil || finding.isCertain && !isDone else { return }
        found = finding
    }

    /// JSON in a string in JSON in a string …: beyond this the text itself is judged.
    private static let deepest = 8

    private mutating func look(at value: JSONValue, depth: Int) {
        if isDone { return }
        switch value {
        case .null, .bool, .number: return
        case .string(let text): look(at: text, depth)
        case .array(let elements):
            for element in elements { look(at: element, depth: depth) }
        case .object(let object):
            let isKey = object["kty"] != nil
            if isKey, Self.privateMembers.contains(where: { object[$0] != nil }) {
                return add(.certain("the private members of a JWK"))
            }
            for (name, value) in object {
                // The public members of a JWK are as random as the private ones.
                if isKey, Self.publicMembers.contains(where: { sameBytes($0, name) }) { continue }
                look(atText: Array(name.utf8), depth)
                look(at: value, depth: depth)
            }
        }
    }

    /// RFC 7518, section 6.
    private static let privateMembers = ["k", "d", "p", "q", "dp", "dq", "qi", "oth"]
    private static let publicMembers = [
        "n", "e", "x", "y", "kid", "x5c", "x5t", "x5t#S256",
    ]

    private mutating func look(at text: String, _ depth: Int) {
        let first = text.utf8.first { !Self.isSpace($0) }
        if depth < Self.deepest, let first, "{[\"".utf8.contains(first),
            let inner = try? JSONValue(parsing: Array(text.utf8))
        {
            return look(at: inner, depth: depth + 1)
        }
        look(atText: Array(text.utf8), depth)
    }

    // MARK: - Text

    private mutating func look(atText bytes: [UInt8], _ depth: Int) {
        var rest = bytes[...]
        // PEM blocks are cut out: a certificate's lines are random and no secret.
        while let begin = rest.firstPosition(of: "-----BEGIN ") {
            let label = rest[(begin + 11)...].prefix(64).prefix { $0 != UInt8(ascii: "-") }
            if label.firstPosition(of: "PRIVATE KEY") != nil {
                return add(.certain("a private key in PEM"))
            }
            look(atPieces: rest[..<begin], depth)
            let isPublic = Self.publicLabels.contains { label.firstPosition(of: $0) != nil }
            let after = rest[label.endIndex...]
            let end = isPublic ? after.firstPosition(of: "-----END ") : nil
            rest = end.map { rest[($0 + 9)...] } ?? after
            if isDone { return }
        }
        look(atPieces: rest, depth)
    }

    private static let publicLabels = [
        "CERTIFICATE", "PUBLIC KEY", "X509 CRL", "PARAMETERS",
    ]

    private mutating func look(atPieces text: ArraySlice<UInt8>, _ depth: Int) {
        var isBasic = false
        for piece in text.split(whereSeparator: Self.isSeparator) {
            if isBasic, Self.isBasicCredential(piece) {
                return add(.certain("a user name and password in base64"))
            }
            isBasic = piece.count == 5 && piece.map({ $0 | 0x20 }).elementsEqual("basic".utf8)
            look(atPiece: piece, depth)
            if isDone { return }
        }
    }

    private mutating func look(atPiece piece: ArraySlice<UInt8>, _ depth: Int) {
        if PublicForm.isPin(piece) || PublicForm.isUUID(piece) { return }
        if let authority = Self.authority(of: piece) {
            if Self.holdsUserInfo(authority) { return add(.certain("a URL with user info")) }
            if ConfigurationURL(String(decoding: piece, as: UTF8.self)) != nil { return }
        }
        if SecretWords.hasDottedPrefix(piece) {
            return add(.certain("the prefix of a known kind of token"))
        }
        if Self.isJWT(piece) { return add(.likely("a JSON Web Token")) }
        if SecretWords.isAssignment(piece) { add(.likely("a password or key behind its name")) }
        let piece = PublicForm.withoutHash(piece)
        for token in piece.split(whereSeparator: { !Self.isTokenByte($0) }) {
            look(atToken: token, depth)
            if isDone { return }
        }
    }

    private mutating func look(atToken token: ArraySlice<UInt8>, _ depth: Int) {
        guard token.count >= 16 else { return }
        if SecretWords.isPublishable(token) { return }
        if SecretWords.hasTokenPrefix(token) {
            return add(.certain("the prefix of a known kind of token"))
        }
        if depth < Self.deepest, let bytes = Self.decoded(token) {
            if PublicForm.isKeyOrCertificate(bytes) { return }
            if PublicForm.isPrivateKey(bytes) { return add(.certain("a private key in base64")) }
            if bytes.starts(with: "-----BEGIN ".utf8) {
                return look(atText: bytes, depth + 1)
            }
            if bytes.first == UInt8(ascii: "{") {
                let before = found
                look(at: String(decoding: bytes, as: UTF8.self), depth + 1)
                if found != before { return }
            }
        }
        // A text without end is judged piece by piece, so that none of it hides in the average.
        var rest = token
        while !rest.isEmpty {
            if TextRandomness(rest.prefix(2048))?.looksRandom == true {
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
        // A regular expression's class is no user.
        return authority[..<at].firstPosition(of: "[^") == nil
    }

    /// Three base64url parts of which the first is that of `{"…` (RFC 7519, section 3).
    private static func isJWT(_ piece: ArraySlice<UInt8>) -> Bool {
        guard let begin = piece.firstPosition(of: "eyJ") else { return false }
        return piece[begin...].prefix { isTokenByte($0) || $0 == UInt8(ascii: ".") }
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
        if isURL { return Base64.decode(bytes.span, .url) }
        while !bytes.count.isMultiple(of: 4) { bytes.append(UInt8(ascii: "=")) }
        return Base64.decode(bytes.span, .standard)
    }

    private static func isSpace(_ byte: UInt8) -> Bool {
        byte == 0x20 || (0x09...0x0d).contains(byte)
    }

    private static func isSeparator(_ byte: UInt8) -> Bool {
        isSpace(byte) || ",;\"'`<>".utf8.contains(byte)
    }

    private static func isTokenByte(_ byte: UInt8) -> Bool {
        (0x30...0x39).contains(byte) || (0x61...0x7a).contains(byte | 0x20)
            || "+/_=-".utf8.contains(byte)
    }
}

extension ArraySlice<UInt8> {
    /// Where a text begins, or nil.
    func firstPosition(of text: StaticString) -> Int? {
        let wanted = Array(text.description.utf8)
        return firstPosition(of: wanted)
    }

    func firstPosition(of text: String) -> Int? { firstPosition(of: Array(text.utf8)) }

    private func firstPosition(of wanted: [UInt8]) -> Int? {
        guard count >= wanted.count else { return nil }
        var position = startIndex
        let last = endIndex - wanted.count
        while position <= last {
            if self[position] == wanted[0], self[position...].starts(with: wanted) {
                return position
            }
            position += 1
        }
        return nil
    }
}
