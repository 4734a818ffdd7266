import SignetCrypto
import SignetJSON
import TestSupport
import Testing

@testable import SignetVault

/// The changes of `set` and `edit` in a dump survive everything except an explicit replacement.
@Suite struct ChangedKeysTests {
    private static let keys = #"""
        {"orders.host":{"type":"string","visibility":"public"},
         "orders.attempts":{"type":"integer","visibility":"public","maximum":5},
         "token":{"type":"string"}}
        """#
    private static let defaults: JSONObject = [
        "orders.host": "orders.example.com", "orders.attempts": 3, "token": "ZZZZZZcanaryZZZZZZ",
    ]

    private let folder: TemporaryDirectory
    private let file: DumpFile
    private let root: VaultKeys

    init() throws {
        folder = try TemporaryDirectory()
        file = DumpFile(folder.path("dump"))
        root = .keys(try keySet())
    }

    private func configuration(
        _ keys: String = keys, _ defaults: JSONObject = defaults
    ) throws -> GlobalConfiguration {
        try GlobalConfiguration(schema: schema(keys), defaults: .values(defaults))
    }

    @discardableResult
    private func seal(
        _ configuration: GlobalConfiguration? = nil, keepingChanges: Bool = true,
        for binding: VersionBinding = shop
    ) throws -> OpenedDump {
        try file.seal(
            try configuration ?? self.configuration(), with: root, for: binding,
            keepingChanges: keepingChanges, now: noon)
    }

    @discardableResult
    private func change(
        _ work: @Sendable (DumpContents) -> DumpContents
    ) throws -> OpenedDump {
        try file.update(with: root, for: shop, now: noon) { opened throws(VaultError) in
            (work(DumpContents(opened)), after: 0)
        }
    }

    /// Sets the attempts to 5 and removes the host.
    private func changeTwo() throws {
        let schema = try schema(Self.keys)
        try change {
            $0.setting("orders.attempts", to: 5, schema: schema).removing("orders.host")
        }
    }

    @Test func anUnchangedDumpHasNoSuchMember() throws {
        let opened = try seal()
        #expect(opened.changed.isEmpty && opened.plaintext["changed"] == nil)
        #expect(opened.plaintext.count == 6)
    }

    @Test func sealingAgainKeepsChangesAndRemovals() throws {
        try seal()
        try changeTwo()
        let opened = try seal()
        #expect(opened.changed == ["orders.attempts", "orders.host"] && opened.sequence == 3)
        #expect(opened.values["orders.attempts"] == 5 && opened.values["orders.host"] == nil)
        #expect(opened.values["token"] == "ZZZZZZcanaryZZZZZZ")
        #expect(try seal().changed == ["orders.attempts", "orders.host"])
    }

    @Test func sealingForANewVersionKeepsItToo() throws {
        try seal()
        try changeTwo()
        let new = VersionBinding(app: shop.app.id, version: "2.0.0", systemVersion: "0.1.0")
        #expect(try seal(for: new).values["orders.attempts"] == 5)
    }

    @Test func aReplacementDropsIt() throws {
        try seal()
        try changeTwo()
        let opened = try seal(keepingChanges: false)
        #expect(opened.changed.isEmpty && opened.values["orders.attempts"] == 3)
        #expect(opened.sequence == 3)
    }

    @Test func settingTheSameValueIsNoChange() throws {
        try seal()
        let schema = try schema(Self.keys)
        let opened = try change {
            $0.setting("orders.attempts", to: 3, schema: schema).removing("nothing")
        }
        #expect(opened.changed.isEmpty)
    }

    @Test func rebindingAndRekeyingKeepTheMarks() throws {
        try seal()
        try changeTwo()
        let new = VersionBinding(app: shop.app.id, version: "2.0.0", systemVersion: "0.1.0")
        let rebound = try file.rebind(with: root, from: shop, to: new, now: noon)
        #expect(rebound.changed == ["orders.attempts", "orders.host"])
        let other = VaultKeys.keys(try keySet("other", root: [UInt8](repeating: 7, count: 32)))
        let rekeyed = try file.rekey(with: root, to: other, for: new, now: noon)
        #expect(rekeyed.changed == ["orders.attempts", "orders.host"])
    }

    @Test func mergingTakesBothSides() throws {
        let schema = try schema(Self.keys)
        let base = DumpContents(try configuration())
        let ours = base.setting("orders.attempts", to: 4, schema: schema)
        let theirs = base.setting("orders.host", to: "b", schema: schema)
            .setting("orders.attempts", to: 4, schema: schema)
        let merged = DumpMerge(base: base, ours: ours, theirs: theirs)
        #expect(merged.conflicts.isEmpty)
        #expect(merged.merged.changed == ["orders.attempts", "orders.host"])
        #expect(merged.merged.ordered(by: schema).changed == ["orders.attempts", "orders.host"])
    }

    @Test(arguments: [
        (#"{"orders.attempts":{"type":"integer","visibility":"public","maximum":4}}"#, "maximum"),
        (#"{"orders.attempts":{"type":"string","visibility":"public"}}"#, "string"),
        (#"{"orders.host":{"type":"string","visibility":"public"}}"#, "not in the schema"),
        (
            #"{"orders.attempts":{"type":"integer","visibility":"public","setBy":["fetched"]}}"#,
            "lets only fetched"
        ),
    ])
    func aKeptValueThatTheSchemaForbidsIsRefused(_ keys: String, _ words: String) throws {
        try seal()
        try changeTwo()
        let before = try folder.read("dump")
        let refused = try #require(
            error { try seal(try configuration(keys, [:])) })
        #expect(refused.code == .wouldLoseChanges)
        #expect(refused.key == "orders.attempts" && refused.problems.count == 1)
        #expect(refused.message.contains("orders.attempts") && refused.message.contains(words))
        #expect(try folder.read("dump") == before)
        #expect(try seal(try configuration(keys, [:]), keepingChanges: false).changed.isEmpty)
    }

    @Test func allKeptValuesThatAreRefusedAreNamed() throws {
        try seal()
        let schema = try schema(Self.keys)
        try change {
            $0.setting("orders.attempts", to: 5, schema: schema)
                .setting("token", to: "ZZZZZZotherZZZZZZ", schema: schema)
        }
        let refused = try #require(error { try seal(try configuration("{}", [:])) })
        #expect(refused.problems.map(\.key) == ["orders.attempts", "token"])
        #expect(!refused.message.contains("ZZZZZZ"))
    }

    @Test func aRemovedKeyThatTheSchemaLostIsForgotten() throws {
        try seal()
        try change { $0.removing("token") }
        let keys = Self.keys.replacing(
            #""token":{"type":"string"}"#, with: #""other":{"type":"string"}"#)
        var defaults = Self.defaults
        defaults["token"] = nil
        #expect(try seal(try configuration(keys, defaults)).changed.isEmpty)
    }

    @Test func aDumpThatDoesNotOpenIsNotReplaced() throws {
        try seal()
        let before = try folder.read("dump")
        let other = VaultKeys.keys(try keySet("other", root: [UInt8](repeating: 7, count: 32)))
        let same = VaultKeys.keys(try keySet(root: [UInt8](repeating: 7, count: 32)))
        let revoked = VaultKeys.keys(try keySet(more: ["exp": 1]))
        for (keys, code) in [
            (other, "unknown-key"), (same, "wrong-key"), (revoked, "key-expired"),
        ] {
            let refused = error {
                _ = try file.seal(
                    try configuration(), with: keys, for: shop, keepingChanges: true, now: noon)
            }
            #expect(refused?.code.name == code)
            #expect(try folder.read("dump") == before)
        }
        let app = VersionBinding(app: "com.example.other", version: "1", systemVersion: "0.1.0")
        #expect(code { try seal(for: app) } == "wrong-app")
        try folder.write(before.dropLast(9), to: "dump")
        #expect(code { try seal() } == "malformed-dump")
        #expect(try seal(keepingChanges: false).sequence == 1)
    }

    @Test(arguments: [
        #"1"#, #"{}"#, #"null"#, #""orders.host""#, #"["a","a"]"#, #"["a",1]"#,
    ])
    func marksOfAnotherFormAreTampered(_ changed: String) throws {
        let configuration = try configuration()
        var tail = configuration.sealedTail
        tail.removeLast()
        let root = DumpRoot.key(try keySet().key(id: "vault-2026"))
        let dump = try SealedDump(
            tail: tail + Array(",\"changed\":\(changed)}".utf8), sequence: 1, with: root, for: shop,
            now: noon, salt: SealedDump.newSalt())
        #expect(code { _ = try dump.open(with: keySet(), for: shop, now: noon) } == "tampered")
    }
}
