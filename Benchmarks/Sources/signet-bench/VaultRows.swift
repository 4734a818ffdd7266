import CFloor
import SignetCrypto
import SignetJSON
import SignetVault

extension ConfigurationKey where Value == Int, Visibility == PublicValue {
    fileprivate static let limit = Self("limit")
}

/// Sealing and opening dumps beside AES-256-GCM of the same bytes, and reading a typed key.
struct VaultRows {
    private static let now: Int64 = 1_795_228_551
    private static let binding = VersionBinding(
        app: .init(id: "com.example.shop", version: "1.4.2"),
        system: .init(id: "signet", version: "0.1.0"))

    static func rows() throws -> [Row] {
        let raw = (0..<32).map { UInt8($0) }
        try require(floor_prepare(raw, raw.count) == 1, "the floor's contexts cannot be made")
        let keys = try KeySet(
            parsing: Array(
                """
                {"keys":[{"kty":"oct","use":"enc","kid":"root",\
                "k":"AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8"}]}
                """.utf8), source: "benchmark")
        return try large(keys) + [small(keys), publicRead()]
    }

    /// A configuration whose plaintext has about `count` bytes.
    private static func configuration(of count: Int) throws -> GlobalConfiguration {
        let text = String(repeating: "configuration value ", count: count / 20)
        return try GlobalConfiguration(
            schema: Schema(
                parsing: Array(#"{"keys":{"text":{"type":"string"}}}"#.utf8)),
            defaults: .values(["text": .string(text)]))
    }

    private static func large(_ keys: KeySet) throws -> [Row] {
        let key = try keys.key(id: "root")
        let configuration = try configuration(of: 100 << 10)
        let dump = try configuration.seal(with: key, for: binding, now: now)
        let count = dump.plaintextByteCount
        let plaintext = [UInt8](repeating: 1, count: count)
        var ciphertext = [UInt8](repeating: 0, count: count + 16)
        var opened = ciphertext
        var tag = [UInt8](repeating: 0, count: 16)
        try require(floor_gcm_seal(plaintext, &ciphertext, count, &tag, 1) == 1, "floor")
        return [
            Row(
                name: "dump-seal-100k", unit: .bytesPerSecond, goal: .ratio(0.5),
                ours: {
                    Double(count)
                        / (try seconds(100) {
                            let sealed = try configuration.seal(with: key, for: binding, now: now)
                            try require(sealed.bytes.count == dump.bytes.count, "wrong size")
                        })
                },
                floor: {
                    Double(count)
                        / (try seconds(100) {
                            try require(
                                floor_gcm_seal(plaintext, &ciphertext, count, &tag, 1) == 1,
                                "floor")
                        })
                }),
            Row(
                name: "dump-open-100k", unit: .bytesPerSecond, goal: .ratio(0.5),
                ours: {
                    Double(count)
                        / (try seconds(100) {
                            let dump = try SealedDump(parsing: dump.bytes)
                            let opened = try dump.open(with: keys, for: binding, now: now)
                            try require(opened.sequence == 1, "wrong inside")
                        })
                },
                floor: {
                    Double(count)
                        / (try seconds(100) {
                            try require(
                                floor_gcm_open(ciphertext, &opened, count, &tag, 1) == 1, "floor")
                        })
                }),
        ]
    }

    private static func small(_ keys: KeySet) throws -> Row {
        let key = try keys.key(id: "root")
        let configuration = try configuration(of: 820)
        let count = try configuration.seal(with: key, for: binding, now: now).plaintextByteCount
        let plaintext = [UInt8](repeating: 1, count: count)
        var ciphertext = [UInt8](repeating: 0, count: count + 16)
        return Row(
            name: "dump-seal-1k", unit: .microseconds, goal: .value(15),
            ours: {
                try seconds(1000) {
                    let dump = try configuration.seal(with: key, for: binding, now: now)
                    try require(dump.plaintextByteCount == count, "wrong size")
                } * 1e6
            },
            floor: {
                try seconds(1000) {
                    try require(
                        floor_hkdf_and_gcm(plaintext, &ciphertext, count, 1) == 1, "floor")
                } * 1e6
            })
    }

    private static func publicRead() throws -> Row {
        let schema = try Schema(
            parsing: Array(
                #"{"keys":{"a":{"type":"string"},"limit":{"type":"integer","visibility":"public"}}}"#
                    .utf8))
        let configuration = try GlobalConfiguration(
            schema: schema, defaults: .values(["limit": 7]), requiring: .limit)
        let dictionary: [String: Int] = ["a": 1, "limit": 7]
        return Row(
            name: "public-read", unit: .nanoseconds, goal: .value(20),
            ours: {
                var sum = 0
                let time = seconds(100_000) { sum &+= configuration.public[.limit] }
                try require(sum.isMultiple(of: 700_000), "wrong value")
                return time * 1e9
            },
            floor: {
                var sum = 0
                let time = seconds(100_000) { sum &+= dictionary["limit"] ?? 0 }
                try require(sum.isMultiple(of: 700_000), "wrong value")
                return time * 1e9
            })
    }
}
