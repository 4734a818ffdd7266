internal import SignetBase
public import SignetCrypto
internal import SignetJSON

/// A pin policy that somebody signed, with its number and its time.
///
/// On disk and wire it is a JWS in the flattened JSON form (RFC 7515, section 7.2.2): `payload`,
/// `protected` and `signature`, no other member. The protected header has `alg` `EdDSA` (RFC 8037), `typ`
/// `signet-pins` and `kid`, no other member and no other value, so a message chooses nothing. The payload
/// is a JSON object:
///
///     {"serial":7,"notBefore":1795228551,"expires":1803004551,"policy":{"hosts":{…}}}
public struct SignedPinPolicy: Sendable, Hashable {
    /// The largest document that is read: 1 MiB.
    public static let maximumByteCount = 1 << 20
    /// The largest serial number, 2⁵³ − 1, which every JSON reader keeps whole.
    public static let maximumSerial: Int64 = (1 << 53) - 1
    /// `typ` of the protected header.
    static let type = "signet-pins"

    /// Counts up with every document; at least 1.
    public let serial: Int64
    /// The first second in which it is taken, in Unix seconds.
    public let notBefore: Int64
    /// The second from which on it is taken no more, in Unix seconds.
    public let expires: Int64
    /// The policy.
    public let policy: PinPolicy

    /// Takes what is to be signed.
    ///
    /// - Throws: `PinError` with code `malformed-update` for a serial outside 1...`maximumSerial`, and for
    ///   a time that ends before it begins or lies before 1970, and for a policy that names a CA file.
    public init(
        serial: Int64, notBefore: Int64, expires: Int64, policy: PinPolicy
    ) throws(PinError) {
        guard (1...Self.maximumSerial).contains(serial) else {
            throw Self.malformed("\"serial\" is a whole number from 1 to \(Self.maximumSerial)")
        }
        guard (0...Self.maximumSerial).contains(notBefore), notBefore < expires,
            expires <= Self.maximumSerial
        else {
            throw Self.malformed("\"notBefore\" comes before \"expires\", both in Unix seconds")
        }
        if let rule = policy.rules.first(where: { $0.authorities != nil }) {
            throw Self.malformed(
                "the rule \(rule.pattern) names a CA file, which other machines may not have")
        }
        self.serial = serial
        self.notBefore = notBefore
        self.expires = expires
        self.policy = policy
    }

    /// Signs it.
    ///
    /// - Parameters:
    ///   - key: A private Ed25519 key.
    ///   - now: Unix time in seconds, at which the key must be usable.
    /// - Returns: The document, to be served as it stands.
    /// - Throws: `PinError`: `wrong-key-use`, `key-revoked`, `key-expired`, `key-not-yet-valid`,
    ///   `crypto-failure`, and `malformed-update` for a policy that makes more than 1 MiB.
    public func signed(by key: Key, now: Int64) throws(PinError) -> [UInt8] {
        let signer = try PinUpdateVerifier.ed25519(key)
        guard key.isPrivate else {
            throw PinError(
                code: .wrongKeyUse,
                message: "the key \(printable(key.id)) is a public one, which cannot sign")
        }
        do {
            try key.requireUsable(at: now)
        } catch {
            throw PinError(error)
        }
        let header: JSONValue = [
            "alg": "EdDSA", "kid": .string(key.id), "typ": .string(Self.type),
        ]
        let payload: JSONValue = [
            "serial": .number(JSONNumber(serial)), "notBefore": .number(JSONNumber(notBefore)),
            "expires": .number(JSONNumber(expires)), "policy": .object(policy.document),
        ]
        let protected = Base64.encode(header.serialized(), .url)
        let body = Base64.encode(payload.serialized(), .url)
        let message = Array("\(protected).\(body)".utf8)
        let signature: [UInt8]
        do {
            signature = try signer.sign(message.span, by: .ed25519)
        } catch {
            throw PinError(code: .cryptography, message: error.description)
        }
        let document: JSONValue = [
            "payload": .string(body), "protected": .string(protected),
            "signature": .string(Base64.encode(signature, .url)),
        ]
        let bytes = document.serialized(.pretty) + [UInt8(ascii: "\n")]
        guard bytes.count <= Self.maximumByteCount else {
            throw Self.malformed("\(bytes.count) bytes, at most \(Self.maximumByteCount) are taken")
        }
        return bytes
    }

    /// Reads a payload that a signature holds for.
    init(payload bytes: [UInt8]) throws(PinError) {
        let members = try Self.object(
            bytes, "the payload", ["serial", "notBefore", "expires", "policy"])
        guard let policy = members["policy"] else { throw Self.malformed("no \"policy\"") }
        try self.init(
            serial: Self.number(members, "serial"), notBefore: Self.time(members, "notBefore"),
            expires: Self.time(members, "expires"),
            policy: PinPolicy(parsing: policy.serialized()))
    }

    /// An object with exactly these members.
    static func object(_ bytes: [UInt8], _ what: String, _ members: [String])
        throws(PinError) -> JSONObject
    {
        let value: JSONValue
        do {
            value = try JSONValue(parsing: bytes, maximumDepth: 24)
        } catch {
            throw malformed("\(what) is no strict JSON")
        }
        guard let object = value.object,
            object.count == members.count, members.allSatisfy({ object[$0] != nil })
        else {
            throw malformed(
                "\(what) is an object with the members \(members.joined(separator: ", ")), and no"
                    + " other")
        }
        return object
    }

    private static func number(_ members: JSONObject, _ name: String) throws(PinError) -> Int64 {
        guard let number = members[name]?.number?.int64 else {
            throw malformed("\"\(name)\" is a whole number")
        }
        return number
    }

    private static func time(_ members: JSONObject, _ name: String) throws(PinError) -> Int64 {
        let seconds = try number(members, name)
        guard (0...UnixTime.latest).contains(seconds) else {
            throw malformed(
                "\"\(name)\" is out of range: expected Unix seconds from 0 to \(UnixTime.latest)")
        }
        return seconds
    }

    static func malformed(_ what: String) -> PinError {
        PinError(code: .malformedUpdate, message: "no signed pin policy that is taken: \(what)")
    }
}

extension PinError {
    init(_ error: KeyError) {
        let code: Code =
            switch error.code {
            case .unknownKey: .unknownKey
            case .keyRevoked: .keyRevoked
            case .keyExpired: .keyExpired
            case .keyNotYetValid: .keyNotYetValid
            case .wrongUse: .wrongKeyUse
            default: .cryptography
            }
        self.init(code: code, message: error.message)
    }
}
