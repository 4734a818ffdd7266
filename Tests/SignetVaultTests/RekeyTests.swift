import SignetCrypto
import SignetJSON
import TestSupport
import Testing

@testable import SignetVault

/// Sealing a dump under another root.
@Suite struct RekeyTests {
    let folder: TemporaryDirectory
    let old: VaultKeys
    let new: VaultKeys

    init() throws {
        folder = try TemporaryDirectory()
        old = .keys(try keySet())
        new = .keys(try keySet("vault-2027", root: [UInt8](repeating: 0x33, count: 32)))
        _ = try file.seal(shopConfiguration(), with: old, for: shop, now: noon)
    }

    var file: DumpFile { DumpFile(folder.path("dump")) }
    var guarded: DumpFile { DumpFile(folder.path("dump"), state: folder.path("state")) }

    @Test func aRootOfAnotherSetReplacesIt() throws {
        let before = try SealedDump(contentsOf: file.path)
        let opened = try file.rekey(with: old, to: new, for: shop, now: noon)
        #expect(opened.sequence == 2 && opened.keyID == "vault-2027")
        #expect(opened.values == (try shopConfiguration().values) && opened.isExactVersion)
        #expect(opened.dump.header.salt != before.header.salt)
        #expect(code { _ = try file.open(with: old, for: shop, now: noon) } == "unknown-key")
        #expect(try file.open(with: new, for: shop, now: noon).sequence == 2)
        #expect(try folder.contents() == ["dump"])
    }

    @Test func anotherRootWithTheSameIDReplacesIt() throws {
        let same = VaultKeys.keys(try keySet(root: [UInt8](repeating: 0x33, count: 32)))
        #expect(try file.rekey(with: old, to: same, for: shop, now: noon).sequence == 2)
        #expect(code { _ = try file.open(with: old, for: shop, now: noon) } == "wrong-key")
        #expect(try file.open(with: same, for: shop, now: noon).sequence == 2)
    }

