import SignetBase
import SignetJSON
import SignetSystem

/// A key set that is sealed for the public keys of several people: a JWE in general JSON
/// serialization (RFC 7516, section 7.2.1).
///
/// Encryption to a public key proves no author: everyone who can write the file can replace it.
package struct SharedKeySet {
    /// A recipient's part.
    private struct Recipient {
        let algorithm: String
        /// The thumbprint (RFC 7638) of the recipient's key.
        let id: String
        let key: KeyEncryption.Encrypted
    }

    /// The largest number of recipients.
    package static let maximumRecipientCount = 64
    private static let type = "signet-keys"

    private var recipients: [Recipient]
    private let content: JWEContent

    /// The thumbprints of the recipients' keys.
    package var thumbprints: [String] { recipients.map(\.id) }

    /// Returns whether bytes are rather a JWE in JSON than a JWK Set.
    static func isShared(_ bytes: [UInt8]) -> Bool {
        guard bytes.first(where: { !" \t\r\n".utf8.contains($0) }) == UInt8(ascii: "{"),
            let reader = try? JSONReader(bytes, maximumDepth: 64), reader.root.kind == .object
        else { return false }
        let names = reader.members(of: reader.root).map(\.name)
        return names.contains { name in
            ["ciphertext", "recipients", "protected", "encrypted_key"]
                .contains { reader.isString(name, equalTo: $0) }
        }
    }

    /// Reads a shared set and checks its whole form before any cryptography.
    ///
    /// - Throws: `KeyError` with `malformedKeys`.
    package init(parsing bytes: [UInt8]) throws(KeyError) {
        let document = try Self.object(
            Self.value(of: bytes, named: "the shared key set"), named: "the shared key set",
            members: ["protected", "recipients", "iv", "ciphertext", "tag"])
        let protected = Array((document["protected"]?.string ?? "").utf8)
        let header = try Self.checked { () throws(JWEContent.Malformed) in
            try JWEContent.header(decoding: protected.span)
        }
        let members = try Self.object(
            .object(header), named: "the protected header", members: ["enc", "typ"])
        guard members["enc"] == "A256GCM", members["typ"] == .string(Self.type) else {
            throw Self.malformed(
                "the protected header must have enc A256GCM and typ \(Self.type)")
        }
        guard let list = document["recipients"]?.array,
            (1...Self.maximumRecipientCount).contains(list.count)
        else {
            throw Self.malformed(
                "expected an array of 1 to \(Self.maximumRecipientCount) in \"recipients\"")
        }
        var recipients: [Recipient] = []
        for entry in list {
            let recipient = try Self.recipient(entry)
            guard !recipients.contains(where: { sameBytes($0.id, recipient.id) }) else {
                throw Self.malformed("two recipients have the kid \"\(printable(recipient.id))\"")
            }
            recipients.append(recipient)
        }
        self.recipients = recipients
        let nonce = try Self.bytes("iv", of: document)
        let ciphertext = try Self.bytes("ciphertext", of: document)
        let tag = try Self.bytes("tag", of: document)
        content = try Self.checked { () throws(JWEContent.Malformed) in
            try JWEContent(
                protected: protected, nonce: nonce, ciphertext: ciphertext, tag: tag)
        }
    }

    /// Seals the text of a key set.
    ///
    /// - Parameters:
    ///   - text: The plaintext, which the caller wipes.
    ///   - keys: The recipients' keys.
    /// - Throws: `KeyError` with `wrongKeyUse`, `keyExists` for a recipient that is named twice,
    ///   and `unwritable` for more than 64 recipients or none.
    static func sealing(_ text: [UInt8], for keys: [CryptoKey]) throws(KeyError) -> SharedKeySet {
        let content = try KeyEncryption.random(AESGCM.keyByteCount)
        var shared = try SharedKeySet(sealing: text, with: content.bytes)
        try shared.add(keys, content: content.bytes)
        return shared
    }

    private init(sealing text: [UInt8], with key: Span<UInt8>) throws(KeyError) {
        let header: JSONValue = ["enc": "A256GCM", "typ": .string(Self.type)]
        do throws(CryptoFailure) {
            self.content = try JWEContent(
                sealing: text, header: header.serialized(), key: key,
                nonce: RandomBytes.bytes(AESGCM.nonceByteCount))
        } catch {
            throw KeyError(error)
        }
        recipients = []
    }

    /// Returns the text of the key set, which the caller wipes.
    ///
    /// - Throws: `KeyError` with `notARecipient`, `wrongKeyUse`, `malformedKeys` or `tampered`.
    func open(with identity: CryptoKey) throws(KeyError) -> [UInt8] {
        let key = try contentKey(for: identity)
        do throws(CryptoFailure) {
            return try content.open(with: key.bytes)
        } catch {
            throw error.isAuthenticationFailure ? KeyEncryption.tampered : KeyError(error)
        }
    }

    /// Adds recipients. The sealed text stays the same.
    ///
    /// - Parameter identity: A recipient's private key.
    /// - Throws: as ``open(with:)``, and `keyExists` for a key that is a recipient already.
    package mutating func add(_ keys: [CryptoKey], by identity: CryptoKey) throws(KeyError) {
        // The set must open, so that no recipient is added to one that was changed.
        var text = try open(with: identity)
        wipe(&text)
        let content = try contentKey(for: identity)
        try add(keys, content: content.bytes)
    }

    /// Removes a recipient, who can still open every earlier version of the file. The sealed text
    /// stays the same.
    ///
    /// - Throws: `KeyError` with `unknownKey`, or with `unwritable` for the last recipient.
    package mutating func remove(_ thumbprint: String) throws(KeyError) {
        guard let index = recipients.firstIndex(where: { sameBytes($0.id, thumbprint) }) else {
            throw KeyError(
                .unknownKey,
                "no recipient has the thumbprint \"\(printable(thumbprint))\"; there are \(names); "
                    + "signet keys list FILE prints the thumbprint of a public key")
        }
        guard recipients.count > 1 else {
            throw KeyError(.unwritableKeys, "found one recipient, who is the last one")
        }
        recipients.remove(at: index)
    }

    /// The file: JSON with lines of its own for each recipient, so that a difference is small.
    package var bytes: [UInt8] {
        let recipients = recipients.map { recipient in
            var header: JSONObject = [
                "alg": .string(recipient.algorithm), "kid": .string(recipient.id),
            ]
            header["epk"] = recipient.key.ephemeral.map(JSONValue.object)
            return JSONValue.object([
                "header": .object(header),
                "encrypted_key": .string(Base64.encode(recipient.key.bytes, as: .url)),
            ])
        }
        let document: JSONValue = [
            "protected": .string(String(decoding: content.protected, as: UTF8.self)),
            "recipients": .array(recipients),
            "iv": .string(Base64.encode(content.nonce, as: .url)),
            "ciphertext": .string(Base64.encode(content.ciphertext, as: .url)),
            "tag": .string(Base64.encode(content.tag, as: .url)),
        ]
        return document.serialized(.pretty) + [UInt8(ascii: "\n")]
    }

    private mutating func add(_ keys: [CryptoKey], content: Span<UInt8>) throws(KeyError) {
        guard (1...Self.maximumRecipientCount).contains(recipients.count + keys.count) else {
            throw KeyError(
                .unwritableKeys,
                "found \(recipients.count + keys.count) recipients, expected 1 to "
                    + "\(Self.maximumRecipientCount)")
        }
        for key in keys {
            guard let algorithm = key.kind.encryptionAlgorithm, let id = key.thumbprint else {
                _ = try key.encryptionKey()
                throw KeyError(.wrongKeyUse, "found a key without a thumbprint")
            }
            guard !thumbprints.contains(where: { sameBytes($0, id) }) else {
                throw KeyError(.keyExists, "the key \(id) is a recipient already")
            }
            recipients.append(
                Recipient(
                    algorithm: algorithm, id: id, key: try KeyEncryption.encrypt(content, for: key))
            )
        }
    }

    private func contentKey(for identity: CryptoKey) throws(KeyError) -> SecretBytes {
        _ = try identity.encryptionKey()
        guard identity.isPrivate, let id = identity.thumbprint else {
            throw KeyError(
                .wrongKeyUse, "the identity is a public key, expected a private one")
        }
        guard let recipient = recipients.first(where: { sameBytes($0.id, id) }) else {
            throw KeyError(
                .notARecipient,
                "the identity \(id) is not a recipient; there are \(names). A person with one of "
                    + "these can add its public half (signet keys share --add)")
        }
        guard recipient.algorithm == identity.kind.encryptionAlgorithm else {
            throw Self.malformed(
                "found \(recipient.algorithm) for a recipient whose key is of type "
                    + "\(identity.kind)")
        }
        return try KeyEncryption.decrypt(recipient.key, by: identity)
    }

    private var names: String { printable(thumbprints.joined(separator: ", ")) }
}

