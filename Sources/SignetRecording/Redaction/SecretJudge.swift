import SignetBase
import SignetJSON
import SignetVault
import Synchronization

/// Judges single values, and replaces those that are secret.
final class SecretJudge: Sendable, CustomStringConvertible, CustomReflectable {
    /// The kinds of texts that were judged, which are kept apart in ``CleanTexts``.
    private enum Kind: UInt8 { case url, number, list, text }

    private let fields: Set<String>
    private let members: Set<String>
    let known: KnownSecrets
    private let clean = CleanTexts()
    /// The empty name, above all others that were judged.
    let root = JudgedName()
    private let nameCount = Atomic(0)
    /// More names, and longer ones, aren't kept, but judged each time.
    private static let (mostNames, longestPath) = (4096, 256)

    init(_ rules: RedactionRules) {
        fields = Set(rules.fields.map { $0.lowercased() }).union(Self.fields)
        members = Set(rules.members.map { $0.lowercased() }).union(Self.members)
        known = KnownSecrets(rules.secrets)
    }

    var description: String { "SecretJudge" }

    /// A mirror without rules and values.
    var customMirror: Mirror { Mirror(self, children: []) }

    /// A key for what was judged. The length of the name keeps it apart from the value.
    private static func key(_ kind: Kind, named name: [UInt8] = [], _ value: [UInt8]) -> [UInt8] {
        let count = UInt16(clamping: name.count)
        return [kind.rawValue, UInt8(count >> 8), UInt8(count & 255)] + name + value
    }

    /// Whether the name of a field says that its value is a secret or a signature.
    func isSecret(field name: String) -> Bool {
        let name = name.lowercased()
        if fields.contains(name) { return true }
        let words = name.split(separator: "-")
        return words.contains { Self.signatureWords.contains($0) }
            || words.last == "signature" || words.contains("signature") && words.last != "input"
    }

    /// Whether the name of a member or a parameter says so, or one of its parts, as in
    /// `user[iban]`, `iban[0]` and `user.iban`.
    func isSecret(member name: [UInt8]) -> Bool {
        name.split { $0 == ASCII.dot || $0 == ASCII.leftBracket || $0 == ASCII.rightBracket }
            .contains { part in
                members.contains(String(decoding: part.map(\.lowercased), as: UTF8.self))
            }
    }

    /// Whether the name of a parameter of a URL or a form says so.
    func isSecret(parameter name: [UInt8]) -> Bool {
        isSecret(member: name) || SecretSearch.isSecret(parameterName: name)
    }

    /// Whether a name in a text says so: a member's or a field's.
    func isSecret(assigned name: [UInt8]) -> Bool {
        isSecret(member: name)
            || fields.contains(String(decoding: name.map(\.lowercased), as: UTF8.self))
    }

    // MARK: Judged names

    /// Returns names that are joined by dots.
    func judged(_ path: [UInt8]) -> JudgedName {
        path.isEmpty ? root : judged(path[...], below: root, among: root.names, at: 0)
    }

    /// Returns the name of a member.
    ///
    /// - Parameters:
    ///   - above: The name above it.
    ///   - names: The names below that, as they were kept when the object was begun.
    ///   - index: The place of the member in its object.
    func judged(
        _ name: ArraySlice<UInt8>, below above: JudgedName, among names: JudgedName.Names,
        at index: Int
    ) -> JudgedName {
        if let judged = names.find(name, at: index) { return judged }
        let judged = JudgedName(name, below: above.path, by: self)
        if !judged.isSecret, judged.path.count <= Self.longestPath,
            nameCount.load(ordering: .relaxed) < Self.mostNames, above.keep(judged)
        {
            nameCount.add(1, ordering: .relaxed)
        }
        return judged
    }

    /// Whether a text or a number is too short and plain for a secret of its name, which isn't
    /// one of a secret.
    func isPlain(_ text: ArraySlice<UInt8>, named name: @autoclosure () -> JudgedName) -> Bool {
        SecretSearch.isPlain(text) && name().isInnocent
    }

    // MARK: Texts

    /// Whether a text has been found clean before.
    func isClean(_ text: [UInt8], named name: [UInt8]) -> Bool {
        clean.contains(Self.key(.text, named: name, text))
    }

