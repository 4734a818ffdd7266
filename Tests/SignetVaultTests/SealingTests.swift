import SignetCrypto
import SignetJSON
import SignetSystem
import TestSupport
import Testing

@testable import SignetVault

/// Sealing and opening: versions, names, sequences, keys and passphrases.
@Suite struct SealingTests {
    func binding(_ version: String) -> VersionBinding {
        VersionBinding(app: "com.example.shop", version: version, systemVersion: "0.1.0")
    }

    @Test(.features("000-11")) func aSealedValueIsRestored() throws {
        let configuration = try shopConfiguration()
        let keys = try keySet()
        let dump = try configuration.seal(
            with: keys.key(id: "vault-2026"), for: shop, sequence: 7, now: noon)
        let opened = try SealedDump(parsing: dump.bytes).open(with: keys, for: shop, now: noon)
        #expect(opened.values == configuration.values)
        #expect(opened.sequence == 7)
        #expect(opened.sealedAt == "2026-11-21T12:00:00Z")
        #expect(opened.origins["token"] == "defaults")
        let restored = try GlobalConfiguration(restoring: opened, schema: configuration.schema)
        #expect(restored.values == configuration.values)
        #expect(restored.origin(of: "token") == .defaults)
        #expect(
            code {
                _ = try GlobalConfiguration(
                    restoring: opened, schema: schema(#"{"token":{"type":"string"}}"#))
            } == "unknown-config-key")
        #expect(
            code {
                _ = try GlobalConfiguration(
                    restoring: opened,
                    schema: schema(
                        #"{"token":{"type":"string","setBy":["launch"]},"orders.host":{"type":"string"}}"#
                    ))
            } == "source-not-allowed")
    }

    @Test func twoDumpsOfOneConfigurationShareNothing() throws {
        let one = try Parts(shopDump())
        let two = try Parts(shopDump())
        #expect(one.parts[2] != two.parts[2])
        #expect(one.parts[3] != two.parts[3])
    }

    @Test(
        .features("000-12"),
        arguments: [
            ("1.9.0", "1.10.0", "older-version"), ("1.10.0", "1.9.0", "newer-version"),
            ("1.4", "1.4.0", "other-version"), ("1.4.2.1", "1.4.2", "newer-version"),
            ("2", "10", "older-version"), ("1.04", "1.4", "other-version"),
            ("1.4.2-beta", "1.4.2", "other-version"), ("v1", "v2", "other-version"),
            ("1..2", "1.2", "other-version"), ("1.", "1", "other-version"),
            (" 1", "1", "other-version"),
            (
                "99999999999999999999999999999999999999.1",
                "99999999999999999999999999999999999999.0",
                "newer-version"
            ),
            ("0", "0.0.0.1", "older-version"), ("é", "e\u{301}", "other-version"),
        ])
    func otherVersionsAreNamed(_ sealed: String, _ running: String, _ wanted: String) throws {
        let keys = try keySet()
        let dump = try shopDump(binding(sealed), keys: keys)
        let error = error { _ = try dump.open(with: keys, for: binding(running), now: noon) }
        #expect(error?.code.name == wanted)
        #expect(error?.message.contains("\"\(sealed)\"") == true)
        #expect(error?.message.contains("\"\(running)\"") == true)
        _ = try dump.open(with: keys, for: binding(sealed), now: noon)
    }

