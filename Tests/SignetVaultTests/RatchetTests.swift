import Foundation
import SignetBase
import SignetCrypto
import SignetJSON
import TestSupport
import Testing

@testable import SignetVault

/// Upgrades to a root that is derived from the current one, which is then removed.
@Suite struct RatchetTests {
    static let root = [UInt8](repeating: 0x5a, count: 32)
    static let others = #"{"kid":"other","kty":"oct","use":"sig","alg":"HS256","k":"c2VjcmV0"}"#
    /// A set with a root, and keys of other programs.
    static let set = """
        { "x-note" : "kept",
          "keys" : [ {"kty":"oct","kid":"vault-2026","use":"enc","k":"\(Base64.encode(root, as: .url))",
                      "x-member" : [1.0]},
                     \(others) ] }

        """

    let folder: TemporaryDirectory
    let next = VersionBinding(app: "com.example.shop", version: "1.5.0", systemVersion: "0.1.0")

    init() throws {
        folder = try TemporaryDirectory()
        try FileManager.default.createDirectory(
            atPath: folder.path("dumps"), withIntermediateDirectories: false)
        try folder.write(Self.set, to: "keys")
        _ = try file.seal(
            shopConfiguration(), with: keys, keyID: "vault-2026", for: shop, now: noon)
    }

    var keysPath: String { folder.path("keys") }
    var keys: VaultKeys { get throws { .keys(try KeySource(keysPath).load()) } }
    var file: DumpFile { DumpFile(folder.path("dumps/dump")) }
    var guarded: DumpFile { DumpFile(folder.path("dumps/dump"), state: folder.path("state")) }

    @discardableResult
    func ratchet(
        _ file: DumpFile? = nil, to binding: VersionBinding? = nil, keyID: String? = nil,
        lockingOutOthers: Bool = false
    ) throws -> (dump: OpenedDump, forgotten: String) {
        try (file ?? self.file).ratchet(
            keyFile: keysPath, from: shop, to: binding ?? next, keyID: keyID,
            lockingOutOthers: lockingOutOthers, now: noon)
    }

    /// The next root as its description says, made by other means.
    func nextRoot(_ id: String = "vault-2026+1", version: String = "1.5.0") throws -> [UInt8] {
        let pseudorandomKey = try HKDF.extract(salt: [UInt8]().span, inputKey: Self.root.span)
        var info = Array("signet1 ratchet\0".utf8)
        for part in ["vault-2026", id, "com.example.shop", version, "signet", "0.1.0"] {
            info += [0, 0, 0, UInt8(part.utf8.count)] + Array(part.utf8)
        }
        let root = try HKDF.expand(
            pseudorandomKey: pseudorandomKey.bytes, info: info.span, count: 32)
        return (0..<32).map { root.bytes[$0] }
    }

    // MARK: - What works

