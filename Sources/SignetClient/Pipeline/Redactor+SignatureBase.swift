import HTTPTypes
import SignetBase
import SignetJSON
import SignetSigning
import SignetTransport
import SignetVault

extension Redactor {
    /// Writes a signature base down without the secrets of its request.
    ///
    /// - Parameters:
    ///   - result: The signature.
    ///   - request: The request that was signed, whose secrets may be anywhere in the base.
    ///   - signer: The signer.
    func base(
        of result: MessageSigner.Result, for request: FrozenRequest, by signer: RequestSigner
    ) -> SignatureBase {
        guard !keepsSecrets else {
            return SignatureBase(
                scheme: signer.scheme, keyID: signer.keyID,
                text: String(decoding: result.base, as: UTF8.self),
                parts: result.parts.map {
                    SignatureBase.Part(
                        name: $0.identifier, value: String(decoding: $0.value, as: UTF8.self))
                })
        }
        let body = shownBody(of: request)
        return Self.base(of: result, for: request, beside: body, by: signer)
    }

    /// - Parameter body: The body if it is shown whole.
    private static func base(
        of result: MessageSigner.Result, for request: FrozenRequest, beside body: [UInt8]?,
        by signer: RequestSigner
    ) -> SignatureBase {
        var secrets = secrets(of: request).filter { !isDigest($0, of: body) }
        var parts: [SignatureBase.Part] = []
        for part in result.parts {
            let value = String(decoding: part.value, as: UTF8.self)
            guard !isDigest(value, of: body) else { continue }
            if isSecretPart(part.identifier, value) { secrets.insert(value) }
            // Parameters that a scheme document joins.
            if value.utf8.contains(UInt8(ascii: "=")) {
                secrets.formUnion(self.secrets(inForm: value[...]))
            }
        }
        // The longest first, because one may be a part of another.
        let ordered = secrets.filter { !$0.isEmpty }.sorted { $0.utf8.count > $1.utf8.count }
        let short = ordered.filter { $0.utf8.count < shortLength }
        // Values that have a short secret, and so are secrets as a whole.
        var whole: [String] = []
        for part in result.parts {
            let value = String(decoding: part.value, as: UTF8.self)
            let isWhole = value.hasAny(of: short)
            if isWhole { whole.append(value) }
            parts.append(
                SignatureBase.Part(
                    name: part.identifier, value: isWhole ? mark : clean(value, of: ordered)))
        }
        let long = (ordered.filter { $0.utf8.count >= shortLength } + whole)
            .sorted { $0.utf8.count > $1.utf8.count }
        let text = clean(String(decoding: result.base, as: UTF8.self), of: long)
        return SignatureBase(
            scheme: signer.scheme, keyID: signer.keyID,
            text: lines(text, without: short, andDigests: body == nil || !secrets.isEmpty),
            parts: parts)
    }

    /// The bytes below which a mark in place of a secret would tell it: a digit between others, or
    /// a word that is in known places too.
    private static let shortLength = 8

    /// The text with a mark in place of each line that has one of the secrets, or is the digest of
    /// a request that isn't shown whole.
    private static func lines(
        _ text: String, without secrets: [String], andDigests hidesDigests: Bool
    ) -> String {
        guard hidesDigests else { return text }
        let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
        return lines.map { line in
            let rest = line.replacing(mark, with: "")
            let isDigest = line.utf8.count >= 64 && line.utf8.allSatisfy(\.isHexDigit)
            return isDigest || rest.hasAny(of: secrets) ? mark : String(line)
        }.joined(separator: "\n")
    }

    /// The text with a mark in place of each secret.
    private static func clean(_ text: String, of secrets: [String]) -> String {
        guard !secrets.isEmpty else { return text }
        var text = Array(text.utf8)
        for secret in secrets {
            let secret = Array(secret.utf8)
            var cleaned: [UInt8] = []
            var rest = text[...]
            while let found = rest.firstRange(of: secret) {
                cleaned += rest[..<found.lowerBound]
                cleaned += mark.utf8
                rest = rest[found.upperBound...]
            }
            if !cleaned.isEmpty { text = cleaned + rest }
        }
        return String(decoding: text, as: UTF8.self)
    }

