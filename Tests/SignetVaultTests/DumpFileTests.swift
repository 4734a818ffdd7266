import Foundation
import SignetCrypto
import SignetJSON
import TestSupport
import Testing

@testable import SignetVault

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
        try shopConfiguration().seal(
            into: folder.path(name), keys: keys ?? self.keys, keyID: "vault-2026", for: binding,
            now: noon
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

    @Test func theSequenceGoesOnOverADumpOfTheSameApp() throws {
        #expect(try seal() == 1)
        #expect(try seal() == 2)
        let next = VersionBinding(app: "com.example.shop", version: "1.5.0", systemVersion: "0.1.0")
        #expect(try seal("dump", next) == 3)
        #expect(try seal("dump", .init(app: "com.example.other", version: "1")) == 1)
        let other = try keySet(root: [UInt8](repeating: 1, count: 32))
        #expect(try seal("dump", keys: other) == 1)
        #expect(try seal() == 1)
        try folder.write("not a dump", to: "dump")
        #expect(try seal() == 1)
        try folder.write("", to: "dump", mode: 0o644)
        #expect(try seal() == 1)
        let attributes = try FileManager.default.attributesOfItem(atPath: folder.path("dump"))
        #expect(attributes[.posixPermissions] as? Int == 0o600)
    }

    @Test func whatCannotBeWrittenLeavesNothing() throws {
        try FileManager.default.createDirectory(
            atPath: folder.path("folder"), withIntermediateDirectories: false)
        for name in ["folder", "none/dump", "folder/"] {
            let error = error { _ = try seal(name) }
            #expect(error?.code == .unwritableFile, "\(name)")
        }
        #expect(try folder.contents() == ["folder"])
        #expect(
            code {
                _ = try shopConfiguration().seal(
                    into: folder.path("dump"), keys: keys, keyID: "other", for: shop)
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

    @Test func whatCannotBeReadIsNamed() throws {
        for name in ["none", "."] {
            let error = error { _ = try SealedDump(contentsOf: folder.path(name)) }
            #expect(error?.code == .unreadableFile)
            #expect(error?.message.contains(folder.path) == true)
        }
        let empty = try folder.write("", to: "empty")
        #expect(code { _ = try SealedDump(contentsOf: empty) } == "malformed-dump")
    }
}
