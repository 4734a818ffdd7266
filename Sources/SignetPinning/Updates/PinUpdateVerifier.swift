import SignetBase
public import SignetCrypto
import SignetJSON

/// A signed policy whose signature and validity were verified. Only `PinUpdateVerifier` creates it.
public struct VerifiedPinPolicy: Sendable, Hashable {
    /// The signed content.
    public let signed: SignedPinPolicy
    /// The `kid` of the signing key.
    public let keyID: String
    /// The SHA-256 digest of the payload, 32 bytes. It distinguishes documents with the same serial
    /// number.
    public let digest: [UInt8]

    /// The policy.
    public var policy: PinPolicy { signed.policy }
    /// The serial number.
    public var serial: Int64 { signed.serial }

    fileprivate init(_ signed: SignedPinPolicy, keyID: String, digest: [UInt8]) {
        self.signed = signed
        self.keyID = keyID
        self.digest = digest
    }
}

/// Verifies signed pin policies with public keys that are built into the program.
public struct PinUpdateVerifier: Sendable {
    private let keys: KeySet
    private let appID: String?

    /// Creates a verifier, usually with the current key and the next one.
    ///
    /// - Parameters:
    ///   - keys: Ed25519 keys, of which only the public halves are used.
    ///   - appID: The program's id. It then accepts only documents that name it. A program without
    ///     an id accepts only documents that name no app.
    /// - Throws: `PinError` with code `wrong-key-use` if there is no key or one of another kind.
    public init(keys: KeySet, appID: String? = nil) throws(PinError) {
        guard !keys.keys.isEmpty else {
            throw PinError(.wrongKeyUse, "\(printable(keys.source)) has no key")
        }
        for key in keys.keys { _ = try Self.ed25519(key) }
        self.keys = keys
        self.appID = appID
    }

    static func ed25519(_ key: CryptoKey) throws(PinError) -> SignatureKey {
        do throws(KeyError) {
            let (signer, algorithm) = try key.signatureKey()
            if algorithm == .ed25519 { return signer }
        } catch {
            throw PinError(error)
        }
        throw PinError(
            .wrongKeyUse,
            "the key \(printable(key.id)) is of kind \(key.kind); pin policies are signed with"
                + " Ed25519 alone")
    }

    /// Verifies a document's form, key, signature, app and validity.
    ///
    /// It can't tell whether a newer policy is in use; `PinUpdateStore` refuses older ones.
    ///
    /// - Parameters:
    ///   - bytes: The document as it was served.
    ///   - now: Unix time in seconds; nil means now.
    /// - Throws: `PinError` with code `malformed-update`, `unknown-key`, `key-revoked`,
    ///   `key-expired`, `key-not-yet-valid`, `tampered`, `wrong-app`, `update-expired` or
    ///   `update-not-yet-valid`, or with code `malformed-policy` if the signed policy is invalid.
    public func verify(_ bytes: [UInt8], now: Int64? = nil) throws(PinError) -> VerifiedPinPolicy {
        let now = now ?? UnixTime.now()
        let verified = try verifySignature(bytes, now: now)
        let signed = verified.signed
        guard signed.appID.map({ Array($0.utf8) }) == appID.map({ Array($0.utf8) }) else {
            throw PinError(
                .wrongApp,
                "the signed pin policy \(signed.serial) is for"
                    + " \(signed.appID.map { "the app \"\($0)\"" } ?? "programs without an app id"),"
                    + " expected one for"
                    + " \(appID.map { "the app \"\($0)\"" } ?? "programs without an app id")")
        }
        if now < signed.notBefore {
            throw PinError(
                .updateNotYetValid,
                "the signed pin policy \(signed.serial) is valid from"
                    + " \(UnixTime.rfc3339(signed.notBefore)), and now is \(UnixTime.rfc3339(now))")
        }
        if now >= signed.expires {
            throw PinError(
                .updateExpired,
                "the signed pin policy \(signed.serial) expired at"
                    + " \(UnixTime.rfc3339(signed.expires)), and now is \(UnixTime.rfc3339(now))")
        }
        return verified
    }

    /// Verifies everything but the document's validity; nil for `now` skips the key's validity too.
    func verifySignature(_ bytes: [UInt8], now: Int64?) throws(PinError) -> VerifiedPinPolicy {
        let parts = try Parts(bytes)
        let key: CryptoKey
        do throws(KeyError) {
            key = try keys.key(id: parts.keyID)
            if let now { try key.requireUsable(at: now) }
        } catch {
            throw PinError(error)
        }
        let signer = try Self.ed25519(key)
        let digest: [UInt8]
        let holds: Bool
        do {
            holds = try signer.verifies(parts.signature.span, of: parts.message.span, by: .ed25519)
            digest = try Digest.of(parts.payload.span)
        } catch {
            throw PinError(.cryptoFailed, error.description)
        }
        guard holds else {
            throw PinError(
                .tampered,
                "the signature of the pin policy doesn't verify with the key"
                    + " \(printable(key.id)): it was changed, or signed with another key")
        }
        return VerifiedPinPolicy(
            try SignedPinPolicy(payload: parts.payload), keyID: key.id, digest: digest)
    }

    /// Returns the serial number of a document without verifying its signature.
    static func claimedSerial(_ bytes: [UInt8]) throws(PinError) -> Int64 {
        try SignedPinPolicy(payload: Parts(bytes).payload).serial
    }

    /// The parts of a document, not verified yet.
    private struct Parts {
        let keyID: String
        let payload: [UInt8]
        let signature: [UInt8]
        /// The signing input (RFC 7515, section 5.1).
        let message: [UInt8]

        init(_ bytes: [UInt8]) throws(PinError) {
            guard bytes.count <= SignedPinPolicy.maximumByteCount else {
                throw SignedPinPolicy.tooLarge(bytes)
            }
            let members = try SignedPinPolicy.object(
                parsing: bytes, named: "the document",
                members: ["payload", "protected", "signature"])
            guard let payload = members["payload"]?.string,
                let protected = members["protected"]?.string,
                let signature = members["signature"]?.string.flatMap({
                    Base64.decode($0, from: .url)
                }),
                let header = Base64.decode(protected, from: .url),
                let body = Base64.decode(payload, from: .url)
            else {
                throw SignedPinPolicy.malformed(
                    "its members must be strings of canonical base64url")
            }
            let names = try SignedPinPolicy.object(
                parsing: header, named: "the protected header", members: ["alg", "kid", "typ"])
            // Both names of Ed25519 (RFC 9864, section 3.1).
            guard names["alg"] == "EdDSA" || names["alg"] == "Ed25519",
                names["typ"] == .string(SignedPinPolicy.type),
                let id = names["kid"]?.string
            else {
                throw SignedPinPolicy.malformed(
                    "the protected header must have alg EdDSA or Ed25519, typ \(SignedPinPolicy.type) and kid"
                )
            }
            keyID = id
            self.payload = body
            self.signature = signature
            message = Array("\(protected).\(payload)".utf8)
        }
    }
}
