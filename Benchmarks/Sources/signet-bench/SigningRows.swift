import CFloor
import SignetCrypto
import SignetSigning

/// Signing and verifying a POST of 1 KiB, beside its digest and MAC with contexts made beforehand.
struct SigningRows {
    private static let now: Int64 = 1_795_228_551
    private static let body = [UInt8](repeating: UInt8(ascii: "x"), count: 1024)
    private static let text =
        Array(
            """
            POST /v1/orders?tenant=7 HTTP/1.1
            Host: api.example.com
            Content-Type: application/json
            X-Request-Id: 0f8fad5b-d9cb-469f-a165-70867728950e


            """.utf8) + body

    static func rows() throws -> [Row] {
        let keys = try KeySet(
            parsing: Array(
                """
                {"keys":[{"kty":"oct","use":"sig","alg":"HS256","kid":"bench",\
                "k":"AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8"}]}
                """.utf8), source: "benchmark")
        let key = try keys.key(id: "bench")
        let raw = (0..<32).map { UInt8($0) }
        try require(floor_prepare(raw, raw.count) == 1, "the floor's contexts cannot be made")
        let message = try SignableMessage(parsing: text)
        return try rfc9421(message, key, keys) + [saltedHMAC(message, key)]
    }

    private static func rfc9421(
        _ message: SignableMessage, _ key: Key, _ keys: KeySet
    ) throws -> [Row] {
        var options = MessageSigner.Options()
        options.covers = try ComponentIdentifier.list(
            parsing: "@method,@authority,@path,content-type,content-digest")
        let signer = try MessageSigner(scheme: .rfc9421, key: key, options: options)
        var signed = message
        let base = try signer.sign(&signed, now: now).base
        let verifier = try Verifier(keys: keys)
        try require(try verifier.verify(signed, now: now).keyID == "bench", "does not verify")
        let floor = {
            try seconds(2000) {
                try require(
                    floor_digest_and_mac(body, body.count, base, base.count, 1) == 1, "floor")
            } * 1e6
        }
        return [
            Row(
                name: "rfc9421-sign", unit: .microseconds, goal: .ratio(4),
                ours: {
                    try seconds(2000) {
                        var message = message
                        let result = try signer.sign(&message, now: now)
                        try require(result.base.count == base.count, "wrong base")
                    } * 1e6
                }, floor: floor),
            Row(
                name: "rfc9421-verify", unit: .microseconds, goal: .ratio(5),
                ours: {
                    try seconds(2000) {
                        let verified = try verifier.verify(signed, now: now)
                        try require(verified.created == now, "wrong result")
                    } * 1e6
                }, floor: floor),
        ]
    }

    private static func saltedHMAC(_ message: SignableMessage, _ key: Key) throws -> Row {
        let signer = try MessageSigner(scheme: .saltedHMAC, key: key)
        var signed = message
        let base = try signer.sign(&signed, now: now).base
        return Row(
            name: "salted-hmac-sign", unit: .microseconds, goal: .ratio(4),
            ours: {
                try seconds(2000) {
                    var message = message
                    try require(
                        try signer.sign(&message, now: now).base.count == base.count, "wrong base")
                } * 1e6
            },
            floor: {
                try seconds(2000) {
                    try require(
                        floor_salted_mac(body, body.count, base, base.count, 1) == 1, "floor")
                } * 1e6
            })
    }
}