    /// Whether a part of a base is a secret by its name or by its form.
    private static func isSecretPart(_ identifier: String, _ value: String) -> Bool {
        // `"authorization";bs` and `"@query-param";name="token"`.
        let pieces = identifier.split(separator: ";")
        let first = pieces.first.map { $0.trimming("\"") } ?? ""
        let named = pieces.dropFirst().first { $0.utf8.starts(with: "name=".utf8) }
            .map { $0.dropFirst(5).trimming("\"") }
        // The parameters are those of the signature, without the signature.
        guard first != "@signature-params" else { return false }
        let name = (named ?? first).lowercased()
        return secretFields.contains(name) || SecretSearch.looksSecret(.string(value), named: name)
    }

    /// The secrets of a request, in each form that its signature base can have.
    private static func secrets(of request: FrozenRequest) -> Set<String> {
        var secrets: Set<String> = []
        for field in request.head.headerFields where isSecret(field) {
            secrets.insert(field.value)
        }
        if let query = request.head.path?.split(separator: "?", maxSplits: 1).dropFirst().first {
            secrets.formUnion(self.secrets(inForm: query))
        }
        guard let bytes = request.body.bytes, bytes.count <= maximumBodySize else { return secrets }
        if let value = try? JSONValue(parsing: bytes) {
            var found: Set<String> = []
            collect(value, named: nil, to: &found)
            secrets.formUnion(found)
            // A scheme may sign the body itself, whose texts may be escaped.
            if !found.isEmpty { secrets.insert(String(decoding: bytes, as: UTF8.self)) }
        } else if let text = String(validating: bytes, as: UTF8.self) {
            // A body that is neither JSON nor a form isn't written down at all.
            let isForm = request.head.headerFields[.contentType]?.utf8.starts(with: formType.utf8)
            if isForm == true {
                secrets.formUnion(self.secrets(inForm: text[...]))
            } else {
                secrets.insert(text)
            }
        }
        return secrets
    }

    /// The secret values of a query or a form, as they are and decoded.
    private static func secrets(inForm text: Substring) -> Set<String> {
        var secrets: Set<String> = []
        for pair in text.split(separator: "&") {
            let equals = pair.utf8.firstIndex(of: UInt8(ascii: "="))
            let name = equals.map { plain(pair[..<$0]) }
            let value = equals.map { pair[$0...].dropFirst() } ?? pair
            guard SecretSearch.looksSecret(.string(plain(value)), named: name) else { continue }
            secrets.formUnion([String(value), plain(value)])
        }
        return secrets
    }

    /// Collects the texts and numbers of a body that are secrets.
    private static func collect(
        _ value: JSONValue, named name: String?, to secrets: inout Set<String>
    ) {
        switch value {
        case .object(let object):
            let isWhole = SecretSearch.isSecretWhole(object)
            for member in object {
                let path = name.map { "\($0).\(member.name)" } ?? member.name
                if isWhole {
                    leaves(of: member.value, to: &secrets)
                } else {
                    collect(member.value, named: path, to: &secrets)
                }
            }
        case .array(let elements):
            if !elements.contains(where: { $0.object != nil }),
                SecretSearch.looksSecret(value, named: name)
            {
                leaves(of: value, to: &secrets)
            } else {
                for element in elements { collect(element, named: name, to: &secrets) }
            }
        default:
            if SecretSearch.looksSecret(value, named: name) { leaves(of: value, to: &secrets) }
        }
    }

    private static func leaves(of value: JSONValue, to secrets: inout Set<String>) {
        switch value {
        case .string(let text): secrets.insert(text)
        case .number(let number): secrets.insert(number.text)
        case .object(let object):
            for member in object { leaves(of: member.value, to: &secrets) }
        case .array(let elements): for element in elements { leaves(of: element, to: &secrets) }
        case .null, .bool: break
        }
    }
}

extension StringProtocol {
    /// Whether the text has one of some texts, byte for byte.
    fileprivate func hasAny(of texts: [String]) -> Bool {
        guard !texts.isEmpty else { return false }
        let bytes = Array(utf8)
        return texts.contains { bytes.firstRange(of: Array($0.utf8)) != nil }
    }

    /// The text without a character at both ends.
    fileprivate func trimming(_ character: Character) -> String {
        var text = self[...]
        if text.first == character { text = text.dropFirst() }
        if text.last == character { text = text.dropLast() }
        return String(text)
    }
}

extension FrozenRequest {
    /// Returns the bytes that were signed, redacted; nil if nothing was.
    func base(
        of request: FrozenRequest, by signer: RequestSigner?, without redactor: Redactor
    ) -> SignatureBase? {
        guard let signer, let signature else { return nil }
        return redactor.base(of: signature, for: request, by: signer)
    }
}
