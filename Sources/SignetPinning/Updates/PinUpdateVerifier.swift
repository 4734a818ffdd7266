public import SignetCrypto
internal import SignetJSON

/// A signed policy whose signature and time hold; only `PinUpdateVerifier` makes one.
public struct VerifiedPinPolicy: Sendable, Hashable {
    /// What was signed.
    public let signed: SignedPinPolicy
    /// `kid` of the key that signed it.
    public let keyID: String
    /// SHA-256 of the payload, 32 bytes: two documents of one serial number are told apart by it.
    public let digest: [UInt8]

    /// The policy.
    public var policy: PinPolicy { signed.policy }
    /// Its number.
    public var serial: Int64 { signed.serial }

    fileprivate init(_ signed: SignedPinPolicy, keyID: String, digest: [UInt8]) {
        self.signed = signed
        self.keyID = keyID
        self.digest = digest
    }
}

/// Judges signed pin policies by the public keys that a program carries in itself.
public struct PinUpdateVerifier: Sendable {
    private let keys: KeySet

    /// Takes the keys, one now and perhaps the next one.
    ///
    /// - Parameter keys: Ed25519 keys; their public halves are used.
    /// - Throws: `PinError` with code `wrong-key-use` for a key of another kind, and for no key.
    public init(keys: KeySet) throws(PinError) {
        guard !keys.keys.isEmpty else {
            throw PinError(code: .wrongKeyUse, message: "\(printable(keys.source)) holds no key")
        }
        for key in keys.keys { _ = try Self.ed25519(key) }
        self.keys = keys
    }

    static func ed25519(_ key: Key) throws(PinError) -> SignatureKey {
        do throws(KeyError) {
            let (signer, algorithm) = try key.signatureKey()
            if algorithm == .ed25519 { return signer }
        } catch {
            throw PinError(error)
        }
        throw PinError(
            code: .wrongKeyUse,
            message:
                "the key \(printable(key.id)) is of kind \(key.kind); pin policies are signed with"
                + " Ed25519 alone")
    }

    /// Checks a document: form, key, signature and time.
    ///
    /// What is older than a policy in use is not known here; `PinUpdateStore` refuses that.
    ///
    /// - Parameters:
    ///   - bytes: The document, as it was served.
    ///   - now: Unix time in seconds.
    /// - Throws: `PinError`: `malformed-update`, `unknown-key`, `key-revoked`, `key-expired`,
    ///   `key-not-yet-valid`, `tampered`, `update-expired`, `update-not-yet-valid`, and
    ///   `malformed-policy` for a signed policy that is none.
    public func verify(_ bytes: [UInt8], now: Int64) throws(PinError) -> VerifiedPinPolicy {
        let verified = try verifySignature(bytes, now: now)
        let signed = verified.signed
        if now < signed.notBefore {
            throw PinError(
                code: .updateNotYetValid,
                message: "the signed pin policy \(signed.serial) is valid from"
                    + " \(UnixTime.rfc3339(signed.notBefore)), now it is \(UnixTime.rfc3339(now))")
        }
        if now >= signed.expires {
            throw PinError(
                code: .updateExpired,
                message: "the signed pin policy \(signed.serial) expired at"
                    + " \(UnixTime.rfc3339(signed.expires)), now it is \(UnixTime.rfc3339(now))")
        }
        return verified
    }

    /// Checks all but the document's own time.
    func verifySignature(_ bytes: [UInt8], now: Int64?) throws(PinError) -> VerifiedPinPolicy {
        let parts = try Parts(bytes)
        let key = try key(parts.keyID, now: now)
        let signer = try Self.ed25519(key)
        let digest: [UInt8]
        let holds: Bool
        do {
            holds = try signer.verifies(
                parts.signature.span, of: parts.message.span, by: .ed25519)
            digest = try Digest.of(parts.payload.span)
        } catch {
            throw PinError(code: .cryptography, message: error.description)
        }
        guard holds else {
            throw PinError(
                code: .tampered,
                message: "the signature of the pin policy does not hold under the key"
                    + " \(printable(key.id)): it was altered, or signed with another key")
        }
        return VerifiedPinPolicy(
            try SignedPinPolicy(payload: parts.payload), keyID: key.id, digest: digest)
    }

    /// The serial number that a document of an unknown key claims.
    static func claimedSerial(_ bytes: [UInt8]) throws(PinError) -> Int64 {
        try SignedPinPolicy(payload: Parts(bytes).payload).serial
    }

    private func key(_ id: String, now: Int64?) throws(PinError) -> Key {
        do throws(KeyError) {
            let key = try keys.key(id: id)
            if let now { try key.requireUsable(at: now) }
            return key
        } catch {
            throw PinError(error)
        }
    }

    /// A document taken apart; nothing of it is believed yet.
    private struct Parts {
        let keyID: String
        let payload: [UInt8]
        let signature: [UInt8]
        /// What is signed (RFC 7515, section 5.1).
        let message: [UInt8]

        init(_ bytes: [UInt8]) throws(PinError) {
            guard bytes.count <= SignedPinPolicy.maximumByteCount else {
                throw SignedPinPolicy.malformed(
                    "\(bytes.count) bytes, at most \(SignedPinPolicy.maximumByteCount) are taken")
            }
            let members = try SignedPinPolicy.object(
                bytes, "the document", ["payload", "protected", "signature"])
            guard let payload = members["payload"]?.string,
                let protected = members["protected"]?.string,
                let signature = members["signature"]?.string.flatMap({ Base64.decode($0, .url) }),
                let header = Base64.decode(protected, .url), let body = Base64.decode(payload, .url)
            else {
                throw SignedPinPolicy.malformed("its members are base64url, in the one spelling")
            }
            let names = try SignedPinPolicy.object(
                header, "the protected header", ["alg", "kid", "typ"])
            func isText(_ name: String, _ wanted: String) -> Bool {
                names[name]?.string?.utf8.elementsEqual(wanted.utf8) ?? false
            }
            guard isText("alg", "EdDSA"), isText("typ", SignedPinPolicy.type),
                let id = names["kid"]?.string
            else {
                throw SignedPinPolicy.malformed(
                    "the protected header says alg EdDSA, typ \(SignedPinPolicy.type) and a kid")
            }
            keyID = id
            self.payload = body
            self.signature = signature
            message = Array("\(protected).\(payload)".utf8)
        }
    }
}
