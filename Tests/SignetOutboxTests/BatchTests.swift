#if Storage
import Foundation
import HTTPTypes
import SignetClient
import SignetJSON
import SignetOutbox
import SignetTesting
import TestSupport
import Testing

/// When records leave, with which others, and in which order.
@Suite(.timeLimit(.minutes(2))) struct BatchTests {
    let collector: Collector

    init() throws { collector = try Collector() }

    @Test(.features("003-32")) func thirtyRecordsMakeOneCall() async throws {
        let outbox = try await collector.started()
        try await outbox.add(1...29)
        await collector.idle()
        #expect(collector.requests.isEmpty)
        try await outbox.add(30...30)
        try await collector.wait(for: 1)
        #expect(collector.records == [Array(1...30)])
        #expect(collector.requests[0]["dropped"] == nil)
        #expect(try await outbox.status().waitingCount == 0)
        let request = collector.stub.requests[0].request
        #expect(request.method == .post && request.path == "/clicks")
        let key = request.headerFields[try #require(HTTPField.Name("Idempotency-Key"))]
        #expect(key == "\"\(collector.ids[0])\"" && collector.ids[0].utf8.count == 32)
        await outbox.close()
    }

    @Test func anAgeMakesABatchOfFewer() async throws {
        let outbox = try await collector.started()
        try await outbox.add(1...2)
        try await collector.pass(.seconds(59))
        #expect(collector.requests.isEmpty)
        try await collector.pass(.seconds(1))
        try await collector.wait(for: 1)
        #expect(collector.records == [[1, 2]])
        // The next record's time begins with it.
        try await outbox.add(3...3)
        try await collector.pass(.seconds(59))
        #expect(collector.requests.count == 1)
        try await collector.pass(.seconds(1))
        try await collector.wait(for: 2)
        #expect(collector.records == [[1, 2], [3]])
        await outbox.close()
    }

    @Test func aSizeMakesABatchOfFewer() async throws {
        let outbox = try await collector.started { $0.batchBytes = 300 }
        // 64 bytes and {"n":100} are 73.
        try await outbox.add(101...104)
        await collector.idle()
        #expect(collector.requests.isEmpty)
        try await outbox.add(105...105)
        try await collector.wait(for: 1)
        #expect(collector.records == [[101, 102, 103, 104]])
        // A record that is larger than a batch leaves alone, and before those after it.
        try await outbox.add(contentsOf: [["n": 1], ["n": 2]])
        try await outbox.add([String(repeating: "x", count: 500): 3])
        try await collector.wait(for: 3)
        #expect(collector.records[1] == [105, 1, 2])
        #expect(collector.requests[2]["records"]?.array?.count == 1)
        await outbox.close()
    }

    @Test func recordsDuringACallMakeTheNextBatch() async throws {
        let outbox = try await collector.started()
        collector.set(.hangs)
        try await outbox.add(1...30)
        #expect(try await eventually { collector.requests.count == 1 })
        try await outbox.add(31...55)
        #expect(collector.requests.count == 1)
        collector.set(.takes)
        collector.letGo()
        await collector.idle()
        #expect(collector.requests.count == 1)
        try await outbox.add(56...60)
        try await collector.wait(for: 2)
        #expect(collector.records == [Array(1...30), Array(31...60)])
        await outbox.close()
    }

    @Test(.features("003-33")) func leftOversLeaveAtTheNextStart() async throws {
        let first = try await collector.started()
        collector.fail()
        try await first.add(1...42)
        try await collector.wait(for: 1)
        await first.close()
        let ids = Set(collector.ids)
        #expect(ids.count == 1)
        // As if the program had been started again.
        collector.set(.takes)
        let count = collector.requests.count
        let second = try collector.outbox()
        #expect(try await second.status().waitingCount == 42)
        try await second.start(through: collector.system())
        try await collector.wait(for: count + 2)
        #expect(Array(collector.records[count...]) == [Array(1...30), Array(31...42)])
        #expect(collector.ids[count] == ids.first)
        #expect(collector.requests[count] == collector.requests[0])
        await second.close()
    }

    @Test func aProcedureGetsTheBatchAsParameters() async throws {
        let outbox = try collector.outbox(to: .procedure("clicks.add", on: "shop"))
        try await outbox.start(through: collector.system(.jsonRPC2))
        await collector.idle()
        try await outbox.add(1...30)
        try await collector.wait(for: 1)
        #expect(collector.stub.requests[0].procedure == "clicks.add")
        #expect(collector.records == [Array(1...30)])
        await outbox.close()
    }

    @Test func oneProcessAtATimeSends() async throws {
        // Two outboxes of one file have locks of their own, as two processes have.
        let first = try await collector.started()
        let second = try await collector.started()
        // A start sends what it finds.
        await collector.idle(2)
        collector.set(.hangs)
        try await first.add(1...30)
        #expect(try await eventually { collector.requests.count == 1 })
        try await second.add(31...90)
        await collector.idle()
        #expect(collector.requests.count == 1)
        collector.set(.takes)
        collector.letGo()
        try await collector.wait(for: 3)
        await collector.idle(2)
        #expect(collector.records == [Array(1...30), Array(31...60), Array(61...90)])
        #expect(try await second.status().waitingCount == 0)
        await first.close()
        await second.close()
    }

    @Test func outboxesOfAFolderAreApart() async throws {
        let clicks = try await collector.started()
        let errors = try collector.outbox("errors", to: .post("/errors", on: "shop"))
        try await clicks.add(1...29)
        try await errors.add(30...58)
        #expect(try await clicks.status().waitingCount == 29)
        await errors.close()
        #expect(collector.requests.isEmpty)
        await clicks.close()
        #expect(collector.records == [Array(1...29)])
        #expect(
            try collector.directory.contents(of: "outbox").count { $0.hasSuffix(".sqlite") } == 2)
    }

    // MARK: Bad records

    @Test func aBadRecordIsRefused() async throws {
        let outbox = try await collector.started { $0.byteLimit = 1024 }
        try await outbox.add(1...1)
        let large = await #expect(throws: StorageError.self) {
            try await outbox.add(String(repeating: "x", count: 500))
        }
        #expect(large?.code == .recordTooLarge)
        let error = await #expect(throws: StorageError.self) { try await outbox.add([Double.nan]) }
        #expect(error?.code == .invalidRecord)
        let several = await #expect(throws: StorageError.self) {
            try await outbox.add(contentsOf: [1.0, .infinity])
        }
        #expect(several?.code == .invalidRecord)
        #expect(try await outbox.status().waitingCount == 1)
        await outbox.close()
        let closed = await #expect(throws: StorageError.self) { try await outbox.add(1) }
        #expect(closed?.code == .outboxClosed)
        #expect(collector.records == [[1]])
    }

    // MARK: The end

    @Test func theEndSendsWhatIsThere() async throws {
        let outbox = try await collector.started()
        try await outbox.add(1...3)
        await outbox.close()
        await outbox.close()
        #expect(collector.records == [[1, 2, 3]])
        #expect(try await outbox.status().waitingCount == 0)
    }

    @Test func theEndWaitsForTheFlushTimeAtMost() async throws {
        let outbox = try await collector.started()
        try await outbox.add(1...3)
        await collector.idle()
        collector.set(.hangs)
        async let closed: Void = outbox.close()
        #expect(try await eventually { collector.requests.count == 1 })
        // That of the flush; the loop waits for the call.
        await collector.idle()
        collector.clock.advance(by: .seconds(2))
        await closed
        #expect(try await outbox.status().waitingCount == 3)
        // Cut short by the program itself, so no pause follows.
        #expect(try await outbox.status().failures == 0)
        collector.letGo()
        collector.set(.takes)
        let next = try await collector.started()
        try await collector.wait(for: 2)
        #expect(collector.requests[1] == collector.requests[0])
        await next.close()
    }

    @Test func anOutboxThatIsReleasedSendsNothingMore() async throws {
        do {
            let outbox = try await collector.started()
            try await outbox.add(1...3)
        }
        collector.clock.advance(by: .seconds(3600))
        let next = try collector.outbox()
        #expect(try await next.status().waitingCount == 3)
        #expect(collector.requests.isEmpty)
    }
}
#endif