extension SharedKeySet {
    private static func recipient(_ entry: JSONValue) throws(KeyError) -> Recipient {
        let name = "a recipient"
        let members = try object(entry, named: name, members: ["header", "encrypted_key"])
        guard let header = members["header"]?.object, let alg = header["alg"]?.string,
            let id = header["kid"]?.string, !id.isEmpty
        else { throw malformed("a recipient's header must have alg and kid") }
        let isAgreement = alg == "ECDH-ES+A256KW"
        guard isAgreement || alg == "RSA-OAEP-256" else {
            throw malformed("found alg \(printable(alg)), expected ECDH-ES+A256KW or RSA-OAEP-256")
        }
        _ = try object(
            .object(header), named: "a recipient's header",
            members: ["alg", "kid"] + (isAgreement ? ["epk"] : []))
        let ephemeral = header["epk"]?.object
        guard isAgreement == (ephemeral != nil) else {
            throw malformed("\"epk\" isn't a JWK")
        }
        let bytes = try bytes("encrypted_key", of: members)
        return Recipient(
            algorithm: alg, id: id, key: KeyEncryption.Encrypted(bytes: bytes, ephemeral: ephemeral)
        )
    }

    private static func value(
        of bytes: [UInt8], named name: String
    ) throws(KeyError) -> JSONValue {
        guard bytes.count <= KeySet.maximumByteCount else {
            throw malformed("found \(bytes.count) bytes, expected at most 1 MiB")
        }
        do throws(JSONError) {
            return try JSONValue(parsing: bytes, maximumDepth: 16)
        } catch {
            throw malformed("\(name) is not strict JSON: \(error.code.name)")
        }
    }

