import SignetBase
public import SignetCrypto
import SignetJSON

/// A signed pin policy with its serial number and validity.
///
/// The document is a JWS in the flattened JSON form (RFC 7515, section 7.2.2) with the members
/// `payload`, `protected` and `signature` and no others. The protected header has exactly `alg`
/// `EdDSA` (RFC 8037), `typ` `signet-pins` and `kid`, so a document can't choose an algorithm. The
/// payload is a JSON object:
///
///     {"serial":7,"notBefore":1795228551,"expires":1803004551,"app":"com.example.shop",
///      "policy":{"hosts":{…}}}
public struct SignedPinPolicy: Sendable, Hashable {
    /// The largest document that is read: 1 MiB.
    public static let maximumByteCount = 1 << 20
    /// The largest serial number, 2⁵³ − 1, which every JSON parser reads exactly.
    public static let maximumSerial: Int64 = (1 << 53) - 1
    /// The `typ` of the protected header.
    static let type = "signet-pins"

    /// The serial number, which is larger for every newer document; at least 1.
    public let serial: Int64
    /// The first second in which the document is accepted, in Unix seconds.
    public let notBefore: Int64
    /// The first second in which the document isn't accepted any more, in Unix seconds.
    public let expires: Int64
    /// The id of the only app that accepts the document; nil for programs that name no app.
    public let appID: String?
    /// The policy.
    public let policy: PinPolicy

    /// Creates the content of a signed policy.
    ///
    /// - Throws: `PinError` with code `malformed-update` if the serial number isn't in
    ///   1...`maximumSerial`, if `notBefore` is before 1970 or not before `expires`, if the app's
    ///   id is empty, or if the policy names a CA file.
    public init(
        serial: Int64, notBefore: Int64, expires: Int64, appID: String? = nil, policy: PinPolicy
    ) throws(PinError) {
        guard (1...Self.maximumSerial).contains(serial) else {
            throw Self.malformed("\"serial\": found \(serial), expected 1 to \(Self.maximumSerial)")
        }
        guard (0...Self.maximumSerial).contains(notBefore), notBefore < expires,
            expires <= Self.maximumSerial
        else {
            throw Self.malformed(
                "\"notBefore\" must be before \"expires\", both in Unix seconds from 0 on")
        }
        guard appID != "" else {
            throw Self.malformed("\"app\": found an empty text, expected the app's id")
        }
        if let rule = policy.rules.first(where: { $0.authorities != nil }) {
            throw Self.malformed(
                "the rule \(rule.pattern) names a CA file, which other machines may not have")
        }
        self.serial = serial
        self.notBefore = notBefore
        self.expires = expires
        self.appID = appID
        self.policy = policy
    }

    /// Signs the policy.
    ///
    /// - Parameters:
    ///   - key: A private Ed25519 key.
    ///   - now: Unix time in seconds, at which the key must be valid; nil means now.
    /// - Returns: The document, to be served unchanged.
    /// - Throws: `PinError` with code `wrong-key-use`, `key-revoked`, `key-expired`,
    ///   `key-not-yet-valid` or `crypto-failed`, or with code `malformed-update` if the document
    ///   exceeds 1 MiB.
    public func signed(by key: CryptoKey, now: Int64? = nil) throws(PinError) -> [UInt8] {
        let signer = try PinUpdateVerifier.ed25519(key)
        guard key.isPrivate else {
            throw PinError(
                .wrongKeyUse, "the key \(printable(key.id)) is a public key, which can't sign")
        }
        do {
            try key.requireUsable(at: now ?? UnixTime.now())
        } catch {
            throw PinError(error)
        }
        let header: JSONValue = [
            "alg": "EdDSA", "kid": .string(key.id), "typ": .string(Self.type),
        ]
        var payload: JSONObject = [
            "serial": .number(JSONNumber(serial)), "notBefore": .number(JSONNumber(notBefore)),
            "expires": .number(JSONNumber(expires)),
        ]
        if let appID { payload["app"] = .string(appID) }
        payload["policy"] = .object(policy.document)
        let protected = Base64.encode(header.serialized(), as: .url)
        let body = Base64.encode(JSONValue.object(payload).serialized(), as: .url)
        let message = Array("\(protected).\(body)".utf8)
        let signature: [UInt8]
        do {
            signature = try signer.sign(message.span, by: .ed25519)
        } catch {
            throw PinError(.cryptoFailed, error.description)
        }
        let document: JSONValue = [
            "payload": .string(body), "protected": .string(protected),
            "signature": .string(Base64.encode(signature, as: .url)),
        ]
        let bytes = document.serialized(.pretty) + [UInt8(ascii: "\n")]
        guard bytes.count <= Self.maximumByteCount else {
            throw Self.tooLarge(bytes)
        }
        return bytes
    }

    /// Reads a payload whose signature was verified.
    init(payload bytes: [UInt8]) throws(PinError) {
        let members = try Self.object(
            parsing: bytes, named: "the payload",
            members: ["serial", "notBefore", "expires", "policy"], optional: "app")
        guard let policy = members["policy"] else { throw Self.malformed("missing \"policy\"") }
        try self.init(
            serial: Self.number("serial", of: members),
            notBefore: Self.time("notBefore", of: members),
            expires: Self.time("expires", of: members), appID: Self.app(of: members),
            policy: PinPolicy(parsing: policy.serialized()))
    }

    /// Parses a JSON object with exactly these members, and perhaps one more.
    static func object(
        parsing bytes: [UInt8], named subject: String, members: [String], optional: String? = nil
    ) throws(PinError) -> JSONObject {
        let value: JSONValue
        do {
            value = try JSONValue(parsing: bytes, maximumDepth: 24)
        } catch {
            throw malformed("\(subject) isn't valid JSON")
        }
        let more = optional.flatMap { value[$0] } == nil ? 0 : 1
        guard let object = value.object,
            object.count == members.count + more, members.allSatisfy({ object[$0] != nil })
        else {
            throw malformed(
                "\(subject) must be an object with the members \(members.joined(separator: ", "))"
                    + (optional.map { ", perhaps \($0)," } ?? "") + " and no others")
        }
        return object
    }

    private static func app(of members: JSONObject) throws(PinError) -> String? {
        guard let app = members["app"] else { return nil }
        guard let id = app.string else { throw malformed("\"app\" must be a text, the app's id") }
        return id
    }

    private static func number(_ name: String, of members: JSONObject) throws(PinError) -> Int64 {
        guard let number = members[name]?.number?.int64 else {
            throw malformed("\"\(name)\" must be a whole number")
        }
        return number
    }

    private static func time(_ name: String, of members: JSONObject) throws(PinError) -> Int64 {
        let seconds = try number(name, of: members)
        guard (0...UnixTime.latest).contains(seconds) else {
            throw malformed(
                "\"\(name)\" is out of range: expected Unix seconds from 0 to \(UnixTime.latest)")
        }
        return seconds
    }

    static func malformed(_ message: String) -> PinError {
        PinError(.malformedUpdate, "invalid signed pin policy: \(message)")
    }

    static func tooLarge(_ document: [UInt8]) -> PinError {
        malformed("found \(document.count) bytes, expected at most \(maximumByteCount)")
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
            case .wrongKeyUse: .wrongKeyUse
            default: .cryptoFailed
            }
        self.init(code, error.message)
    }
}
