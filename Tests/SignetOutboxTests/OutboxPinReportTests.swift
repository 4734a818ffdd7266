#if Storage
import Foundation
import SignetBase
import SignetClient
import SignetOutbox
import SignetPinning
import SignetTesting
import SignetTransport
import TestSupport
import Testing

/// Pin reports that survive a restart of the program.
@Suite(.timeLimit(.minutes(2))) struct OutboxPinReportTests {
    let collector: Collector

    init() throws { collector = try Collector() }

    static func report(_ host: String) throws -> PinReport {
        let pins = try [
            "sha256/AQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQE=",
            "sha256/AgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgI=",
        ].map { try Pin(parsing: $0) }
        let policy = try PinPolicy(rules: [PinRule(host: host, pins: pins)])
        let refusal = policy.verdict(for: try HostName.canonical(host), chain: [], now: 0).refusal
        return PinReport(try #require(refusal), port: 443, isEnforced: true, date: 1_790_000_000)
    }

    @Test func reportsLeaveAfterARestart() async throws {
        do {
            let sink = OutboxPinReports(try collector.outbox("pins"))
            #expect(sink.name == "outbox pins")
            for host in ["a.example.com", "b.example.com"] {
                try await sink.receive(try Self.report(host))
            }
        }
        let outbox = try collector.outbox("pins")
        try await outbox.start(through: collector.system())
        try await collector.wait(for: 1)
        let hosts = collector.requests[0]["records"]?.array?.compactMap { $0["host"]?.string }
        #expect(hosts == ["a.example.com", "b.example.com"])
        #expect(collector.requests[0]["records"]?.array?.first?["kind"] == "pin-mismatch")
        await outbox.close()
    }

    @Test func aClosedOutboxTakesNoReport() async throws {
        let outbox = try collector.outbox("pins")
        await outbox.close()
        let error = await #expect(throws: PinError.self) {
            try await OutboxPinReports(outbox).receive(try Self.report("a.example.com"))
        }
        #expect(error?.code == .reportFailed)
    }

    @Test func aReportThatTheFormatLacksIsLeftOut() async throws {
        let outbox = try collector.outbox("pins")
        // Without a chain RFC 7469 has no form for it.
        try await OutboxPinReports(outbox, format: .rfc7469).receive(
            try Self.report("a.example.com"))
        #expect(try await outbox.status().waitingCount == 0)
        await outbox.close()
    }
}
#endif