    @Test func aPassphraseReplacesARootAndViceVersa() throws {
        let phrase = VaultKeys.passphrase(Passphrase(copying: Array("correct horse".utf8).span))
        let short = VaultKeys.passphrase(Passphrase(copying: Array("7 bytes".utf8).span))
        #expect(
            code { try file.rekey(with: old, to: short, for: shop, now: noon) }
                == "weak-passphrase")
        let sealed = try file.rekey(with: old, to: phrase, keyID: "safe", for: shop, now: noon)
        #expect(sealed.dump.isPassphraseSealed && sealed.keyID == "safe" && sealed.sequence == 2)
        #expect(try file.rekey(with: phrase, to: new, for: shop, now: noon).sequence == 3)
        #expect(try file.open(with: new, for: shop, now: noon).sequence == 3)
    }

    @Test func aDumpUnderTheNewRootStaysTheSame() throws {
        try file.rekey(with: old, to: new, for: shop, now: noon)
        let bytes = try folder.read("dump")
        for keys in [old, new] {
            #expect(try file.rekey(with: keys, to: new, for: shop, now: noon).sequence == 2)
            #expect(try folder.read("dump") == bytes)
        }
    }

    @Test func anEndedKeyNeedsTheOption() throws {
        for (more, wanted) in [
            (["revoked": true], "key-revoked"),
            (["exp": .number(JSONNumber(noon))], "key-expired"),
        ] as [(JSONObject, String)] {
            let ended = VaultKeys.keys(try keySet(more: more))
            _ = try file.seal(shopConfiguration(), with: old, for: shop, now: noon)
            let before = try folder.read("dump")
            #expect(code { try file.rekey(with: ended, to: new, for: shop, now: noon) } == wanted)
            #expect(try folder.read("dump") == before)
            // Sealing with such a key is always refused.
            let away = try file.rekey(
                with: ended, to: new, for: shop, acceptingEndedKey: true, now: noon)
            #expect(away.keyID == "vault-2027")
            for accepting in [false, true] {
                #expect(
                    code {
                        try file.rekey(
                            with: new, to: ended, for: shop, acceptingEndedKey: accepting,
                            now: noon)
                    } == wanted)
            }
        }
        let early = VaultKeys.keys(try keySet(more: ["nbf": .number(JSONNumber(noon + 1))]))
        _ = try file.seal(shopConfiguration(), with: old, for: shop, now: noon)
        #expect(
            code {
                try file.rekey(with: early, to: new, for: shop, acceptingEndedKey: true, now: noon)
            } == "key-not-yet-valid")
    }

    @Test func anUnopenedDumpIsNotRekeyed() throws {
        let before = try folder.read("dump")
        let other = VaultKeys.keys(try keySet(root: [UInt8](repeating: 1, count: 32)))
        let next = VersionBinding(app: "com.example.shop", version: "1.5.0", systemVersion: "0.1.0")
        let signing = VaultKeys.keys(
            try keySet("vault-2027", more: ["use": "sig", "alg": "HS256"]))
        for (keys, target, id, binding, wanted) in [
            (other, new, nil, shop, "wrong-key"), (new, other, nil, shop, "unknown-key"),
            (old, new, "none", shop, "unknown-key"), (old, new, nil, next, "older-version"),
            (old, signing, "vault-2027", shop, "wrong-key-use"),
            (old, signing, nil, shop, "unknown-key"),
        ] as [(VaultKeys, VaultKeys, String?, VersionBinding, String)] {
            #expect(
                code {
                    try file.rekey(with: keys, to: target, keyID: id, for: binding, now: noon)
                } == wanted)
            #expect(try folder.read("dump") == before)
        }
        #expect(
            code {
                try DumpFile(folder.path("none")).rekey(with: old, to: new, for: shop, now: noon)
            } == "unreadable-file")
    }

    // MARK: - With a state file

    @Test func theStateGoesOverToTheNewRoot() throws {
        _ = try guarded.open(with: old, for: shop, now: noon)
        let sealed = try guarded.rekey(with: old, to: new, for: shop, now: noon)
        #expect(sealed.rollback == RollbackCheck(sequence: 1, highestSeen: 1))
        let opened = try guarded.open(with: new, for: shop, now: noon)
        #expect(opened.rollback == RollbackCheck(sequence: 2, highestSeen: 2))
        let state = try #require(SequenceState(parsing: folder.read("state")))
        #expect(state.seals.map(\.keyID) == ["vault-2027"])
    }

    /// Each moment at which a kill can leave dump and state: either dump opens with its own keys,
    /// and the same command ends in the same place.
    @Test func aKillAnywhereLeavesTheStateReadable() throws {
        _ = try guarded.open(with: old, for: shop, now: noon)
        let (dump, state) = (try folder.read("dump"), try folder.read("state"))
        let roots = [try old.root(sealingAs: nil, at: 0), try new.root(sealingAs: nil, at: 0)]
        try StateFile(path: folder.path("state")).update(authenticatedBy: roots) {
            state throws(VaultError) in try state.seal(under: roots)
        }
        let both = try folder.read("state")
        #expect(try guarded.open(with: old, for: shop, now: noon).rollback?.highestSeen == 1)
        try guarded.rekey(with: old, to: new, for: shop, now: noon)
        let rekeyed = try folder.read("dump")
        for (dump, state, keys) in [(dump, state, old), (dump, both, old), (rekeyed, both, new)] {
            try folder.write(dump, to: "dump")
            try folder.write(state, to: "state")
            _ = try guarded.open(with: keys, for: shop, now: noon)
            try folder.write(state, to: "state")
            #expect(try guarded.rekey(with: old, to: new, for: shop, now: noon).sequence == 2)
            let opened = try guarded.open(with: new, for: shop, now: noon)
            #expect(opened.rollback == RollbackCheck(sequence: 2, highestSeen: 2))
            let last = try #require(SequenceState(parsing: folder.read("state")))
            #expect(last.seals.map(\.keyID) == ["vault-2027"])
        }
        // The old dump is older than the state under its own root no longer says.
        try folder.write(dump, to: "dump")
        #expect(code { _ = try guarded.open(with: old, for: shop, now: noon) } == "state-tampered")
    }

    @Test func sealingUnderAnotherRootKeepsTheState() throws {
        let first = try keySet()
        let set: JSONValue = [
            "keys": [
                [
                    "kty": "oct", "kid": "vault-2026", "use": "enc",
                    "k": .string(Base64.encode([UInt8](repeating: 0x5a, count: 32), as: .url)),
                ],
                [
                    "kty": "oct", "kid": "vault-2027", "use": "enc",
                    "k": .string(Base64.encode([UInt8](repeating: 0x33, count: 32), as: .url)),
                ],
            ]
        ]
        let both = VaultKeys.keys(try KeySet(parsing: set.serialized(), source: "test"))
        _ = try guarded.open(with: .keys(first), for: shop, now: noon)
        let sealed = try guarded.seal(
            shopConfiguration(), with: both, keyID: "vault-2027", for: shop, now: noon)
        #expect(sealed.sequence == 2 && sealed.rollback?.highestSeen == 1)
        #expect(try guarded.open(with: new, for: shop, now: noon).rollback?.highestSeen == 2)
    }

    @Test func anEndedKeyAuthenticatesTheStateIfAllowed() throws {
        _ = try guarded.open(with: old, for: shop, now: noon)
        let ended = VaultKeys.keys(try keySet(more: ["revoked": true]))
        #expect(
            code { try guarded.rekey(with: ended, to: new, for: shop, now: noon) } == "key-revoked")
        let away = try guarded.rekey(
            with: ended, to: new, for: shop, acceptingEndedKey: true, now: noon)
        #expect(away.rollback?.highestSeen == 1)
        #expect(try guarded.open(with: new, for: shop, now: noon).rollback?.highestSeen == 2)
    }
}
