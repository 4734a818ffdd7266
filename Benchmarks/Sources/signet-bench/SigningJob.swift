import CFloor
import SignetCrypto
import SignetSigning

/// One way to sign or to verify, as the rows of times, of threads and of allocations all run it.
struct SigningJob: Sendable {
    typealias Work = @Sendable () throws -> Void
    /// Makes the work on a message of its own, as each request that a server gets is one; the signer or
    /// verifier is the same.
    typealias Maker = @Sendable () throws -> Work

    let name: String
    /// The goal, as a multiple of the floor.
    let goal: Double
    /// Our work and the floor's for a body of so many bytes; each checks its result.
    let make: @Sendable (Int) throws -> (ours: Maker, floor: Work)

    static let all = [
        SigningJob(name: "rfc9421-sign", goal: 4) { try rfc9421(of: $0).sign },
        SigningJob(name: "rfc9421-verify", goal: 5) { try rfc9421(of: $0).verify },
        SigningJob(name: "salted-hmac-sign", goal: 4, make: saltedHMAC),
        SigningJob(name: "sigv4-sign", goal: 6) { try sigV4(of: $0).sign },
        SigningJob(name: "sigv4-verify", goal: 6) { try sigV4(of: $0).verify },
    ]

    private static let now: Int64 = 1_795_228_551

    private static func body(_ size: Int) -> [UInt8] {
        [UInt8](repeating: UInt8(ascii: "x"), count: size)
    }

    private static func message(_ body: [UInt8]) throws -> SignableMessage {
        try SignableMessage(
            parsing: Array(
                """
                POST /v1/orders?tenant=7 HTTP/1.1
                Host: api.example.com
                Content-Type: application/json
                X-Request-Id: 0f8fad5b-d9cb-469f-a165-70867728950e


                """.utf8) + body)
    }

    /// The key of the floor too; bound to no algorithm for the schemes of partners.
    static func keys(_ algorithm: String = "") throws -> KeySet {
        let raw = (0..<32).map { UInt8($0) }
        try require(floor_prepare(raw, raw.count) == 1, "the floor's contexts cannot be made")
        return try KeySet(
            parsing: Array(
                """
                {"keys":[{"kty":"oct","use":"sig",\(algorithm)"kid":"bench",\
                "k":"AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8"}]}
                """.utf8), source: "benchmark")
    }

    private typealias Pair = (sign: (ours: Maker, floor: Work), verify: (ours: Maker, floor: Work))

    private static func rfc9421(of size: Int) throws -> Pair {
        let body = body(size)
        let message = try message(body)
        let keys = try keys(#""alg":"HS256","#)
        var options = MessageSigner.Options()
        options.coveredComponents = try ComponentIdentifier.list(
            parsing: "@method,@authority,@path,content-type,content-digest")
        let signer = try MessageSigner(
            scheme: .rfc9421, key: keys.key(id: "bench"), options: options)
        var made = message
        let base = try signer.sign(&made, now: now).base
        let signed = made.serialized()
        var policy = VerificationPolicy()
        policy.coveredComponents = options.coveredComponents
        let verifier = try Verifier(keys: keys, policy: policy)
        let floor: Work = {
            try require(
                floor_digest_and_mac(body, body.count, base, base.count, 1) == 1, "floor")
        }
        let sign: Maker = {
            let own = try Self.message(body)
            return {
                var message = own
                let result = try signer.sign(&message, now: now)
                try require(result.base.count == base.count, "wrong base")
            }
        }
        let verify: Maker = {
            let own = try SignableMessage(parsing: signed)
            return {
                let verified = try verifier.verify(own, now: now)
                try require(verified.created == now, "wrong result")
            }
        }
        return ((sign, floor), (verify, floor))
    }

    @Sendable private static func saltedHMAC(of size: Int) throws -> (ours: Maker, floor: Work) {
        let body = body(size)
        let message = try message(body)
        let signer = try MessageSigner(
            scheme: .saltedHMAC, key: keys(#""alg":"HS256","#).key(id: "bench"))
        var signed = message
        let base = try signer.sign(&signed, now: now).base
        return (
            {
                let own = try Self.message(body)
                return {
                    var message = own
                    try require(
                        try signer.sign(&message, now: now).base.count == base.count, "wrong base")
                }
            },
            {
                try require(
                    floor_salted_mac(body, body.count, base, base.count, 1) == 1, "floor")
            }
        )
    }

    /// In the fields; the key of the day, the region and the service is made once.
    private static func sigV4(of size: Int) throws -> Pair {
        let body = body(size)
        let message = try message(body)
        let keys = try keys()
        let scheme = try SigningScheme(named: "aws-sigv4")
        var options = MessageSigner.Options()
        options.settings = ["region": "eu-central-1", "service": "execute-api"]
        let signer = try MessageSigner(
            scheme: scheme, key: keys.key(id: "bench"), options: options)
        var policy = VerificationPolicy()
        policy.settings = options.settings
        let verifier = try Verifier(scheme: scheme, keys: keys, policy: policy)
        var made = message
        let text = try signer.sign(&made, now: now).base
        let signed = made.serialized()
        // The canonical request of this message has so many bytes.
        let request = [UInt8](repeating: UInt8(ascii: "r"), count: 368)
        let floor: Work = {
            try require(
                floor_two_digests_and_mac(
                    body, body.count, request, request.count, text, text.count) == 1, "floor")
        }
        let sign: Maker = {
            let own = try Self.message(body)
            return {
                var message = own
                let result = try signer.sign(&message, now: now)
                try require(result.base.count == text.count, "wrong text")
            }
        }
        let verify: Maker = {
            let own = try SignableMessage(parsing: signed)
            return {
                let verified = try verifier.verify(own, now: now)
                try require(verified.created == now, "wrong result")
            }
        }
        return ((sign, floor), (verify, floor))
    }
}