    /// Returns an object that has exactly these members.
    private static func object(
        _ value: JSONValue, named name: String, members: [String]
    ) throws(KeyError) -> JSONObject {
        guard let object = value.object else { throw malformed("\(name) isn't an object") }
        let found = object.memberNames
        guard Set(found) == Set(members), found.count == members.count else {
            throw malformed(
                "\(name) has the members \(printable(found.joined(separator: ", "))), expected "
                    + members.joined(separator: ", "))
        }
        return object
    }

    private static func bytes(
        _ name: String, of object: JSONObject
    ) throws(KeyError) -> [UInt8] {
        guard let text = object[name]?.string, !text.isEmpty else {
            throw malformed("\"\(name)\" is not a text with base64url")
        }
        return try checked { () throws(JWEContent.Malformed) in
            try JWEContent.decode(Array(text.utf8).span, named: "\"\(name)\"")
        }
    }

    private static func checked<Result>(
        _ read: () throws(JWEContent.Malformed) -> Result
    ) throws(KeyError) -> Result {
        do throws(JWEContent.Malformed) {
            return try read()
        } catch {
            throw malformed(error.problem)
        }
    }

    private static func malformed(_ message: String) -> KeyError {
        KeyParts.malformed("not a shared key set: \(message)")
    }
}
