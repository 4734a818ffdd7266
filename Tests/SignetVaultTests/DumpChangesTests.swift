import SignetCrypto
import SignetJSON
import Testing

@testable import SignetVault

/// Returns contents of `key: value` pairs with one origin.
private func contents(
    _ values: JSONObject, _ origin: ConfigurationOrigin = .defaults
) -> DumpContents {
    var contents = DumpContents()
    for (name, value) in values { contents[name] = .init(value, from: origin) }
    return contents
}

/// The number 1 in another spelling, which is another value here.
private let onePointZero = JSONNumber(text: "1.0").map(JSONValue.number) ?? .null

/// The values and origins in a dump, and their changes by hand.
@Suite struct DumpContentsTests {
    @Test func keepsTheOrderAndEachNameOnce() {
        var some = contents(["b": 1, "a": 2])
        some["b"] = .init(3, from: .launch)
        some["c"] = .init(4, from: .fetched)
        #expect(some.names == ["b", "a", "c"])
        some["a"] = nil
        some["nothing"] = nil
        #expect(some.names == ["b", "c"] && some.count == 2)
        #expect(some.values == ["b": 3, "c": 4])
        #expect(some.origins == ["b": "launch", "c": "fetched"])
    }

    @Test func namesAreBytes() {
        var some = contents(["\u{e9}": 1])
        some["e\u{301}"] = .init(2, from: .defaults)
        #expect(some.count == 2)
        some["\u{e9}"] = nil
        #expect(some["e\u{301}"]?.value == 2 && some.count == 1)
    }

    @Test func equalInAnyOrder() {
        #expect(contents(["a": 1, "b": 2]) == contents(["b": 2, "a": 1]))
        #expect(contents(["a": 1]) != contents(["a": 1], .launch))
        #expect(contents(["a": 1]) != contents(["a": onePointZero]))
    }

    @Test func neverPrintsAValue() {
        let some = contents(["token": "ZZZZZZcanaryZZZZZZ"])
        var dumped = ""
        dump(some, to: &dumped)
        dump(some["token"], to: &dumped)
        dump(DumpDiff(from: some, to: .init()).changes, to: &dumped)
        dump(DumpMerge(base: .init(), ours: some, theirs: contents(["token": 1])), to: &dumped)
        for text in [dumped, "\(some)", "\(String(describing: some["token"]))"] {
            #expect(!text.contains("ZZZZZZ"))
        }
    }