    @Test func olderVersionsOnTheListAreForReading() throws {
        let keys = try keySet()
        let old = try shopDump(binding("1.9.0"), keys: keys)
        let opened = try old.open(
            with: keys, for: binding("1.10.0"), accepting: ["1.8.0", "1.9.0"], now: noon)
        #expect(!opened.isExactVersion)
        #expect(
            code {
                _ = try old.open(with: keys, for: binding("1.10.0"), accepting: ["1.9"], now: noon)
            } == "older-version")
        let new = try shopDump(binding("1.11.0"), keys: keys)
        #expect(
            code {
                _ = try new.open(
                    with: keys, for: binding("1.10.0"), accepting: ["1.11.0"], now: noon)
            } == "newer-version")
        let other = try shopDump(binding("beta"), keys: keys)
        _ = try other.open(with: keys, for: binding("1.10.0"), accepting: ["beta"], now: noon)
        for (version, accepted, wanted) in [
            ("0.0.9", ["0.0.9"], nil), ("0.0.9", [], "older-version"),
            ("0.0.9", ["0.0.8"], "older-version"), ("0.2.0", ["0.2.0"], "newer-version"),
            ("beta", ["beta"], nil), ("beta", [], "other-version"),
        ] as [(String, [String], String?)] {
            let sealed = VersionBinding(
                app: shop.app, system: .init(id: "signet", version: version))
            let dump = try shopDump(sealed, keys: keys)
            var isExactVersion = false
            let found = code {
                isExactVersion = try dump.open(
                    with: .keys(keys), for: shop, system: accepted, now: noon
                ).isExactVersion
            }
            #expect(found == wanted && !isExactVersion)
            // The one list says nothing about the other version.
            #expect(
                code {
                    _ = try dump.open(with: .keys(keys), for: shop, accepting: [version], now: noon)
                } != nil)
        }
    }

    @Test(.features("000-12")) func otherAppsAndSystemsAreNamed() throws {
        let keys = try keySet()
        let dump = try shopDump(keys: keys)
        for (other, wanted) in [
            (
                VersionBinding(app: "com.example.Shop", version: "1.4.2", systemVersion: "0.1.0"),
                "wrong-app"
            ),
            (
                VersionBinding(app: shop.app, system: .init(id: "other", version: "0.1.0")),
                "wrong-system"
            ),
            (
                VersionBinding(app: shop.app, system: .init(id: "signet", version: "0.0.9")),
                "newer-version"
            ),
            (
                VersionBinding(app: shop.app, system: .init(id: "signet", version: "0.1.1")),
                "older-version"
            ),
        ] {
            #expect(code { _ = try dump.open(with: keys, for: other, now: noon) } == wanted)
            #expect(code { _ = try dump.exportKey(with: keys, for: other, now: noon) } == wanted)
        }
        // The letter й in one scalar and in two: equal for Swift's ==, but two different apps.
        let composed = VersionBinding(app: "й", version: "1")
        let decomposed = VersionBinding(app: "и\u{306}", version: "1")
        #expect(
            code {
                _ = try shopDump(composed, keys: keys).open(with: keys, for: decomposed, now: noon)
            }
                == "wrong-app")
    }

    @Test(arguments: [
        ("", "1"), ("a", ""), ("a\n", "1"), ("a", "1\u{0}"),
        (String(repeating: "a", count: 256), "1"),
    ])
    func unusableNamesAreRefused(_ app: String, _ version: String) throws {
        let keys = try keySet()
        let binding = VersionBinding(app: app, version: version)
        #expect(code { _ = try shopDump(binding, keys: keys) } == "malformed-input")
        let dump = try shopDump(keys: keys)
        #expect(
            code { _ = try dump.open(with: keys, for: binding, now: noon) } == "malformed-input")
    }

    @Test func sequencesStartAtOne() throws {
        #expect(code { _ = try shopDump(sequence: 0) } == "malformed-input")
        #expect(code { _ = try shopDump(sequence: -1) } == "malformed-input")
    }

    @Test func keysAreBoundToTimeAndUse() throws {
        let dump = try shopDump()
        for (more, wanted) in [
            (["revoked": true], "key-revoked"), (["exp": .number(JSONNumber(noon))], "key-expired"),
            (["nbf": .number(JSONNumber(noon + 1))], "key-not-yet-valid"),
        ] as [(JSONObject, String)] {
            let keys = try keySet(more: more)
            #expect(code { _ = try dump.open(with: keys, for: shop, now: noon) } == wanted)
            #expect(code { _ = try dump.exportKey(with: keys, now: noon) } == wanted)
            #expect(code { _ = try shopDump(keys: keys) } == wanted)
        }
        let timely: JSONObject = [
            "revoked": false, "nbf": .number(JSONNumber(noon)),
            "exp": .number(JSONNumber(noon + 1)),
        ]
        _ = try dump.open(with: keySet(more: timely), for: shop, now: noon)
        let signing = try keySet(more: ["use": "sig", "alg": "HS256"])
        #expect(code { _ = try dump.open(with: signing, for: shop, now: noon) } == "wrong-key-use")
        #expect(code { _ = try shopDump(keys: signing) } == "wrong-key-use")
        let other = try keySet(root: [UInt8](repeating: 1, count: 32))
        #expect(code { _ = try dump.open(with: other, for: shop, now: noon) } == "wrong-key")
        let another = try keySet("vault-2027")
        #expect(code { _ = try dump.open(with: another, for: shop, now: noon) } == "unknown-key")
    }

    @Test func theRootIsTheOneUsableAtTheGivenTime() throws {
        func key(_ id: String, _ dates: String) -> String {
            let k = Base64.encode([UInt8](repeating: 0x5a, count: 32), as: .url)
            return #"{"kty":"oct","kid":"\#(id)","use":"enc","k":"\#(k)",\#(dates)}"#
        }
        let text = [key("old", #""exp":1000"#), key("new", #""nbf":1000"#)].joined(separator: ",")
        let keys = VaultKeys.keys(
            try KeySet(parsing: Array("{\"keys\":[\(text)]}".utf8), source: "test"))
        for (now, id) in [(999, "old"), (1000, "new")] as [(Int64, String)] {
            let dump = try shopConfiguration().seal(with: keys, for: shop, now: now)
            #expect(dump.keyID == id)
        }
    }

    @Test func rebindingKeepsTheConfigurationAndCountsOn() throws {
        let keys = try keySet()
        let folder = try TemporaryDirectory()
        let path = folder.path("dump")
        let old = try shopDump(sequence: 4)
        try PrivateFile.writeAtomically(old.bytes, to: path)
        let new = binding("1.10.0")
        let file = DumpFile(path)
        let opened = try file.rebind(with: .keys(keys), from: shop, to: new, now: noon)
        #expect(opened.sequence == 5)
        #expect(opened.values == (try shopConfiguration().values))
        let written = try SealedDump(contentsOf: path)
        #expect(written.header.salt != old.header.salt)
        #expect(code { _ = try written.open(with: keys, for: shop, now: noon) } == "newer-version")
        #expect(
            code { _ = try file.rebind(with: .keys(keys), from: shop, to: new, now: noon) }
                == "newer-version")
        #expect(
            code {
                _ = try file.rebind(with: .keys(keys), from: new, to: binding(""), now: noon)
            } == "malformed-input")
        #expect(try SealedDump(contentsOf: path).bytes == written.bytes)
        #expect(try folder.contents() == ["dump"])
    }

    @Test func aPassphraseReplacesAKeySet() throws {
        let passphrase = Passphrase(copying: Array("correct horse".utf8).span)
        let folder = try TemporaryDirectory()
        let dump = DumpFile(folder.path("dump"))
        let sealed = try dump.seal(
            shopConfiguration(), with: .passphrase(passphrase), for: shop, now: noon)
        #expect(sealed.keyID == "passphrase" && sealed.dump.isPassphraseSealed)
        let again = Passphrase(copying: Array("correct horse".utf8).span)
        let opened = try dump.open(with: .passphrase(again), for: shop, now: noon)
        #expect(opened.values == (try shopConfiguration().values))
        let wrong = Passphrase(copying: Array("correct horse ".utf8).span)
        #expect(
            code { _ = try dump.open(with: .passphrase(wrong), for: shop, now: noon) }
                == "wrong-key")
        let keys = VaultKeys.keys(try keySet())
        #expect(code { _ = try dump.open(with: keys, for: shop, now: noon) } == "unknown-key")
        let rooted = try dump.seal(shopConfiguration(), with: keys, for: shop, now: noon)
        #expect(rooted.keyID == "vault-2026")
        #expect(
            code { _ = try dump.open(with: .passphrase(again), for: shop, now: noon) }
                == "unknown-key")
        #expect(!"\(passphrase) \(keys)".contains("horse"))
    }
}