    @Test func theNextRootReplacesTheOldOne() throws {
        let old = try folder.read("dumps/dump")
        let done = try ratchet()
        #expect(done.forgotten == "vault-2026" && done.dump.keyID == "vault-2026+1")
        #expect(done.dump.sequence == 2 && done.dump.binding == next)
        #expect(done.dump.values == (try shopConfiguration().values))
        let set = try KeySource(keysPath).load()
        #expect(set.keys.map(\.id) == ["vault-2026+1", "other"])
        let root = try nextRoot()
        #expect(try set.key(id: "vault-2026+1").isVaultRoot(root.span))
        #expect(try file.open(with: keys, for: next, now: noon).sequence == 2)
        // The rest of the key file is as it was.
        let text = String(decoding: try folder.read("keys"), as: UTF8.self)
        #expect(
            text
                == Self.set.replacing(
                    Base64.encode(Self.root, as: .url), with: Base64.encode(root, as: .url)
                )
                .replacing("\"vault-2026\"", with: "\"vault-2026+1\""))
        let mode = try FileManager.default.attributesOfItem(atPath: keysPath)
        #expect(mode[.posixPermissions] as? Int == 0o600)
        // The machine that was upgraded opens no older dump.
        try folder.write(old, to: "dumps/dump")
        #expect(code { _ = try file.open(with: keys, for: shop, now: noon) } == "unknown-key")
        #expect(
            code {
                _ = try file.open(with: keys, for: next, accepting: ["1.4.2"], now: noon)
            } == "unknown-key")
        #expect(code { _ = try SealedDump(parsing: old).exportKey(with: keys) } == "unknown-key")
        #expect(try folder.contents() == ["dumps", "keys"])
    }

    @Test func idsCountOn() throws {
        try ratchet()
        let later = VersionBinding(
            app: "com.example.shop", version: "1.6.0", systemVersion: "0.1.0")
        let done = try file.ratchet(keyFile: keysPath, from: next, to: later, now: noon)
        #expect(done.dump.keyID == "vault-2026+2" && done.forgotten == "vault-2026+1")
        for (id, wanted) in [
            ("a", "a+1"), ("a+1", "a+2"), ("a+9", "a+10"), ("a+0", "a+0+1"), ("a+01", "a+01+1"),
            ("a+", "a++1"), ("+1", "+2"), ("a+b", "a+b+1"), ("a+1+1", "a+1+2"), ("1", "1+1"),
            ("a+4294967295", "a+4294967295+1"), ("a+-1", "a+-1+1"), ("a+１", "a+１+1"),
        ] {
            #expect(Ratchet.id(after: id) == wanted)
        }
    }

    @Test func anIDMayBeNamed() throws {
        #expect(try ratchet(keyID: "vault-2027").dump.keyID == "vault-2027")
        let root = try nextRoot("vault-2027")
        #expect(try KeySource(keysPath).load().key(id: "vault-2027").isVaultRoot(root.span))
    }

    @Test func theStateGoesOver() throws {
        _ = try guarded.open(with: keys, for: shop, now: noon)
        let old = try folder.read("dumps/dump")
        #expect(try ratchet(guarded).dump.rollback?.highestSeen == 1)
        let opened = try guarded.open(with: keys, for: next, now: noon)
        #expect(opened.rollback == RollbackCheck(sequence: 2, highestSeen: 2))
        try folder.write(old, to: "dumps/dump")
        #expect(code { _ = try guarded.open(with: keys, for: shop, now: noon) } == "unknown-key")
    }

    /// Each pair of key file and dump that a kill can leave: the dump opens, and the same call
    /// again ends in the same place.
    @Test(arguments: [nil, "vault-2027"] as [String?])
    func aKillAnywhereIsMadeGood(_ keyID: String?) throws {
        let oldDump = try folder.read("dumps/dump")
        _ = try guarded.open(with: keys, for: shop, now: noon)
        let oldState = try folder.read("state")
        let id = keyID ?? "vault-2026+1"
        let root = try nextRoot(id)
        var locked = try LockedKeyFile(keysPath)
        try locked.add(root: root.span, as: id, beside: "vault-2026")
        _ = consume locked
        let bothKeys = try folder.read("keys")
        let roots = try ["vault-2026", id].map { try keys.root(named: $0, scheme: .root) }
        try StateFile(path: folder.path("state")).update(authenticatedBy: roots) {
            state throws(VaultError) in try state.seal(under: roots)
        }
        let bothState = try folder.read("state")
        try ratchet(guarded, keyID: keyID)
        let newDump = try folder.read("dumps/dump")
        let (lastKeys, lastState) = (try folder.read("keys"), try folder.read("state"))
        for (keyFile, dump, state, binding) in [
            (Array(Self.set.utf8), oldDump, oldState, shop), (bothKeys, oldDump, oldState, shop),
            (bothKeys, oldDump, bothState, shop), (bothKeys, newDump, bothState, next),
            (bothKeys, newDump, lastState, next),
        ] {
            try folder.write(keyFile, to: "keys")
            try folder.write(dump, to: "dumps/dump")
            try folder.write(state, to: "state")
            _ = try guarded.open(with: keys, for: binding, now: noon)
            try folder.write(state, to: "state")
            let done = try ratchet(guarded, keyID: keyID)
            #expect(done.forgotten == "vault-2026" && done.dump.keyID == id)
            #expect(done.dump.sequence == 2 && done.dump.binding == next)
            #expect(try folder.read("keys") == lastKeys)
            let last = try #require(SequenceState(parsing: folder.read("state")))
            #expect(last.seals.map(\.keyID) == [id] && last.highestSequence(of: next) == 2)
            #expect(try guarded.open(with: keys, for: next, now: noon).sequence == 2)
        }
        // A repeated run changes nothing, and removes no root by mistake.
        #expect(code { try ratchet(guarded, keyID: keyID) } == "newer-version")
        #expect(try folder.read("keys") == lastKeys)
    }

    // MARK: - What is refused

    @Test func otherDumpsUnderTheRootAreNamed() throws {
        _ = try DumpFile(folder.path("dumps/second")).seal(
            shopConfiguration(), with: keys, keyID: "vault-2026", for: shop, now: noon)
        try folder.write(try folder.read("dumps/dump"), to: "dumps/.backup")
        // These are not dumps of that root.
        try folder.write("eyJ", to: "dumps/broken")
        try folder.write(try folder.read("dumps/dump"), to: "dumps/.dump.signet-0.tmp")
        try folder.write(
            shopConfiguration().seal(
                with: keySet("another").key(id: "another"), for: shop, now: noon
            ).bytes, to: "dumps/another")
        let before = try folder.read("keys")
        let refusal = error { try ratchet() }
        #expect(refusal?.code == .locksOutOthers && refusal?.code.class == .usage)
        #expect(refusal?.message.contains(".backup, second;") == true, "\(refusal?.message ?? "")")
        #expect(try folder.read("keys") == before)
        #expect(try file.open(with: keys, for: shop, now: noon).sequence == 1)
        #expect(try ratchet(lockingOutOthers: true).dump.sequence == 2)
    }

    @Test func otherAppsOfTheStateAreNamed() throws {
        let other = VersionBinding(app: "com.example.other", version: "1")
        _ = try DumpFile(folder.path("other"), state: folder.path("state")).seal(
            shopConfiguration(), with: keys, keyID: "vault-2026", for: other, now: noon)
        let refusal = error { try ratchet(guarded) }
        #expect(refusal?.code == .locksOutOthers)
        #expect(refusal?.message.contains("the app \"com.example.other\"") == true)
        #expect(try ratchet(guarded, lockingOutOthers: true).dump.sequence == 2)
    }

    @Test func aFailedRatchetChangesNothing() throws {
        let (dump, set) = (try folder.read("dumps/dump"), try folder.read("keys"))
        let older = VersionBinding(
            app: "com.example.shop", version: "1.4.1", systemVersion: "0.1.0")
        #expect(code { try ratchet(to: shop) } == "malformed-input")
        #expect(code { try ratchet(keyID: "vault-2026") } == "malformed-input")
        #expect(code { try ratchet(keyID: "") } == "malformed-input")
        #expect(code { try ratchet(keyID: "a\n") } == "malformed-input")
        #expect(code { try ratchet(keyID: "other") } == "malformed-input")
        #expect(
            code { try ratchet(to: .init(app: "com.example.shop", version: "")) }
                == "malformed-input")
        #expect(
            code { try file.ratchet(keyFile: keysPath, from: older, to: next, now: noon) }
                == "newer-version")
        #expect(
            code {
                try DumpFile(folder.path("none")).ratchet(
                    keyFile: keysPath, from: shop, to: next, now: noon)
            } == "unreadable-file")
        #expect(try folder.read("dumps/dump") == dump)
        #expect(try folder.read("keys") == set)
        #expect(try folder.contents() == ["dumps", "keys"])
    }

    @Test func keysThatDoNotServeAreNamed() throws {
        let set = Self.set
        for (text, wanted) in [
            (set.replacing(#""use":"enc""#, with: #""use":"enc","revoked":true"#), "key-revoked"),
            (set.replacing(#""use":"enc""#, with: #""use":"enc","exp":1"#), "key-expired"),
            (set.replacing("vault-2026", with: "vault-2025"), "unknown-key"),
            (set.replacing("Wlpa", with: "WlpX"), "wrong-key"),
            (set.replacing(#""use":"enc""#, with: #""use":"sig","alg":"HS256""#), "wrong-key-use"),
            ("{}", "malformed-keys"),
        ] {
            try folder.write(text, to: "keys")
            #expect(code { try ratchet() } == wanted)
            #expect(try folder.read("keys") == Array(text.utf8))
        }
        try folder.write(set, to: "keys", mode: 0o640)
        #expect(code { try ratchet() } == "key-file-permissions")
        for path in [folder.path("none"), folder.path("dumps")] {
            #expect(
                code { try file.ratchet(keyFile: path, from: shop, to: next, now: noon) } != nil)
        }
        try folder.write(set, to: "keys")
        let phrase = VaultKeys.passphrase(Passphrase(copying: Array("correct horse".utf8).span))
        _ = try file.seal(shopConfiguration(), with: phrase, for: shop, now: noon)
        #expect(code { try ratchet() } == "unknown-key")
    }

    /// A root of that id that was made for other versions is another key.
    @Test func aRootOfAnotherUpgradeIsNotUsed() throws {
        let root = try nextRoot(version: "1.6.0")
        var locked = try LockedKeyFile(keysPath)
        try locked.add(root: root.span, as: "vault-2026+1", beside: "vault-2026")
        #expect(throws: KeyError.self) {
            try locked.add(root: Self.root.span, as: "vault-2026+1", beside: "vault-2026")
        }
        _ = consume locked
        let refusal = error { try ratchet() }
        #expect(refusal?.code == .malformedInput)
        #expect(refusal?.message.contains("another key with the id \"vault-2026+1\"") == true)
        #expect(try ratchet(keyID: "vault-2026+1b").dump.sequence == 2)
    }

    @Test func theNextRootIsBoundToItsUse() throws {
        let root = try keys.root(named: "vault-2026", scheme: .root)
        var seen: Set<[UInt8]> = [Self.root]
        for (id, binding) in [
            ("a", next), ("b", next), ("a", shop),
            ("a", .init(app: "com.example.other", version: "1.5.0", systemVersion: "0.1.0")),
            ("a", .init(app: "com.example.shop", version: "1.5.0", systemVersion: "0.1.1")),
            ("a", .init(app: next.app, system: .init(id: "other", version: "0.1.0"))),
            ("a", .init(app: "com.example.shop1", version: ".5.0", systemVersion: "0.1.0")),
        ] {
            let made = try Ratchet.root(after: root, as: id, for: binding)
            #expect(seen.insert((0..<32).map { made.bytes[$0] }).inserted)
        }
    }
}