    /// Notes that a text is clean.
    func noteClean(_ text: [UInt8], named name: [UInt8]) {
        clean.insert(Self.key(.text, named: name, text))
    }

    /// Returns whether a value looks like a secret by its name or its form, but for its marks.
    func looksSecret(_ bytes: [UInt8], named name: [UInt8]) -> Bool {
        let text = String(decoding: RedactionMark.removing(from: bytes), as: UTF8.self)
        let names = name.isEmpty ? nil : String(decoding: name, as: UTF8.self)
        return !text.isEmpty && SecretSearch.looksSecret(.string(text), named: names)
    }

    /// Returns whether a URL looks like a secret as a whole, such as a webhook's.
    func looksSecret(url: [UInt8]) -> Bool {
        let key = Self.key(.url, url)
        if clean.contains(key) { return false }
        if looksSecret(url, named: []) { return true }
        clean.insert(key)
        return false
    }

    /// Returns whether a number looks like a secret.
    func isSecret(number: [UInt8], named name: [UInt8]) -> Bool {
        if isSecret(member: name) { return true }
        let key = Self.key(.number, named: name, number)
        if clean.contains(key) { return false }
        let text = String(decoding: number, as: UTF8.self)
        let value = JSONNumber(text: text).map(JSONValue.number) ?? .string(text)
        let names = name.isEmpty ? nil : String(decoding: name, as: UTF8.self)
        guard !known.occur(in: number), !SecretSearch.looksSecret(value, named: names) else {
            return true
        }
        clean.insert(key)
        return false
    }

    /// Returns whether a list without objects is a secret, such as the bytes of a key.
    func isSecret(list: JSONValue, of size: Int, named name: [UInt8]) -> Bool {
        let key = Self.key(.list, named: name, size <= 256 ? list.serialized() : [])
        if size <= 256, clean.contains(key) { return false }
        let names = name.isEmpty ? nil : String(decoding: name, as: UTF8.self)
        guard !SecretSearch.looksSecret(list, named: names) else { return true }
        if size <= 256 { clean.insert(key) }
        return false
    }

    /// Returns whether the name of a member is a secret itself.
    func isSecret(name: [UInt8]) -> Bool {
        if known.occur(in: name) { return true }
        let rest = RedactionMark.removing(from: name)
        return !SecretSearch.isPlain(rest[...])
            && SecretSearch.isSecret(memberName: String(decoding: rest, as: UTF8.self))
    }

    /// Returns bytes with marks in place of known values. Marks that the bytes have already are
    /// left alone, so nothing is replaced twice.
    func replacingKnown(
        _ bytes: [UInt8], at place: @autoclosure () -> String, in log: inout RedactionLog
    ) -> [UInt8] {
        let places = known.places(in: bytes)
        guard !places.isEmpty else { return bytes }
        var changed: [UInt8] = []
        var kept = 0
        for found in places {
            changed += bytes[kept..<found.range.lowerBound]
            changed += log.mark(found.secret, at: place()).utf8
            kept = found.range.upperBound
        }
        return changed + bytes[kept...]
    }

    // MARK: Names

    /// Fields of credentials and signatures, in lower case.
    private static let fields: Set<String> = [
        "authorization", "proxy-authorization", "cookie", "cookie2", "set-cookie", "set-cookie2",
        "signature", "signet-signature", "dpop", "authentication-info", "proxy-authentication-info",
        "x-amz-security-token", "x-amz-signature", "x-csrf-token", "x-xsrf-token",
        "x-forwarded-client-cert", "client-cert", "client-cert-chain", "x-api-key", "api-key",
        "apikey", "x-auth-key", "x-goog-iap-jwt-assertion", "x-ms-token-aad-access-token",
    ]
    /// Words in names of fields with a signature. `Signature-Input` has none.
    private static let signatureWords: Set<Substring> = ["hmac", "sig", "sign", "signed", "mac"]
    /// Names of members and parameters, in lower case.
    private static let members: Set<String> = [
        "x-amz-signature", "x-amz-security-token", "x-amz-credential", "x-goog-signature",
        "x-goog-credential", "sig", "sign", "signature", "hmac", "code_verifier", "assertion",
        "client_assertion", "samlresponse", "samlrequest", "device_code", "user_code",
        "g-recaptcha-response", "api_key", "apikey", "password", "passwd", "client_secret",
    ]
}
