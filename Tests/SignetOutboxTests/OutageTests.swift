#if Storage
import Foundation
import Logging
import SignetClient
import SignetJSON
import SignetOutbox
import SignetTesting
import Synchronization
import TestSupport
import Testing

/// Records that a server doesn't take are kept, in their order, for later.
@Suite(.timeLimit(.minutes(2))) struct OutageTests {
    let collector: Collector

    init() throws { collector = try Collector() }

    /// The pauses that events tell.
    var pauses: [Duration] {
        collector.events.compactMap { event -> Duration? in
            if case .delayed(_, _, let pause) = event { pause } else { nil }
        }
    }

    // MARK: Refusals

    @Test(arguments: [400, 401, 403, 404, 405, 409, 410, 413, 415, 422, 451])
    func aRefusalParksTheBatch(_ status: Int) async throws {
        let outbox = try await collector.started()
        collector.set(.responds(.status(status)))
        try await outbox.add(1...30)
        try await collector.wait(for: 1)
        let parked = try await outbox.status().parked
        #expect(parked.map(\.id) == [collector.ids[0]] && parked.first?.recordCount == 30)
        // Later ones pass it, and it isn't sent again by itself.
        collector.set(.takes)
        try await outbox.add(31...60)
        try await collector.wait(for: 2)
        try await collector.pass(.seconds(3600))
        #expect(collector.records == [Array(1...30), Array(31...60)])
        let isTold = collector.events.contains {
            if case .parked(collector.ids[0], 30, let error) = $0 {
                error.status == status
            } else {
                false
            }
        }
        #expect(isTold)
        try await outbox.sendParked()
        try await collector.wait(for: 3)
        #expect(collector.requests[2] == collector.requests[0])
        #expect(try await outbox.status().parked.isEmpty)
        await outbox.close()
    }

    @Test(arguments: [408, 425, 429, 500, 502, 503, 504, 507])
    func aPassingFailureIsSentAgain(_ status: Int) async throws {
        let outbox = try await collector.started()
        collector.set(.responds(.status(status)))
        try await outbox.add(1...30)
        try await collector.wait(for: 1)
        #expect(try await outbox.status().parked.isEmpty)
        try await outbox.add(31...60)
        await collector.idle()
        // During the pause nothing is sent, and nothing passes the batch.
        #expect(collector.requests.count == 1)
        collector.set(.takes)
        try await collector.pass(.seconds(1))
        try await collector.wait(for: 3)
        #expect(collector.records == [Array(1...30), Array(1...30), Array(31...60)])
        #expect(collector.ids[0] == collector.ids[1])
        await outbox.close()
    }

    @Test(arguments: [
        (-32602, true), (-32601, true), (-32600, true), (7, true), (-32603, false),
        (-32000, false), (-32099, false),
    ])
    func anRPCErrorIsJudgedByItsCode(_ code: Int, _ isRefusal: Bool) async throws {
        let outbox = try collector.outbox(to: .procedure("clicks.add", on: "shop"))
        try await outbox.start(through: collector.system(.jsonRPC2))
        await collector.idle()
        collector.set(.responds(.rpcError(code: code, message: "no")))
        try await outbox.add(1...30)
        try await collector.wait(for: 1)
        let status = try await outbox.status()
        #expect(status.parked.count == (isRefusal ? 1 : 0))
        #expect(status.waitingCount == (isRefusal ? 0 : 30))
        await outbox.close()
    }

    @Test func aParkedBatchCanBeRemoved() async throws {
        let outbox = try await collector.started()
        collector.set(.responds(.status(422)))
        try await outbox.add(1...30)
        try await collector.wait(for: 1)
        #expect(try await outbox.removeParked("0123") == false)
        #expect(try await outbox.removeParked(collector.ids[0]))
        #expect(try await outbox.status() == OutboxStatus(OutboxContents()))
        await outbox.close()
    }

    // MARK: Pauses

    @Test func pausesDoubleUpToTheLongest() async throws {
        let outbox = try await collector.started { $0.batchCount = 1 }
        collector.fail()
        try await outbox.add(1...1)
        try await collector.wait(for: 1)
        for count in 2...12 {
            // Not a moment earlier.
            try await collector.pass((pauses.last ?? .zero) - .milliseconds(1))
            #expect(collector.requests.count == count - 1)
            try await collector.pass(.milliseconds(1))
            try await collector.wait(for: count)
        }
        let expected: [Int64] = [1, 2, 4, 8, 16, 32, 64, 128, 256, 300, 300, 300]
        #expect(pauses == expected.map { .seconds($0) })
        collector.set(.takes)
        try await collector.pass(.seconds(300))
        try await collector.wait(for: 13)
        // After a success they begin again.
        #expect(try await outbox.status().failures == 0)
        await outbox.close()
    }

    @Test func aServerMayAskForALongerPause() async throws {
        let outbox = try await collector.started { $0.batchCount = 1 }
        collector.set(.responds(.status(503, fields: [.retryAfter: "120"])))
        try await outbox.add(1...1)
        try await collector.wait(for: 1)
        collector.set(.responds(.status(429, fields: [.retryAfter: "999999"])))
        try await collector.pass(.seconds(119))
        #expect(collector.requests.count == 1)
        try await collector.pass(.seconds(1))
        try await collector.wait(for: 2)
        #expect(pauses == [.seconds(120), .seconds(3600)])
        await outbox.close()
    }

    @Test func aCallUsesTheBudgetOfTheClient() async throws {
        let outbox = try await collector.started {
            $0.batchCount = 1
            $0.callOptions.attempts = 3
            $0.callOptions.retry = RetryStrategy()
            $0.callOptions.retry?.firstPause = .zero
            $0.firstPause = .milliseconds(1)
            $0.longestPause = .milliseconds(1)
        }
        collector.set(.responds(.status(502)))
        try await outbox.add(1...1)
        for round in 1..<25 {
            #expect(try await eventually { pauses.count == round })
            try await collector.pass(.milliseconds(1))
        }
        #expect(try await eventually { pauses.count == 25 })
        // 35 further attempts, as for any call, and then one for each call.
        #expect(collector.requests.count == 25 + 35)
        await outbox.close()
    }

    @Test func theNetworksReturnEndsThePause() async throws {
        let outbox = try await collector.started()
        collector.fail(with: .connect)
        try await outbox.add(1...30)
        try await collector.wait(for: 1)
        try await outbox.add(31...35)
        collector.set(.takes)
        outbox.networkReturned()
        try await collector.wait(for: 3)
        #expect(collector.records == [Array(1...30), Array(1...30), Array(31...35)])
        await outbox.close()
    }

    /// The first call may come before the DNS is there.
    @Test func thePausesBeginAgainAfterTheReturn() async throws {
        let outbox = try await collector.started { $0.batchCount = 1 }
        collector.fail(with: .offline)
        try await outbox.add(1...1)
        for count in 1...20 {
            #expect(try await eventually { pauses.count == count })
            try await collector.pass(.seconds(300))
        }
        #expect(try await eventually { pauses.count == 21 })
        await collector.idle()
        collector.fail(with: .unresolvedHost)
        outbox.networkReturned()
        #expect(try await eventually { pauses.count == 22 })
        #expect(pauses.suffix(2) == [.seconds(300), .seconds(1)])
        collector.set(.takes)
        await collector.idle()
        try await collector.pass(.seconds(1))
        try await collector.wait(for: 23)
        #expect(try await outbox.status() == OutboxStatus(OutboxContents()))
        await outbox.close()
    }

    @Test func aFlushEndsThePause() async throws {
        let outbox = try await collector.started()
        collector.fail()
        try await outbox.add(1...31)
        try await collector.wait(for: 1)
        #expect(await outbox.flush() == false)
        collector.set(.takes)
        #expect(await outbox.flush())
        #expect(collector.records.suffix(2) == [Array(1...30), [31]])
        await outbox.close()
        #expect(await outbox.flush())
    }

    @Test(.features("003-33")) func aDayOfflineLosesNothing() async throws {
        let outbox = try await collector.started()
        collector.fail(with: .offline)
        var number = 0
        for _ in 0..<288 {
            for _ in 0..<3 {
                number += 1
                try await outbox.add(Numbered(n: number))
            }
            try await collector.pass(.seconds(300))
        }
        // Ten pauses that double, and then one each five minutes, for at most each of these steps.
        #expect(collector.requests.count <= 300)
        #expect(Set(collector.ids).count == 1)
        let count = collector.requests.count
        collector.set(.takes)
        outbox.networkReturned()
        #expect(try await eventually { collector.records[count...].joined().count == number })
        await collector.idle()
        #expect(Array(collector.records[count...].joined()) == Array(1...number))
        await outbox.close()
    }

    @Test func noContentOfARecordIsLogged() async throws {
        let lines = RecordingLog()
        let outbox = try await collector.started {
            $0.logger = Logger(label: "test") { _ in lines }
            $0.batchCount = 1
        }
        collector.set(.responds(.status(400, body: Array("canary-body".utf8))))
        try await outbox.add("canary-record")
        try await collector.wait(for: 1)
        collector.fail()
        try await outbox.add("canary-record")
        try await collector.wait(for: 2)
        await outbox.close()
        #expect(lines.text.contains("a batch was refused"))
        #expect(lines.text.contains("a batch is sent again later"))
        #expect(!lines.text.contains("canary"))
    }
}
#endif
