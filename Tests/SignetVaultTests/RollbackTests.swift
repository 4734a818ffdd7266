import Foundation
import SignetBase
import SignetCrypto
import SignetJSON
import TestSupport
import Testing

@testable import SignetVault

/// The state file, which keeps the highest sequences seen.
@Suite struct RollbackTests {
    let folder: TemporaryDirectory
    let keys: VaultKeys

    init() throws {
        folder = try TemporaryDirectory()
        keys = .keys(try keySet())
    }

    var statePath: String { folder.path("state") }

    func file(_ name: String = "dump", _ rollback: RollbackPolicy = .refuse) -> DumpFile {
        DumpFile(folder.path(name), state: statePath, rollback: rollback)
    }

    @discardableResult
    func seal(
        _ name: String = "dump", _ binding: VersionBinding = shop, with keys: VaultKeys? = nil
    ) throws -> OpenedDump {
        try file(name).seal(
            shopConfiguration(), with: keys ?? self.keys, for: binding, now: noon)
    }

    /// The code with which the dump is refused, or nil if it opens.
    func refusal(with keys: VaultKeys? = nil, _ rollback: RollbackPolicy = .refuse) -> String? {
        code { _ = try file("dump", rollback).open(with: keys ?? self.keys, for: shop, now: noon) }
    }

    // MARK: - What is noticed

    @Test func reportsTheFirstUseAndKeepsTheMaximum() throws {
        let first = try seal()
        #expect(first.rollback?.isFirstUse == true && first.rollback?.isRolledBack == false)
        let attributes = try FileManager.default.attributesOfItem(atPath: statePath)
        #expect(attributes[.posixPermissions] as? Int == 0o600)
        let opened = try file().open(with: keys, for: shop, now: noon)
        #expect(opened.rollback == RollbackCheck(sequence: 1, highestSeen: 1))
        #expect(opened.rollback?.isFirstUse == false)
        let second = try seal()
        #expect(second.sequence == 2 && second.rollback?.highestSeen == 1)
        #expect(try folder.contents() == ["dump", "state"])
        let plain = try DumpFile(folder.path("dump")).open(with: keys, for: shop, now: noon)
        #expect(plain.rollback == nil)
    }

    @Test func anOlderDumpIsRefusedWithBothSequences() throws {
        try seal()
        let old = try folder.read("dump")
        for _ in 0..<3 { try seal() }
        let new = try folder.read("dump")
        let state = try folder.read("state")
        try folder.write(old, to: "dump")
        let refusal = error { _ = try file().open(with: keys, for: shop, now: noon) }
        #expect(refusal?.code == .rolledBack && refusal?.code.class == .checkFailed)
        #expect(refusal?.message.contains("sequence 1") == true)
        #expect(refusal?.message.contains("4 was seen") == true)
        // If it is accepted, it opens, and the highest sequence seen stays.
        for _ in 0..<2 {
            let opened = try file("dump", .report).open(with: keys, for: shop, now: noon)
            #expect(opened.rollback == RollbackCheck(sequence: 1, highestSeen: 4))
            #expect(opened.rollback?.isRolledBack == true)
            #expect(try folder.read("state") == state)
        }
        try folder.write(new, to: "dump")
        #expect(self.refusal() == nil)
    }

