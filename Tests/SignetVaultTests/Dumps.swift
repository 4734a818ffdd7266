import SignetCrypto
import SignetJSON
import Testing

@testable import SignetVault

/// A case of `Vectors/dumps.json`.
struct DumpVector: Sendable, CustomTestStringConvertible {
    let json: JSONObject

    static func all(_ group: String) throws -> [DumpVector] {
        try #require(vector("dumps.json")[group]?.array).map {
            DumpVector(json: try #require($0.object))
        }
    }

    func text(_ name: String) throws -> String { try #require(json[name]?.string) }
    func bytes(_ name: String) throws -> [UInt8] {
        try #require(Base64.decode(text(name), from: .url))
    }

    var dump: [UInt8] { get throws { Array(try text("dump").utf8) } }
    var binding: VersionBinding {
        get throws {
            let app = try #require(json["app"]?.array)
            let system = try #require(json["system"]?.array)
            return VersionBinding(
                app: .init(id: try #require(app[0].string), version: try #require(app[1].string)),
                system: .init(
                    id: try #require(system[0].string), version: try #require(system[1].string)))
        }
    }
    var keys: KeySet {
        get throws { try keySet(text("keyID"), root: bytes("root")) }
    }

    var testDescription: String { json["name"]?.string ?? "" }
}

/// Returns a key set with one vault root.
func keySet(
    _ id: String = "vault-2026", root: [UInt8] = [UInt8](repeating: 0x5a, count: 32),
    more: JSONObject = [:]
) throws -> KeySet {
    var key: JSONObject = [
        "kty": "oct", "kid": .string(id), "use": "enc", "k": .string(Base64.encode(root, as: .url)),
    ]
    for (name, value) in more { key[name] = value }
    let set: JSONValue = ["keys": [.object(key)]]
    return try KeySet(parsing: set.serialized(), source: "test")
}

/// Noon of 2026-11-21.
let noon: Int64 = 1_795_262_400

let shop = VersionBinding(app: "com.example.shop", version: "1.4.2", systemVersion: "0.1.0")

/// Returns a small configuration with a secret in it.
func shopConfiguration(_ token: String = "ZZZZZZcanaryZZZZZZ") throws -> GlobalConfiguration {
    try GlobalConfiguration(
        schema: schema(
            #"{"orders.host":{"type":"string","visibility":"public"},"token":{"type":"string","enum":["\#(token)"]}}"#
        ),
        defaults: .values(["orders.host": "orders.example.com", "token": .string(token)]))
}

/// Returns a dump of the small configuration.
func shopDump(
    _ binding: VersionBinding = shop, keys: KeySet? = nil, sequence: Int64 = 1
) throws -> SealedDump {
    let keys = try keys ?? keySet()
    return try shopConfiguration().seal(
        with: keys.key(id: "vault-2026"), for: binding, sequence: sequence, now: noon)
}

/// The five parts of a compact string, which can be changed and joined again.
struct Parts {
    var parts: [String]

    init(_ dump: SealedDump) {
        parts = String(decoding: dump.bytes, as: UTF8.self)
            .split(separator: ".", omittingEmptySubsequences: false).map(String.init)
    }

    var bytes: [UInt8] { Array(parts.joined(separator: ".").utf8) }

    /// This dump with one part's bytes replaced.
    func with(_ index: Int, _ bytes: [UInt8]) -> [UInt8] {
        var copy = self
        copy.parts[index] = Base64.encode(bytes, as: .url)
        return copy.bytes
    }

    /// This dump with one part's text replaced.
    func with(_ index: Int, text: String) -> [UInt8] {
        var copy = self
        copy.parts[index] = text
        return copy.bytes
    }

    func decoded(_ index: Int) throws -> [UInt8] {
        try #require(Base64.decode(parts[index], from: .url))
    }

    /// This dump with a part of its kid changed: 0 the scheme, 1 the key's id, 2 the salt, ….
    func withKid(_ index: Int, _ change: (String) throws -> String) throws -> [UInt8] {
        let header = try JSONValue(parsing: decoded(0))
        var object = try #require(header.object)
        var kid = try #require(object["kid"]?.string)
            .split(separator: ".", omittingEmptySubsequences: false).map(String.init)
        kid[index] = try change(kid[index])
        object["kid"] = .string(kid.joined(separator: "."))
        return with(0, JSONValue.object(object).serialized())
    }
}
