import Foundation
import SignetCrypto
import SignetJSON
import SignetVault
import TestSupport
import Testing

/// Every system call of `vault rebind --ratchet`, hit by a kill, a full disk and a failing one.
///
/// After each the dump opens with the current key file, no other user can read either, and the same
/// command completes the work: in the end the old root is gone, and the dump is there once.
@Suite(
    .enabled(if: FaultInjection.isPermitted, "strace is missing or may not trace processes here"))
struct RatchetCrashToolTests {
    static let faults: [FaultInjection.Fault] = [.signal("KILL"), .error("ENOSPC"), .error("EIO")]
    static let arguments = [
        "vault", "rebind", "d/dump", "--keys", "k/keys", "--state", "d/state", "--app-id",
        "com.example.shop", "--from-app-version", "1.9.0", "--to-app-version", "1.10.0",
        "--ratchet",
    ]
    private static let oldRoot = String(repeating: "A", count: 43)
    private static let keys = #"""
        {"keys":[{"kid":"v1","kty":"oct","use":"enc","k":"\#(oldRoot)"},
                 {"kid":"other","kty":"oct","use":"sig","alg":"HS256","k":"c2VjcmV0"}]}
        """#

    private static func binding(_ version: String) -> VersionBinding {
        VersionBinding(app: "com.example.shop", version: version)
    }

    @Test(arguments: faults) func losesNeitherDumpNorKey(
        _ fault: FaultInjection.Fault
    ) async throws {
        let shop = try Shop()
        let undisturbed = try shop.copy()
        let calls = try await FaultInjection.calls(
            of: SignetTool.url, Self.arguments, directory: undisturbed.url, from: "k/keys")
        try Self.expectDone(undisturbed, "undisturbed")
        let points = calls.filter {
            fault == .signal("KILL") ? !$0.onlyReads : Self.canFail.contains($0.name)
        }
        #expect(points.count > 20, "so few points are not all: \(calls)")
        let missed = try await FaultInjection.missedKills(
            of: SignetTool.url, points.map { (fault, $0) }
        ) { fault, call in
            try await Self.hit(fault, call, shop)
        }
        #expect(missed == nil, "kills came to nothing")
    }

    /// The calls of which a full or failing disk can be the end.
    private static let canFail: Set<String> = [
        "openat", "write", "fsync", "flock", "renameat", "renameat2", "linkat", "unlinkat", "lseek",
    ]

    /// - Returns: Whether there was such a call.
    private static func hit(
        _ fault: FaultInjection.Fault, _ call: FaultInjection.Call, _ shop: Shop
    ) async throws -> Bool {
        let folder = try shop.copy()
        let outcome = try await FaultInjection.run(
            SignetTool.url, arguments, directory: folder.url, fault, at: call)
        let point: Comment = "\(fault) at \(call): exit \(outcome.exit), \(outcome.stderr)"
        #expect(outcome.exit != 128 + 6 && outcome.exit != 128 + 11, point)
        let isKill = fault == .signal("KILL")
        let isHit = !isKill || outcome.exit != 0
        if isKill, isHit { #expect(outcome.exit == 128 + 9, point) }
        for name in ["d", "k"] {
            let names = try FileManager.default.contentsOfDirectory(atPath: folder.path(name))
            if !isKill { #expect(names.allSatisfy { !$0.hasPrefix(".") }, point) }
            for file in names {
                let mode = try FileManager.default.attributesOfItem(
                    atPath: folder.path("\(name)/\(file)"))[.posixPermissions]
                #expect(mode as? Int == 0o600, "\(file), \(point)")
            }
        }
        // The files belong together.
        let opened = try open(folder)
        #expect(opened.sequence == (opened.binding.app.version == "1.9.0" ? 7 : 8), point)
        if outcome.exit == 0 {
            try expectDone(folder, point)
            return isHit
        }
        // The same command completes the work.
        let dump = DumpFile(folder.path("d/dump"), state: folder.path("d/state"))
        do throws(VaultError) {
            try dump.ratchet(
                keyFile: folder.path("k/keys"), from: binding("1.9.0"), to: binding("1.10.0"))
        } catch {
            // Nothing was left.
            #expect(error.code == .newerVersion, "\(error), \(point)")
        }
        try expectDone(folder, point)
        return isHit
    }

    private static func open(_ folder: TemporaryDirectory) throws -> OpenedDump {
        let keys = VaultKeys.keys(try KeySource.file(folder.path("k/keys")).load())
        let dump = DumpFile(folder.path("d/dump"), state: folder.path("d/state"))
        do throws(VaultError) {
            return try dump.open(with: keys, for: binding("1.10.0"))
        } catch {
            guard error.code == .olderVersion else { throw error }
            return try dump.open(with: keys, for: binding("1.9.0"))
        }
    }

    private static func expectDone(_ folder: TemporaryDirectory, _ point: Comment) throws {
        let opened = try open(folder)
        #expect(opened.sequence == 8 && opened.binding == binding("1.10.0"), point)
        #expect(opened.keyID == "v1+1" && opened.rollback?.highestSeen == 8, point)
        let set = try KeySource.file(folder.path("k/keys")).load()
        #expect(set.keys.map(\.id) == ["v1+1", "other"], point)
        for (name, files) in [("k", ["keys"]), ("d", ["dump", "state"])] {
            let names = try FileManager.default.contentsOfDirectory(atPath: folder.path(name))
            #expect(names.sorted() == files, point)
        }
        let text = String(decoding: try folder.read("k/keys"), as: UTF8.self)
        #expect(!text.contains(oldRoot), point)
    }

    /// A dump of sequence 7 with its state, and the key file.
    private struct Shop {
        let dump: [UInt8]
        let state: [UInt8]

        init() throws {
            let folder = try TemporaryDirectory()
            try folder.write(keys, to: "keys")
            let set = VaultKeys.keys(try KeySource.file(folder.path("keys")).load())
            let schema = try Schema(
                parsing: Array(#"{"keys":{"partner.token":{"type":"string"}}}"#.utf8))
            let configuration = try GlobalConfiguration(
                schema: schema, defaults: .values(["partner.token": "ZZZZZZcanaryZZZZZZ"]))
            let file = DumpFile(folder.path("dump"), state: folder.path("state"))
            for _ in 0..<7 {
                try file.seal(configuration, with: set, keyID: "v1", for: binding("1.9.0"))
            }
            dump = try folder.read("dump")
            state = try folder.read("state")
        }

        func copy() throws -> TemporaryDirectory {
            let folder = try TemporaryDirectory()
            for name in ["d", "k"] {
                try FileManager.default.createDirectory(
                    atPath: folder.path(name), withIntermediateDirectories: false)
            }
            try folder.write(keys, to: "k/keys")
            try folder.write(dump, to: "d/dump")
            try folder.write(state, to: "d/state")
            return folder
        }
    }
}