    @Test func everyChangeRefusesAnOlderDump() throws {
        try seal()
        let old = try folder.read("dump")
        try seal()
        try folder.write(old, to: "dump")
        let next = VersionBinding(app: "com.example.shop", version: "1.5.0", systemVersion: "0.1.0")
        let other = VaultKeys.keys(try keySet("v2"))
        #expect(
            code { try file().rebind(with: keys, from: shop, to: next, now: noon) }
                == "rolled-back")
        #expect(
            code { try file().update(with: keys, for: shop, now: noon) { _ in nil } }
                == "rolled-back")
        #expect(
            code { try file().rekey(with: keys, to: other, for: shop, now: noon) } == "rolled-back")
        #expect(try folder.read("dump") == old)
        // Accepted, the next sequence is above all that was seen.
        let rebound = try file("dump", .report).rebind(
            with: keys, from: shop, to: next, now: noon)
        #expect(rebound.sequence == 3)
        #expect(rebound.rollback == RollbackCheck(sequence: 1, highestSeen: 2))
    }

    @Test func sealingContinuesTheSequenceSeen() throws {
        for _ in 0..<3 { try seal() }
        try FileManager.default.removeItem(atPath: folder.path("dump"))
        #expect(try seal().sequence == 4)
        try folder.write("eyJ0eXAi", to: "dump")
        #expect(try seal().sequence == 5)
        // The state belongs to the app, for all versions.
        #expect(
            try seal("dump", .init(app: "com.example.shop", version: "9", systemVersion: "7"))
                .sequence == 6)
        #expect(try seal("dump", .init(app: "com.example.other", version: "1")).sequence == 1)
    }

    @Test func aDumpNewerThanTheStateOpens() throws {
        try seal()
        let state = try folder.read("state")
        try seal()
        // Killed between the dump and the state.
        try folder.write(state, to: "state")
        let opened = try file().open(with: keys, for: shop, now: noon)
        #expect(opened.rollback == RollbackCheck(sequence: 2, highestSeen: 1))
        #expect(try file().open(with: keys, for: shop, now: noon).rollback?.highestSeen == 2)
    }

    @Test func twoAppsOfOneRootShareTheFile() throws {
        let other = VersionBinding(app: "com.example.other", version: "1")
        try seal()
        try seal()
        #expect(try seal("other", other).rollback?.isFirstUse == true)
        #expect(try file("other").open(with: keys, for: other, now: noon).sequence == 1)
        #expect(try file().open(with: keys, for: shop, now: noon).rollback?.highestSeen == 2)
    }

    @Test func aCheckThatRecordsNothingWritesNothing() throws {
        try DumpFile(folder.path("dump")).seal(
            shopConfiguration(), with: keys, for: shop, now: noon)
        let opened = try DumpFile(folder.path("dump")).open(with: keys, for: shop, now: noon)
        let checked = try file().checked(opened, with: keys, recording: false)
        #expect(checked.rollback?.isFirstUse == true)
        #expect(try folder.contents() == ["dump"])
    }

    @Test func aPassphraseVouchesToo() throws {
        let passphrase = Passphrase(copying: Array("correct horse".utf8).span)
        let keys = VaultKeys.passphrase(passphrase)
        try seal("dump", shop, with: keys)
        #expect(refusal(with: keys) == nil)
        let state = String(decoding: try folder.read("state"), as: UTF8.self)
        #expect(state.contains(#""kid":"signet1p."#))
        try folder.write(state.replacing(#""sequence":1"#, with: #""sequence":2"#), to: "state")
        #expect(refusal(with: keys) == "state-tampered")
    }

    @Test func manyProcessesNoteTheHighest() async throws {
        for _ in 0..<8 { try seal() }
        let dump = try folder.read("dump")
        let first = SequenceState()
        try await withThrowingTaskGroup(of: Void.self) { group in
            for sequence in Int64(1)...8 {
                group.addTask {
                    let state = StateFile(path: folder.path("shared"))
                    let root = try keys.root(sealingAs: nil, at: 0)
                    try state.update(authenticatedBy: [root]) { state throws(VaultError) in
                        try state.record(sequence, of: shop)
                        try state.seal(under: [root])
                    }
                }
            }
            try await group.waitForAll()
        }
        let root = try keys.root(sealingAs: nil, at: 0)
        let shared = try StateFile(path: folder.path("shared")).read(authenticatedBy: [root])
        #expect(shared?.highestSequence(of: shop) == 8 && first.highestSequence(of: shop) == nil)
        #expect(try folder.read("dump") == dump)
    }

    // MARK: - What is refused

    @Test func everyFlippedBitOfTheStateIsNoticed() throws {
        try seal()
        let bytes = try folder.read("state")
        let root = try keys.root(sealingAs: nil, at: 0)
        for bit in 0..<bytes.count * 8 {
            var changed = bytes
            changed[bit / 8] ^= 1 << UInt8(bit % 8)
            let state = SequenceState(parsing: changed)
            #expect(try state?.isAuthenticated(by: root) != true, "bit \(bit)")
            // One bit of each byte also in the file.
            guard bit % 9 == 0 else { continue }
            try folder.write(changed, to: "state")
            #expect(refusal() == "state-tampered", "bit \(bit)")
        }
        try folder.write(bytes, to: "state")
        #expect(refusal() == nil)
    }

    @Test func everyBeginningOfTheStateIsNoticed() throws {
        try seal()
        let state = try folder.read("state")
        for count in 0..<state.count {
            try folder.write(Array(state[..<count]), to: "state")
            #expect(refusal() == "state-tampered", "\(count) bytes")
        }
        for more in ["\n", " ", "{}", "\0"] {
            try folder.write(state + Array(more.utf8), to: "state")
            #expect(refusal() == "state-tampered")
        }
        try folder.write([UInt8](repeating: 0x20, count: SequenceState.sizeLimit + 1), to: "state")
        #expect(refusal() == "state-tampered")
    }

    @Test func aStateOfAnotherRootProvesNothing() throws {
        try seal()
        // The same id, another root; and another id, which the same root would not fit either.
        for other in [
            try keySet(root: [UInt8](repeating: 1, count: 32)), try keySet("vault-2027"),
        ] {
            let other = VaultKeys.keys(other)
            try DumpFile(folder.path("dump")).seal(
                shopConfiguration(), with: other, for: shop, now: noon)
            let refusal = error { _ = try file().open(with: other, for: shop, now: noon) }
            #expect(refusal?.code == .stateTampered && refusal?.code.class == .checkFailed)
            #expect(refusal?.message.contains(statePath) == true)
            #expect(refusal?.message.contains("remove this file") == true)
            #expect(code { try seal("dump", shop, with: other) } == "state-tampered")
            #expect(self.refusal(with: other, .report) == "state-tampered")
        }
    }

    @Test func theErrorNamesEachIDOnce() throws {
        try seal()
        let others = try [1, 2].map { byte in
            try VaultKeys.keys(keySet(root: [UInt8](repeating: byte, count: 32)))
                .root(sealingAs: nil, at: 0)
        }
        let third = try VaultKeys.keys(keySet("vault-2027")).root(sealingAs: nil, at: 0)
        let state = StateFile(path: statePath)
        let same = error { _ = try state.read(authenticatedBy: others) }
        #expect(same?.code == .stateTampered)
        #expect(
            same?.message.contains("than \"\(others[0].id)\";") == true, "\(same?.message ?? "")")
        let two = error { _ = try state.read(authenticatedBy: others + [third]) }
        #expect(
            two?.message.contains("than \"\(others[0].id)\" or \"vault-2027\";") == true,
            "\(two?.message ?? "")")
    }

    @Test func aDumpsOwnErrorsComeFirst() throws {
        try seal()
        try folder.write("{}", to: "state")
        let other = VaultKeys.keys(try keySet("vault-2027"))
        let next = VersionBinding(app: "com.example.shop", version: "9", systemVersion: "0.1.0")
        #expect(refusal(with: other) == "unknown-key")
        #expect(
            code { try file().rebind(with: other, from: shop, to: next, now: noon) }
                == "unknown-key")
        #expect(
            code { try file().rebind(with: keys, from: next, to: shop, now: noon) }
                == "older-version")
        #expect(
            code { try file().rebind(with: keys, from: shop, to: next, now: noon) }
                == "state-tampered")
        #expect(try folder.read("state") == Array("{}".utf8))
    }

    @Test func aStateThatCannotBeUsedIsNamed() throws {
        try seal()
        for (path, wanted) in [
            (folder.path, "unreadable-file"), (folder.path("none/state"), "unwritable-file"),
            (folder.path("dump"), "state-tampered"),
        ] {
            let file = DumpFile(folder.path("dump"), state: path)
            let refusal = error { _ = try file.open(with: keys, for: shop, now: noon) }
            #expect(refusal?.code.name == wanted && refusal?.message.contains(path) == true)
        }
        try FileManager.default.createSymbolicLink(
            atPath: folder.path("loose"), withDestinationPath: folder.path("nowhere"))
        let loose = DumpFile(folder.path("dump"), state: folder.path("loose"))
        #expect(
            code { _ = try loose.open(with: keys, for: shop, now: noon) } == "unwritable-file")
    }

    /// The bytes of entries and of MACs' names follow their lengths, so that no other split is
    /// possible.
    @Test func theMACIsAsDocumented() throws {
        try seal()
        try seal()
        let state = try #require(SequenceState(parsing: folder.read("state")))
        func lp(_ text: String) -> [UInt8] {
            [0, 0, 0, UInt8(text.utf8.count)] + Array(text.utf8)
        }
        let root = [UInt8](repeating: 0x5a, count: 32)
        let salt = state.seals[0].salt
        let pseudorandomKey = try HKDF.extract(salt: salt.span, inputKey: root.span)
        let info = Array("signet1 state\0".utf8) + lp("vault-2026")
        let key = try HKDF.expand(
            pseudorandomKey: pseudorandomKey.bytes, info: info.span, count: 32)
        let text: [UInt8] =
            [0, 0, 0, 0, 0, 0, 0, 1] + lp("com.example.shop") + lp("signet")
            + [0, 0, 0, 0, 0, 0, 0, 2]
        let mac = try HMAC.tag(of: text.span, key: key.bytes, using: .sha256)
        #expect(state.seals[0].mac == mac)
    }
}
