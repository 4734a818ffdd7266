import Foundation
import SignetCrypto
import SignetJSON
import TestSupport
import Testing

@testable import SignetVault

/// Dumps in files: writing, sequences and errors.
@Suite struct DumpFileTests {
    let folder: TemporaryDirectory
    let keys: KeySet

    init() throws {
        folder = try TemporaryDirectory()
        keys = try keySet()
    }

    func seal(
        _ name: String = "dump", _ binding: VersionBinding = shop, keys: KeySet? = nil
    ) throws -> Int64 {
        try DumpFile(folder.path(name)).seal(
            shopConfiguration(), with: .keys(keys ?? self.keys), keyID: "vault-2026",
            for: binding, now: noon
        ).sequence
    }

    @Test func writesThePlainStringWithMode0600() throws {
        #expect(try seal() == 1)
        let attributes = try FileManager.default.attributesOfItem(atPath: folder.path("dump"))
        #expect(attributes[.posixPermissions] as? Int == 0o600)
        let bytes = try folder.read("dump")
        #expect(bytes.count { $0 == UInt8(ascii: ".") } == 4 && bytes.last != 0x0a)
        #expect(try folder.contents() == ["dump"])
    }

    @Test func theSequenceContinuesForTheSameApp() throws {
        #expect(try seal() == 1)
        #expect(try seal() == 2)
        let next = VersionBinding(app: "com.example.shop", version: "1.5.0", systemVersion: "0.1.0")
        #expect(try seal("dump", next) == 3)
        #expect(try seal("dump", .init(app: "com.example.other", version: "1")) == 1)
        let other = try keySet(root: [UInt8](repeating: 1, count: 32))
        #expect(try seal("dump", keys: other) == 1)
        #expect(try seal() == 1)
        try folder.write("eyJ0eXAi", to: "dump")
        #expect(try seal() == 1)
        try folder.write("", to: "dump", mode: 0o644)
        #expect(try seal() == 1)
        let attributes = try FileManager.default.attributesOfItem(atPath: folder.path("dump"))
        #expect(attributes[.posixPermissions] as? Int == 0o600)
    }

    @Test func aFileThatIsNoDumpIsNotReplaced() throws {
        for junk in ["{\"keys\":[]}", "not a dump", "\n"] {
            try folder.write(junk, to: "dump")
            let refusal = error { _ = try seal() }
            #expect(refusal?.code == .malformedDump)
            #expect(refusal?.message.contains(folder.path("dump")) == true)
            #expect(try folder.read("dump") == Array(junk.utf8))
        }
        #expect(try folder.contents() == ["dump"])
    }

    @Test func aChangeSealsTheNextSequenceOrLeavesTheFile() throws {
        let file = DumpFile(folder.path("dump"))
        #expect(
            code { try file.update(with: .keys(keys), for: shop, now: noon) { _ in nil } }
                == "unreadable-file")
        _ = try seal()
        let before = try folder.read("dump")
        let left = try file.update(with: .keys(keys), for: shop, now: noon) { _ in nil }
        #expect(left.sequence == 1)
        #expect(try folder.read("dump") == before)
        let empty = try GlobalConfiguration(
            schema: shopConfiguration().schema, defaults: .none)
        let older = VersionBinding(app: "com.example.shop", version: "0.9", systemVersion: "0.1.0")
        let changed = try file.update(with: .keys(keys), for: shop, now: noon) { opened in
            #expect(opened.sequence == 1)
            return (DumpContents(empty), after: 0)
        }
        #expect(changed.sequence == 2)
        #expect(try file.open(with: .keys(keys), for: shop, now: noon).values.isEmpty)
        #expect(
            code {
                try file.update(with: .keys(keys), for: older, now: noon) { _ in nil }
            } == "newer-version")
    }

    @Test func aFailedWriteLeavesNoFile() throws {
        try FileManager.default.createDirectory(
            atPath: folder.path("folder"), withIntermediateDirectories: false)
        for name in ["folder", "none/dump", "folder/"] {
            let error = error { _ = try seal(name) }
            #expect(error?.code == .unwritableFile, "\(name)")
        }
        #expect(try folder.contents() == ["folder"])
        #expect(
            code {
                try DumpFile(folder.path("dump")).seal(
                    shopConfiguration(), with: .keys(keys), keyID: "other", for: shop)
            } == "unknown-key")
        #expect(try folder.contents() == ["folder"])
    }

    @Test func anErrorLeavesTheOldDump() throws {
        _ = try seal()
        let before = try folder.read("dump")
        #expect(code { _ = try seal("dump", .init(app: "", version: "1")) } == "malformed-input")
        let revoked = try keySet(more: ["revoked": true])
        #expect(code { _ = try seal("dump", keys: revoked) } == "key-revoked")
        #expect(try folder.read("dump") == before)
        #expect(try folder.contents() == ["dump"])
    }

    @Test func anUnreadableFileIsNamed() throws {
        for name in ["none", "."] {
            let error = error { _ = try SealedDump(contentsOf: folder.path(name)) }
            #expect(error?.code == .unreadableFile)
            #expect(error?.message.contains(folder.path) == true)
        }
        let empty = try folder.write("", to: "empty")
        #expect(code { _ = try SealedDump(contentsOf: empty) } == "malformed-dump")
    }
}
