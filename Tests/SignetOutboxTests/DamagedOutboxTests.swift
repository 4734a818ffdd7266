#if Storage
import Foundation
import SignetBase
import SignetJSON
import SignetOutbox
import TestSupport
import Testing

/// Damage while a program runs, kills while a file is set aside, and what isn't damage.
@Suite struct DamagedOutboxTests {
    let collector: Collector

    init() throws { collector = try Collector() }

    static let file = "signet-outbox-clicks.sqlite"

    func path(_ name: String) -> String { "\(collector.folder)/\(name)" }

    func sqlite(_ sql: String) async throws -> String {
        let output = try await ChildProcess.run(
            "sqlite3", ["-cmd", ".timeout 9000", path(Self.file), sql])
        #expect(output.exit == 0, "\(output.stderr)")
        return output.text.trimmingCharacters(in: .whitespacesAndNewlines)
    }

    func aside() throws -> [String] {
        try collector.directory.contents(of: "outbox").filter { $0.contains(".damaged") }
    }

    static let told: JSONValue = [["reason": "damaged", "records": nil]]

    @Test(arguments: [0, 4096]) func damageWhileRunningIsSetAside(_ offset: UInt64) async throws {
        let outbox = try await collector.started()
        let other = try collector.outbox()
        try await outbox.add(1...3)
        // Another process wrote, so nothing that SQLite remembers counts.
        _ = try await sqlite("UPDATE outbox SET failures = 0; PRAGMA wal_checkpoint(TRUNCATE);")
        let file = try FileHandle(forUpdating: URL(filePath: path(Self.file)))
        let end = try file.seekToEnd()
        try file.seek(toOffset: offset)
        try file.write(contentsOf: Data(repeating: 0x78, count: Int(end - offset)))
        try file.close()
        try await outbox.add(4...4)
        // The other process's outbox finds the new file, and doesn't set it aside again.
        try await other.add(5...5)
        await outbox.close()
        #expect(collector.records == [[4, 5]] && collector.requests[0]["dropped"] == Self.told)
        #expect(try aside().filter { !$0.hasSuffix("-wal") && !$0.hasSuffix("-shm") }.count == 1)
        let isTold = collector.events.contains {
            if case .dropped(0, "damaged") = $0 { true } else { false }
        }
        #expect(isTold)
    }

    /// A kill after the log was set aside, and after a new file was made.
    @Test(arguments: [false, true]) func aKilledSettingAsideIsCompleted(_ isLate: Bool) async throws
    {
        do {
            let outbox = try collector.outbox()
            try await outbox.add(1...3)
        }
        let suffix = "damaged-1790000000-0a1b2c3d"
        let damaged = Array(repeating: UInt8(ascii: "x"), count: 9000)
        try collector.directory.write(suffix, to: "outbox/\(Self.file).damaged")
        try collector.directory.write("log", to: "outbox/\(Self.file).\(suffix)-wal")
        try collector.directory.write(
            damaged, to: "outbox/\(Self.file)\(isLate ? ".\(suffix)" : "")")
        let outbox = try await collector.started()
        try await outbox.add(4...4)
        await outbox.close()
        #expect(collector.records == [[4]] && collector.requests[0]["dropped"] == Self.told)
        // The first outbox may be closed late, so that there is a shared memory too.
        let files = try aside().filter { !$0.hasSuffix("-shm") }
        #expect(files == ["\(Self.file).\(suffix)", "\(Self.file).\(suffix)-wal"])
        #expect(try collector.directory.read("outbox/\(Self.file).\(suffix)") == damaged)
    }

    /// Each may have as many bytes as an outbox.
    @Test func onlyTheNewestTwoAreKept() async throws {
        do { _ = try collector.outbox() }
        for (time, part) in [(1, "-wal"), (1, ""), (2, ""), (3, "-shm"), (3, "")] {
            try collector.directory.write(
                "old", to: "outbox/\(Self.file).damaged-179000000\(time)-0a1b2c3d\(part)")
        }
        try collector.directory.write("x", to: "outbox/\(Self.file).damaged-x")
        try collector.directory.write(
            Array(repeating: UInt8(ascii: "x"), count: 9000), to: "outbox/\(Self.file)")
        do { _ = try collector.outbox() }
        let names = try aside().sorted()
        #expect(names.count == 4 && names.last == "\(Self.file).damaged-x")
        #expect(
            names.prefix(2) == [
                "\(Self.file).damaged-1790000003-0a1b2c3d",
                "\(Self.file).damaged-1790000003-0a1b2c3d-shm",
            ])
    }

    @Test func anotherErrorIsNotDamage() async throws {
        try FileManager.default.createDirectory(
            atPath: collector.folder, withIntermediateDirectories: false,
            attributes: [.posixPermissions: 0o700])
        // As a newer program would have it, for example.
        _ = try await sqlite(
            "PRAGMA application_id = 0x53676E4F; PRAGMA user_version = 1; CREATE TABLE other (a);")
        let error = #expect(throws: StorageError.self) { try collector.outbox() }
        #expect(error?.code == .unusableOutbox)
        #expect(try aside().isEmpty)
        #expect(try await sqlite("SELECT name FROM sqlite_schema") == "other")
    }

    @Test func aBatchThatWasOutNeverChanges() async throws {
        do {
            let outbox = try await collector.started()
            collector.fail()
            try await outbox.add(1...31)
            try await collector.wait(for: 1)
            await outbox.close()
        }
        _ = try await sqlite("UPDATE records SET content = x'00' WHERE number = 2")
        collector.set(.takes)
        let count = collector.requests.count
        let outbox = try await collector.started()
        try await collector.wait(for: count + 1)
        await outbox.close()
        // It may have arrived, so the rest of it must not leave under any id.
        #expect(Array(collector.records[count...]) == [[31]])
        let told: JSONValue = [["reason": "damaged", "records": 30]]
        #expect(collector.requests[count]["dropped"] == told)
        #expect(!collector.ids[count...].contains(collector.ids[0]))
    }
}
#endif
