import Foundation
import SignetSigning
import TestSupport

/// Keys and messages that the tests share.
enum Sample {
    static let now: Int64 = 1_795_228_551
    static let secret = [UInt8](0..<32)
    static let longSecret = [UInt8](64..<128)

    /// One HS256 key, one HS512 key, and keys that cannot be used at `now`.
    static let keys: KeySet = {
        do { return try makeKeys() } catch { preconditionFailure("\(error)") }
    }()

    static func makeKeys() throws -> KeySet {
        try keySet([
            jwk("orders-2026", #""alg":"HS256","use":"sig""#),
            jwk("orders-512", #""alg":"HS512","use":"sig""#, longSecret),
            jwk("revoked", #""alg":"HS256","use":"sig","revoked":true"#),
            jwk("expired", #""alg":"HS256","use":"sig","exp":\#(now)"#),
            jwk("not-yet", #""alg":"HS256","use":"sig","nbf":\#(now + 1)"#),
            jwk("root", #""use":"enc""#),
        ])
    }

    static func keySet(_ keys: [String]) throws -> KeySet {
        try KeySet(
            parsing: Array(#"{"keys":[\#(keys.joined(separator: ","))]}"#.utf8), source: "a test")
    }

    static func jwk(_ id: String, _ members: String, _ secret: [UInt8] = secret) -> String {
        #"{"kty":"oct","kid":"\#(id)","k":"\#(base64url(secret))",\#(members)}"#
    }

    static func base64url(_ bytes: [UInt8]) -> String {
        Data(bytes).base64EncodedString().replacingOccurrences(of: "+", with: "-")
            .replacingOccurrences(of: "/", with: "_").replacingOccurrences(of: "=", with: "")
    }

    static let text = """
        POST /rpc?tea=2 HTTP/1.1
        Host: api.example.com
        Content-Type: application/json
        X-Request-Id: r-1

        {"jsonrpc":"2.0","id":1}
        """

    static func message(_ text: String = text) throws -> SignableMessage {
        try SignableMessage(parsing: Array(text.utf8))
    }

    static func signer(
        _ scheme: SigningScheme = .rfc9421, key: String = "orders-2026", covers: String? = nil,
        label: String? = nil, tag: String? = nil
    ) throws -> MessageSigner {
        var options = MessageSigner.Options()
        options.coveredComponents = try covers.map { try ComponentIdentifier.list(parsing: $0) }
        options.label = label
        options.tag = tag
        return try MessageSigner(scheme: scheme, key: keys.key(id: key), options: options)
    }

    /// The sample request, signed.
    static func signed(
        _ scheme: SigningScheme = .rfc9421, text: String = text, covers: String? = nil,
        nonce: String? = nil, expires: Int64? = nil, tag: String? = nil
    ) throws -> SignableMessage {
        var message = try message(text)
        _ = try signer(scheme, covers: covers, tag: tag).sign(
            &message, now: now, expiration: expires, nonce: nonce)
        return message
    }

    static func policy(
        required: String? = nil, tag: String? = nil, requiresNonce: Bool = false
    ) throws -> VerificationPolicy {
        var policy = VerificationPolicy()
        policy.coveredComponents = try required.map { try ComponentIdentifier.list(parsing: $0) }
        policy.tag = tag
        policy.requiresNonce = requiresNonce
        return policy
    }

    static func verifier(
        _ scheme: SigningScheme = .rfc9421, _ policy: VerificationPolicy = VerificationPolicy(),
        nonces: (any NonceStore)? = nil
    ) throws -> Verifier {
        try Verifier(scheme: scheme, keys: keys, policy: policy, nonces: nonces)
    }
}

/// The code of the error that `body` ends with, or "no error".
func code(_ body: () throws -> Void) -> String {
    do {
        try body()
        return "no error"
    } catch {
        return (error as? SigningError)?.code.name ?? "\(error)"
    }
}

/// The same of a body that waits.
func code(_ body: () async throws -> Void) async -> String {
    do {
        try await body()
        return "no error"
    } catch {
        return (error as? SigningError)?.code.name ?? "\(error)"
    }
}

extension SignableMessage {
    /// The message with a piece of its text replaced; the piece must be there.
    func replacing(_ old: String, with new: String) throws -> SignableMessage {
        let whole = text(serialized())
        guard whole.contains(old) else { throw CocoaError(.featureUnsupported) }
        return try SignableMessage(
            parsing: Array(whole.replacingOccurrences(of: old, with: new).utf8))
    }
}
