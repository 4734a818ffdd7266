#if Storage
import Foundation
import SignetClient
import SignetJSON
import SignetOutbox
import SignetTesting
import Synchronization
import TestSupport
import Testing

/// Limits, clocks, a full disk and damage: an outbox keeps its records, or tells of their loss.
@Suite(.timeLimit(.minutes(2))) struct KeepingTests {
    let collector: Collector

    init() throws { collector = try Collector() }

    var database: String { collector.directory.path("outbox/signet-outbox-clicks.sqlite") }

    func sqlite(_ sql: String) async throws -> String {
        let output = try await ChildProcess.run(
            "sqlite3", ["-cmd", ".timeout 9000", database, sql])
        #expect(output.exit == 0, "\(output.stderr)")
        return output.text.trimmingCharacters(in: .whitespacesAndNewlines)
    }

    func names() throws -> [String] { try collector.directory.contents(of: "outbox") }

    var drops: [String] {
        collector.events.compactMap { event -> String? in
            if case .dropped(let count, let reason) = event { "\(count) \(reason)" } else { nil }
        }
    }

    // MARK: Limits

    @Test func theOldestMakeRoomAndAreTold() async throws {
        let outbox = try collector.outbox { $0.byteLimit = 1024 }
        // 72 bytes each: 14 fit.
        try await outbox.add(1...9)
        try await outbox.add(10...20)
        let kept = try await outbox.status()
        #expect(kept.byteCount <= 1024 && kept.waitingCount == 20 - (kept.dropped["bytes"] ?? 0))
        #expect(kept.dropped.keys.sorted() == ["bytes"])
        try await outbox.start(through: collector.system())
        try await collector.wait(for: 1)
        let dropped = 20 - kept.waitingCount
        #expect(collector.records == [Array((dropped + 1)...20)])
        let told: JSONValue = [
            ["reason": "bytes", "records": .number(JSONNumber(dropped))]
        ]
        #expect(collector.requests[0]["dropped"] == told)
        #expect(drops == Array(repeating: "1 bytes", count: dropped))
        // Told once.
        try await outbox.add(21...21)
        await outbox.close()
        #expect(collector.requests[1]["dropped"] == nil)
    }

    @Test func aBatchThatIsOutIsNotDropped() async throws {
        let outbox = try await collector.started {
            $0.byteLimit = 1024
            $0.batchCount = 5
        }
        collector.set(.hangs)
        try await outbox.add(1...5)
        #expect(try await eventually { collector.requests.count == 1 })
        try await outbox.add(10...40)
        collector.set(.takes)
        collector.letGo()
        try await collector.wait(for: 2)
        await outbox.close()
        #expect(collector.records[0] == Array(1...5))
        // The others have the rest of the room.
        let rest = Array(collector.records.dropFirst().joined())
        #expect(rest == Array((41 - rest.count)...40) && rest.count >= 8)
        let told = collector.requests.compactMap {
            $0["dropped"]?.array?.first?["records"]?.number?.int64
        }
        #expect(told == [Int64(31 - rest.count)])
    }

    @Test func aParkedBatchIsDroppedFirst() async throws {
        let outbox = try await collector.started {
            $0.byteLimit = 1024
            $0.batchCount = 5
        }
        collector.set(.responds(.status(422)))
        try await outbox.add(1...5)
        let isParked = try await eventually {
            collector.events.contains { if case .parked = $0 { true } else { false } }
        }
        #expect(isParked)
        await collector.idle()
        collector.fail()
        try await outbox.add(10...19)
        let status = try await outbox.status()
        #expect(
            status.parked.isEmpty && status.dropped == ["bytes": 5] && status.waitingCount == 10,
            "\(status)")
        await outbox.close()
    }

    @Test func oldRecordsAreDroppedAndTold() async throws {
        let outbox = try await collector.started { $0.ageLimit = .seconds(86_400) }
        collector.fail()
        try await outbox.add(1...35)
        try await collector.wait(for: 1)
        try await collector.pass(.seconds(86_400 - 300))
        try await outbox.add(36...37)
        #expect(try await outbox.status().waitingCount == 37)
        collector.set(.takes)
        let count = collector.requests.count
        try await collector.pass(.seconds(400))
        try await collector.wait(for: count + 1)
        let told: JSONValue = [["reason": "age", "records": 35]]
        #expect(collector.requests[count]["dropped"] == told)
        #expect(Array(collector.records[count...]) == [[36, 37]])
        #expect(drops.sorted() == ["30 age", "5 age"])
        await outbox.close()
    }

    /// A batch that says what was dropped, and is refused, leaves that to the next one.
    @Test func aRefusedReportIsToldAgain() async throws {
        let outbox = try collector.outbox {
            $0.byteLimit = 1024
            $0.batchCount = 10
        }
        try await outbox.add(1...20)
        let dropped = try await outbox.status().dropped["bytes"]
        collector.set(.responds(.status(400)))
        try await outbox.start(through: collector.system())
        try await collector.wait(for: 2)
        for request in collector.requests {
            #expect(
                request["dropped"]?.array?.first?["records"]?.number?.int64.map(Int.init) == dropped
            )
        }
        await outbox.close()
    }

    // MARK: Clocks

    @Test(arguments: [-10, 10]) func aJumpOfTheClockDropsNothing(_ years: Int64) async throws {
        let jump = Mutex<Int64>(0)
        let outbox = try await collector.started {
            let now = $0.clock.now
            $0.clock.now = { now() + jump.withLock { $0 } }
        }
        collector.fail()
        try await outbox.add(1...31)
        try await collector.wait(for: 1)
        jump.withLock { $0 = years * 365 * 86_400 }
        try await outbox.add(32...32)
        // Neither dropped, nor sent before its pause, nor held back after it.
        collector.set(.takes)
        #expect(collector.requests.count == 1)
        try await collector.pass(.seconds(1))
        try await collector.wait(for: 2)
        #expect(collector.records == [Array(1...30), Array(1...30)])
        try await collector.pass(.seconds(60))
        try await collector.wait(for: 3)
        #expect(collector.records[2] == [31, 32])
        #expect(drops.isEmpty)
        await outbox.close()
    }

    @Test func theTimeOfARestartCounts() async throws {
        let store = { (boot: String, milliseconds: Int64, uptime: Int64) -> OutboxStore in
            let wall = 1_790_000_000_000 + milliseconds
            var clock = OutboxClock()
            (clock.boot, clock.now, clock.uptime) = (boot, { wall }, { uptime })
            return try OutboxStore(
                "clicks", in: collector.folder,
                rule: OutboxRule(
                    batchCount: 30, batchBytes: 1000, batchAge: 1000, byteLimit: 10_000,
                    ageLimit: 5000), clock: clock)
        }
        _ = try store("a", 1_000_000, 100).add([Array("1".utf8)])
        // The same start of the machine: only its uptime counts.
        #expect(try store("a", 9_000_000, 600).contents().wait == 500)
        #expect(try store("a", 0, 1100).contents().wait == 0)
        // Another start: the wall clock counts, if it goes forward.
        #expect(try store("b", 1_000_400, 5).contents().wait == 600)
        #expect(try store("b", 400, 5).contents().wait == 1000)
        #expect(try store("", 1_000_400, 5).contents().wait == 600)
        #expect(try store("b", 1_006_000, 5).nextBatch() == nil)
        #expect(try store("b", 1_006_000, 5).contents().dropped.first?.count == 1)
    }

    // MARK: A full disk

    @Test func aFullDiskLosesNothing() async throws {
        let outbox = try collector.outbox { $0.maximumPages = 40 }
        var (added, refused) = ([Int](), 0)
        for number in 1...400 {
            do throws(StorageError) {
                try await outbox.add([
                    "n": JSONValue.number(JSONNumber(number)),
                    "text": .string(String(repeating: "x", count: 1000)),
                ])
                added.append(number)
            } catch {
                #expect(error.code == .outboxNotWritten)
                refused += 1
            }
        }
        #expect(refused > 200 && added.count > 50)
        #expect(try await outbox.status().waitingCount == added.count)
        #expect(drops.isEmpty)
        await outbox.close()
        // There is room again.
        let next = try await collector.started()
        try await next.add(1000...1000)
        #expect(await next.flush())
        #expect(Array(collector.records.joined()) == added + [1000])
        await next.close()
    }

    // MARK: Damage

    @Test(arguments: ["", "not a database", String(repeating: "x", count: 9000)])
    func aDamagedFileIsSetAside(_ text: String) async throws {
        do {
            let outbox = try collector.outbox()
            try await outbox.add(1...3)
            await outbox.close()
        }
        for name in try names() where name.hasSuffix("-wal") || name.hasSuffix("-shm") {
            try FileManager.default.removeItem(atPath: "\(collector.folder)/\(name)")
        }
        try Data(text.utf8).write(to: URL(filePath: database))
        let outbox = try await collector.started()
        try await outbox.add(4...5)
        await outbox.close()
        #expect(collector.records == [[4, 5]])
        // SQLite takes an empty file for a new one.
        let told: JSONValue? = text.isEmpty ? nil : [["reason": "damaged", "records": nil]]
        #expect(collector.requests[0]["dropped"] == told)
        let aside = try names().filter { $0.contains(".damaged-") }
        #expect(aside.count == (text.isEmpty ? 0 : 1))
        for name in aside {
            let kept = try collector.directory.read("outbox/\(name)")
            #expect(kept == Array(text.utf8))
        }
    }

    @Test(arguments: [
        "UPDATE records SET content = x'00' WHERE number = 2",
        "UPDATE records SET content = (SELECT content FROM records WHERE number = 1) WHERE number = 2",
    ])
    func aDamagedRecordIsDroppedAndTold(_ sql: String) async throws {
        do {
            let outbox = try collector.outbox()
            try await outbox.add(1...3)
        }
        _ = try await sqlite(sql)
        let outbox = try await collector.started()
        try await collector.wait(for: 1)
        #expect(collector.records == [[1, 3]])
        try await outbox.add(4...4)
        await outbox.close()
        let told: JSONValue = [["reason": "damaged", "records": 1]]
        #expect(collector.requests.last?["dropped"] == told)
    }

    @Test(arguments: [
        "CREATE TABLE other (a)", "PRAGMA user_version = 99; CREATE TABLE outbox (a)",
    ])
    func aForeignFileIsLeftAlone(_ sql: String) async throws {
        try FileManager.default.createDirectory(
            atPath: collector.folder, withIntermediateDirectories: false,
            attributes: [.posixPermissions: 0o700])
        _ = try await sqlite(sql)
        let error = #expect(throws: StorageError.self) { try collector.outbox() }
        #expect(error?.code == .unusableOutbox)
        #expect(try await sqlite("SELECT count(*) FROM sqlite_schema") == "1")
    }

    @Test(arguments: [0o770, 0o702, 0o777])
    func aFolderThatOthersMayWriteIsRefused(_ mode: Int) throws {
        try FileManager.default.createDirectory(
            atPath: collector.folder, withIntermediateDirectories: false)
        try FileManager.default.setAttributes(
            [.posixPermissions: mode], ofItemAtPath: collector.folder)
        let error = #expect(throws: StorageError.self) { try collector.outbox() }
        #expect(error?.code == .unusableOutbox)
        #expect(try names().isEmpty)
    }

    @Test(arguments: ["", "a/b", "..", "a b", "é", String(repeating: "a", count: 65)])
    func aNameThatIsNoFilesIsRefused(_ name: String) throws {
        let error = #expect(throws: StorageError.self) { try collector.outbox(name) }
        #expect(error?.code == .unusableOutbox)
    }

    // MARK: Sealing

    static func key(_ byte: UInt8) throws -> CryptoKey {
        let text = Base64.encode([UInt8](repeating: byte, count: 32), as: .url)
        let set = #"{"keys":[{"kty":"oct","use":"enc","kid":"c","k":"\#(text)"}]}"#
        return try KeySet(parsing: Array(set.utf8), source: "test").key(id: "c")
    }

    @Test func aKeySealsTheRecords() async throws {
        let key = try Self.key(1)
        do {
            let outbox = try collector.outbox { $0.key = key }
            for _ in 0..<5 { try await outbox.add("canary-record") }
            for name in try names() {
                let bytes = try Data(contentsOf: URL(filePath: "\(collector.folder)/\(name)"))
                #expect(bytes.range(of: Data("canary".utf8)) == nil, "\(name)")
            }
        }
        for other in [nil, try Self.key(2)] {
            let error = #expect(throws: StorageError.self) {
                try collector.outbox { $0.key = other }
            }
            #expect(error?.code == .wrongOutboxKey)
        }
        let outbox = try await collector.started { $0.key = key }
        try await collector.wait(for: 1)
        #expect(
            collector.requests[0]["records"] == .array(Array(repeating: "canary-record", count: 5)))
        await outbox.close()
    }
}
#endif
