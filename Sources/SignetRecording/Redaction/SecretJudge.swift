import SignetBase
import SignetJSON
import SignetVault

/// Judges single values, and replaces those that are secret.
struct SecretJudge: Sendable {
    private let fields: Set<String>
    private let members: Set<String>
    let known: KnownSecrets
    private let clean = CleanTexts()

    init(_ rules: RedactionRules) {
        fields = Set(rules.fields.map { $0.lowercased() }).union(Self.fields)
        members = Set(rules.members.map { $0.lowercased() }).union(Self.members)
        known = KnownSecrets(rules.secrets)
    }

    /// Whether the name of a field says that its value is a secret or a signature.
    func isSecret(field name: String) -> Bool {
        let name = name.lowercased()
        if fields.contains(name) { return true }
        let words = name.split(separator: "-")
        return words.contains { Self.signatureWords.contains($0) }
            || words.last == "signature" || words.contains("signature") && words.last != "input"
    }

    /// Whether the name of a member or a parameter says so.
    func isSecret(member name: [UInt8]) -> Bool {
        let last = name.suffix(while: { $0 != ASCII.dot })
        return members.contains(String(decoding: last.map(\.lowercased), as: UTF8.self))
    }

    /// Returns a value without its secrets, or nil if it has none.
    ///
    /// - Parameters:
    ///   - bytes: The value, decoded.
    ///   - name: The names on the way to the value, joined by dots; empty for none.
    func redacted(
        _ bytes: [UInt8], named name: [UInt8], at place: @autoclosure () -> String,
        in log: inout RedactionLog
    ) -> [UInt8]? {
        guard !bytes.isEmpty, RedactionMark.number(of: bytes) == nil else {
            log.noteMarks(in: bytes, at: place())
            return nil
        }
        if isSecret(member: name) { return Array(log.mark(bytes, at: place()).utf8) }
        let key = Self.key(.value, named: name, bytes)
        if clean.contains(key) { return nil }
        // Not searched again: a known value may occur in the text of a mark.
        let changed = replacingKnown(bytes, at: place(), in: &log)
        let text = String(decoding: changed ?? bytes, as: UTF8.self)
        let names = name.isEmpty ? nil : String(decoding: name, as: UTF8.self)
        guard SecretSearch.looksSecret(.string(text), named: names) else {
            if changed == nil { clean.insert(key) }
            return changed
        }
        return Array(log.mark(bytes, at: place()).utf8)
    }

    /// The kinds of judgements, each of which holds for its own kind alone.
    private enum Kind: UInt8 {
        case value, number, list, name, text
    }

    /// The key of a judgement: no two of them have the same bytes.
    private static func key(_ kind: Kind, named name: [UInt8] = [], _ bytes: [UInt8]) -> [UInt8] {
        [kind.rawValue] + "\(name.count):".utf8 + name + bytes
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
    func isSecret(list: JSONValue, of range: Range<Int>, named name: [UInt8]) -> Bool {
        let key = Self.key(.list, named: name, range.count <= 256 ? list.serialized() : [])
        if range.count <= 256, clean.contains(key) { return false }
        let names = name.isEmpty ? nil : String(decoding: name, as: UTF8.self)
        guard !SecretSearch.looksSecret(list, named: names) else { return true }
        if range.count <= 256 { clean.insert(key) }
        return false
    }

    /// Whether an object with these members may be a secret as a whole: it has the type of a key,
    /// or a name and a value.
    func mayBeSecretWhole(names: [[UInt8]]) -> Bool {
        names.contains { $0.elementsEqual("kty".utf8) }
            || names.contains { SecretSearch.isValueMember($0) }
    }

    /// Whether an object's members are a secret together.
    func isSecretWhole(_ value: JSONValue) -> Bool {
        value.object.map { SecretSearch.isSecretWhole($0) } ?? false
    }

    /// Returns whether the name of a member is a secret itself.
    func isSecret(name: [UInt8]) -> Bool {
        let key = Self.key(.name, name)
        if clean.contains(key) { return false }
        guard !known.occur(in: name),
            !SecretSearch.isSecret(memberName: String(decoding: name, as: UTF8.self))
        else { return true }
        clean.insert(key)
        return false
    }

    /// Returns whether a text looks like a secret by its form, as the URL of a webhook does.
    func looksSecret(text: [UInt8]) -> Bool {
        let key = Self.key(.text, text)
        if clean.contains(key) { return false }
        guard !SecretSearch.looksSecret(.string(String(decoding: text, as: UTF8.self)), named: nil)
        else { return true }
        clean.insert(key)
        return false
    }

    /// Returns bytes with marks in place of known values, or nil if there are none.
    func replacingKnown(
        _ bytes: [UInt8], at place: @autoclosure () -> String, in log: inout RedactionLog
    ) -> [UInt8]? {
        let places = known.places(in: bytes)
        guard !places.isEmpty else { return nil }
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

extension ArraySlice<UInt8> {
    func suffix(while isKept: (UInt8) -> Bool) -> ArraySlice<UInt8> {
        guard let last = lastIndex(where: { !isKept($0) }) else { return self }
        return self[(last + 1)...]
    }
}

extension [UInt8] {
    func suffix(while isKept: (UInt8) -> Bool) -> ArraySlice<UInt8> {
        self[...].suffix(while: isKept)
    }
}
