import SignetBase
public import SignetCrypto
import SignetJSON
import SignetTransport

/// Verifies signed lists of addresses, with public keys that the program contains.
///
/// A list is a JWS in the flattened JSON form (RFC 7515, section 7.2.2) with the members `payload`,
/// `protected` and `signature` and no others. The protected header has exactly `alg` `EdDSA` or
/// `Ed25519`, `typ` `signet-addresses` and `kid`. The payload is a JSON object:
///
///     {"service":"orders","host":"api.example.com","issued":1802918151,"expires":1803004551,
///      "addresses":["192.0.2.1","[2001:db8::1]:8443"]}
///
/// `host` is the host of the service's URL, with its port if that isn't 443. A list that was issued
/// before the one in use is refused with `rolled-back`.
public struct AddressListVerifier: Sendable {
    private static let type = "signet-addresses"
    /// The largest list that is read.
    static let maximumByteCount = 64 << 10

    private let keys: KeySet

    /// Creates a verifier, usually with the current key and the next one.
    ///
    /// - Parameter keys: Ed25519 keys, of which only the public halves are used.
    /// - Throws: `ClientError` with code `invalid-plan` if there is no key or one of another kind.
    public init(keys: KeySet) throws(ClientError) {
        guard !keys.keys.isEmpty else {
            throw ClientError(.invalidPlan, "\(printable(keys.source)) has no key")
        }
        for key in keys.keys { _ = try Self.ed25519(key) }
        self.keys = keys
    }

    private static func ed25519(_ key: CryptoKey) throws(ClientError) -> SignatureKey {
        if let (signer, algorithm) = try? key.signatureKey(), algorithm == .ed25519 {
            return signer
        }
        throw ClientError(
            .invalidPlan,
            "the key \(printable(key.id)) is of kind \(key.kind); lists of addresses are signed with"
                + " Ed25519 alone")
    }

    /// Signs a list.
    ///
    /// - Parameters:
    ///   - addresses: The addresses.
    ///   - service: The service that they are for.
    ///   - host: The host of the service's URL, with its port if that isn't 443.
    ///   - issued: The time in Unix seconds at which the list is made.
    ///   - expires: The first second in Unix seconds in which the list isn't used any longer.
    ///   - key: A private Ed25519 key.
    /// - Returns: The document, to be served unchanged.
    /// - Throws: `ClientError` with code `invalid-plan` if the key can't sign.
    public static func list(
        _ addresses: [ServiceAddress], for service: ServiceName, at host: Authority, issued: Int64,
        expires: Int64, signedBy key: CryptoKey
    ) throws(ClientError) -> [UInt8] {
        let signer = try ed25519(key)
        let header: JSONObject = [
            "alg": "EdDSA", "kid": .string(key.id), "typ": .string(type),
        ]
        let payload: JSONObject = [
            "service": .string(service.name),
            "host": .string(WebOrigin(https: host).authority),
            "issued": .number(JSONNumber(issued)), "expires": .number(JSONNumber(expires)),
            "addresses": .array(addresses.map { .string($0.description) }),
        ]
        let protected = Base64.encode(JSONValue.object(header).serialized(), as: .url)
        let body = Base64.encode(JSONValue.object(payload).serialized(), as: .url)
        do {
            let message = Array("\(protected).\(body)".utf8)
            let signature = try signer.sign(message.span, by: .ed25519)
            let document: JSONObject = [
                "payload": .string(body), "protected": .string(protected),
                "signature": .string(Base64.encode(signature, as: .url)),
            ]
            return JSONValue.object(document).serialized()
        } catch {
            throw ClientError(.invalidPlan, "the key \(printable(key.id)) can't sign")
        }
    }

    /// Returns the payload of a document whose signature and validity hold.
    ///
    /// - Parameters:
    ///   - bytes: The document as it was served.
    ///   - service: The service that the list must be for.
    ///   - now: Unix time in seconds.
    /// - Throws: `ClientError` with code `malformed-response` that says which part doesn't hold.
    func payload(
        of bytes: [UInt8], for service: ServiceName, now: Int64
    ) throws(ClientError) -> JSONObject {
        let members = try Self.object(
            bytes, named: "the document", members: ["payload", "protected", "signature"])
        guard let body = members["payload"]?.string, let head = members["protected"]?.string,
            let signature = members["signature"]?.string.flatMap({ Base64.decode($0, from: .url) }),
            let header = Base64.decode(head, from: .url),
            let payload = Base64.decode(body, from: .url)
        else { throw Self.malformed("its members must be strings of canonical base64url") }
        let names = try Self.object(
            header, named: "the protected header", members: ["alg", "kid", "typ"])
        guard names["alg"] == "EdDSA" || names["alg"] == "Ed25519",
            names["typ"] == .string(Self.type), let id = names["kid"]?.string
        else {
            throw Self.malformed(
                "the protected header must have alg EdDSA or Ed25519, typ \(Self.type) and kid")
        }
        guard let key = try? keys.key(id: id), (try? key.requireUsable(at: now)) != nil else {
            throw Self.malformed("its key \(printable(id)) is unknown, revoked or not valid now")
        }
        let signer = try Self.ed25519(key)
        let message = Array("\(head).\(body)".utf8)
        let holds = try? signer.verifies(signature.span, of: message.span, by: .ed25519)
        guard holds == true else {
            throw Self.malformed("its signature doesn't verify with the key \(printable(id))")
        }
        let list = try Self.object(
            payload, named: "the payload",
            members: ["service", "host", "issued", "expires", "addresses"])
        guard let name = list["service"]?.string, sameBytes(name, service.name) else {
            throw Self.malformed("it is for another service, expected \(service)")
        }
        guard let expires = list["expires"]?.number?.int64, now < expires else {
            throw Self.malformed("it has expired, or \"expires\" isn't a time in Unix seconds")
        }
        guard let issued = list["issued"]?.number?.int64, issued < expires else {
            throw Self.malformed("\"issued\" must be a time in Unix seconds before \"expires\"")
        }
        return list
    }

    /// Parses a JSON object with exactly these members.
    static func object(
        _ bytes: [UInt8], named subject: String, members: [String]
    ) throws(ClientError) -> JSONObject {
        guard bytes.count <= maximumByteCount else {
            throw malformed("found \(bytes.count) bytes, expected at most \(maximumByteCount)")
        }
        guard let object = (try? JSONValue(parsing: bytes, maximumDepth: 8))?.object,
            object.count == members.count, members.allSatisfy({ object[$0] != nil })
        else {
            throw malformed(
                "\(subject) must be a JSON object with the members"
                    + " \(members.joined(separator: ", ")) and no others")
        }
        return object
    }

    static func malformed(_ what: String) -> ClientError {
        ClientError(.malformedResponse, "the list of addresses: \(what)")
    }
}