    @Test func aSetValueKeepsAnAllowedOrigin() throws {
        let schema = try schema(
            #"{"a":{"type":"integer"},"b":{"type":"integer","setBy":["fetched"]},"c":{"type":"integer","setBy":["defaults","fetched"]}}"#
        )
        let some = contents(["a": 1, "b": 1], .fetched)
        func origin(_ name: String, _ value: JSONValue, _ origin: ConfigurationOrigin? = nil)
            -> ConfigurationOrigin?
        { some.setting(name, to: value, as: origin, schema: schema)[name]?.origin }
        #expect(origin("a", 2) == .fetched)
        #expect(origin("a", 1, .launch) == .launch)
        #expect(origin("b", 2) == .fetched)
        #expect(origin("c", 2) == .defaults)
        #expect(
            DumpContents().setting("a", to: 1, schema: schema)["a"]?.origin == .launch)
        #expect(contents(["b": 1]).setting("b", to: 2, schema: schema)["b"]?.origin == .fetched)
        #expect(contents(["b": 1]).setting("b", to: 1, schema: schema)["b"]?.origin == .defaults)
    }

    @Test func replacingRemovesSetsAndAdds() throws {
        let schema = try schema(
            #"{"a":{"type":"integer"},"b":{"type":"integer"},"c":{"type":"integer"}}"#)
        let some = contents(["b": 1, "a": 2], .fetched)
        let edited = some.replacing(with: ["a": 2, "c": 3], schema: schema)
        #expect(edited.values == ["a": 2, "c": 3])
        #expect(edited.origins == ["a": "fetched", "c": "launch"])
        #expect(some.replacing(with: ["a": 2, "b": 1], schema: schema) == some)
        #expect(edited.setting("b", to: 1, schema: schema).ordered(by: schema).names == schema.keys)
    }

    @Test(
        arguments: [
            (#"{"a":2}"#, nil), (#"{"a":"x"}"#, "wrong-type"), (#"{"a":6}"#, "out-of-range"),
            (#"{"z":1}"#, "unknown-config-key"), (#"{"b":1}"#, "source-not-allowed"),
            (#"{"a":null}"#, "wrong-type"),
        ] as [(String, String?)])
    func checksAgainstTheSchema(_ text: String, _ wanted: String?) throws {
        let schema = try schema(
            #"{"a":{"type":"integer","maximum":5},"b":{"type":"integer","setBy":["launch"]}}"#)
        let values = try #require(try JSONValue(parsing: text).object)
        #expect(code { try contents(values).requireAllowed(by: schema) } == wanted)
    }

    @Test func showsOnlyHarmlessPublicValues() throws {
        let schema = try schema(
            #"{"a":{"type":"string","visibility":"public"},"b":{"type":"string"}}"#)
        let open = try #require(schema.rule(named: "a"))
        #expect(open.allowsShowing("orders.example.com"))
        #expect(!open.allowsShowing("3q2+7wABAgMEBQYHCAkKCwwNDg8Q/v3t7s7Zr4q1Xpc="))
        #expect(!open.allowsShowing(1))
        #expect(try #require(schema.rule(named: "b")).allowsShowing("x") == false)
    }
}

/// The differences between two dumps.
@Suite struct DumpDiffTests {
    @Test func tellsEachKindOfChange() {
        var before = contents(["same": 1, "gone": 1, "value": 1, "moved": 1, "both": 1])
        var after = contents(["new": 1, "value": 2, "same": 1])
        after["moved"] = .init(1, from: .fetched)
        after["both"] = .init(2, from: .fetched)
        let changes = DumpDiff(from: before, to: after).changes
        #expect(changes.map(\.name) == ["gone", "value", "moved", "both", "new"])
        #expect(changes.map(\.kind) == [.removed, .changed, .origin, .changed, .added])
        #expect(DumpDiff(from: before, to: before).isEmpty)
        before["gone"] = nil
        #expect(DumpDiff(from: DumpContents(), to: before).changes.allSatisfy { $0.kind == .added })
    }

    @Test func comparesByBytesAndText() {
        #expect(!DumpDiff(from: contents(["a": "\u{e9}"]), to: contents(["a": "e\u{301}"])).isEmpty)
        #expect(!DumpDiff(from: contents(["a": 1]), to: contents(["a": onePointZero])).isEmpty)
        #expect(
            DumpDiff(from: contents(["a": 1, "b": 2]), to: contents(["b": 2, "a": 1])).isEmpty)
    }
}

/// Three-way merges of dumps.
@Suite struct DumpMergeTests {
    let base = contents(["a": 1, "b": 1, "c": 1])

    /// Every combination of a key's values in the ancestor and on both sides: nil, or a value.
    @Test func everyCaseOfOneKey() {
        let states: [JSONValue?] = [nil, 1, 2, 3]
        func one(_ value: JSONValue?) -> DumpContents { contents(value.map { ["k": $0] } ?? [:]) }
        for old in states {
            for our in states {
                for their in states {
                    let merge = DumpMerge(base: one(old), ours: one(our), theirs: one(their))
                    if our == their || their == old {
                        #expect(merge.conflicts.isEmpty && merge.merged == one(our))
                    } else if our == old {
                        #expect(merge.conflicts.isEmpty && merge.merged == one(their))
                    } else {
                        #expect(merge.conflicts.map(\.name) == ["k"] && merge.merged == one(our))
                    }
                    // With the sides swapped, the conflicts and the merged values are the same.
                    let turned = DumpMerge(base: one(old), ours: one(their), theirs: one(our))
                    #expect(turned.conflicts.isEmpty == merge.conflicts.isEmpty)
                    #expect(!merge.conflicts.isEmpty || turned.merged == merge.merged)
                }
            }
        }
    }

    @Test func mergesTheChangesInOurOrder() {
        var ours = base
        ours["a"] = .init(2, from: .launch)
        ours["x"] = .init(1, from: .launch)
        var theirs = base
        theirs["b"] = nil
        theirs["y"] = .init(1, from: .fetched)
        let merge = DumpMerge(base: base, ours: ours, theirs: theirs)
        #expect(merge.conflicts.isEmpty)
        #expect(merge.merged.names == ["a", "c", "x", "y"])
        #expect(
            merge.merged["a"] == .init(2, from: .launch)
                && merge.merged["y"] == .init(1, from: .fetched))
    }

    @Test func originsAreMergedWithTheirValues() {
        var ours = base
        ours["a"] = .init(1, from: .launch)
        #expect(DumpMerge(base: base, ours: ours, theirs: base).merged == ours)
        #expect(DumpMerge(base: base, ours: base, theirs: ours).merged == ours)
        var theirs = base
        theirs["a"] = .init(1, from: .fetched)
        #expect(
            DumpMerge(base: base, ours: ours, theirs: theirs).conflicts.map(\.words)
                == [#""a": given another origin on both sides, differently"#])
    }

    @Test func namesConflictsAndNoValue() {
        var ours = base
        ours["a"] = .init("ZZZZZZours", from: .defaults)
        ours["b"] = nil
        ours["n"] = .init("ZZZZZZnew", from: .defaults)
        var theirs = base
        theirs["a"] = .init("ZZZZZZtheirs", from: .defaults)
        theirs["b"] = .init("ZZZZZZtheirs", from: .defaults)
        theirs["n"] = .init("ZZZZZZother", from: .defaults)
        let words = DumpMerge(base: base, ours: ours, theirs: theirs).conflicts.map(\.words)
        #expect(
            words.sorted() == [
                #""a": changed on both sides, differently"#,
                #""b": removed by ours, changed by theirs"#,
                #""n": added on both sides, differently"#,
            ])
    }

    @Test func withoutAnAncestorOnlyEqualKeysMeet() {
        let ours = contents(["a": 1, "b": 1])
        let theirs = contents(["b": 1, "c": 1])
        let merge = DumpMerge(base: DumpContents(), ours: ours, theirs: theirs)
        #expect(merge.conflicts.isEmpty && merge.merged == contents(["a": 1, "b": 1, "c": 1]))
        let clash = DumpMerge(base: DumpContents(), ours: ours, theirs: contents(["a": 2]))
        #expect(clash.conflicts.map(\.name) == ["a"])
    }

    @Test func resolvesAsAsked() {
        var ours = base
        ours["a"] = .init(2, from: .defaults)
        ours["b"] = .init(2, from: .defaults)
        var theirs = base
        theirs["a"] = .init(3, from: .defaults)
        theirs["c"] = nil
        let theirsWin = DumpMerge(base: base, ours: ours, theirs: theirs) { $1 ? .theirs : nil }
        #expect(theirsWin.conflicts.isEmpty)
        #expect(theirsWin.merged.values == ["a": 3, "b": 2])
        let oursWin = DumpMerge(base: base, ours: ours, theirs: theirs) { $1 ? .ours : nil }
        #expect(oursWin.merged.values == ["a": 2, "b": 2])
        // A requested side wins even without a conflict.
        let taken = DumpMerge(base: base, ours: ours, theirs: theirs) { name, _ in
            ["b": .theirs, "c": .ours, "a": .ours][name]
        }
        #expect(taken.merged.values == ["a": 2, "b": 1, "c": 1])
    }
}

/// Fingerprints that show whether a secret value changed.
@Suite struct ValueFingerprintTests {
    private func fingerprint(
        _ value: JSONValue, _ name: String = "token", root: UInt8 = 0x5a,
        binding: VersionBinding = shop
    ) throws -> String {
        let keys = try keySet(root: [UInt8](repeating: root, count: 32))
        return try ValueFingerprint(
            of: shopDump(binding, keys: keys), with: .keys(keys), now: noon
        ).text(of: value, named: name)
    }

    @Test func isOfAppRootKeyAndValueAlone() throws {
        let one = try fingerprint("ZZZZZZcanaryZZZZZZ")
        #expect(one.utf8.count == 16 && one.allSatisfy(\.isHexDigit))
        #expect(try fingerprint("ZZZZZZcanaryZZZZZZ") == one)
        let later = VersionBinding(app: "com.example.shop", version: "2", systemVersion: "9")
        #expect(try fingerprint("ZZZZZZcanaryZZZZZZ", binding: later) == one)
        let others = [
            try fingerprint("ZZZZZZcanaryZy"), try fingerprint("ZZZZZZcanaryZZZZZZ", "other"),
            try fingerprint("ZZZZZZcanaryZZZZZZ", root: 0x5b),
            try fingerprint(
                "ZZZZZZcanaryZZZZZZ", binding: VersionBinding(app: "com.example", version: "1.4.2")),
        ]
        #expect(Set(others + [one]).count == 5)
        // Neither the name nor the value runs into the other.
        #expect(try fingerprint(1, "a") != fingerprint("1", "a"))
    }

    @Test func needsTheRoot() throws {
        let dump = try shopDump()
        let other = VaultKeys.keys(try keySet("other"))
        #expect(
            code { _ = try ValueFingerprint(of: dump, with: other, now: noon) } == "unknown-key")
        let revoked = VaultKeys.keys(try keySet(more: ["revoked": true]))
        #expect(
            code { _ = try ValueFingerprint(of: dump, with: revoked, now: noon) } == "key-revoked")
    }

    @Test func underAPassphraseItIsTheSameInEveryDump() throws {
        let words: [UInt8] = Array("a long passphrase of words".utf8)
        let keys = VaultKeys.passphrase(Passphrase(copying: words.span))
        let texts = try (1...2).map { _ in
            let root = try keys.root(sealingAs: nil, at: 0)
            let dump = try SealedDump(
                tail: DumpContents().sealedTail, sequence: 1, with: root, for: shop, now: noon,
                salt: SealedDump.newSalt())
            return try ValueFingerprint(of: dump, with: keys, now: noon).text(of: 1, named: "a")
        }
        #expect(texts[0] == texts[1])
    }
}
