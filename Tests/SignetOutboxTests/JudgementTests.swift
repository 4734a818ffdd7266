#if Storage
import Foundation
import HTTPTypes
import SignetClient
import SignetJSON
import SignetOutbox
import SignetStorage
import SignetTesting
import SignetTransport
import TestSupport
import Testing

/// Which outcomes are arrivals, refusals and failures of the moment, and what never gets that far.
@Suite struct JudgementTests {
    let collector: Collector

    init() throws { collector = try Collector() }

    // MARK: Responses

    @Test(
        arguments: [
            .status(200), .status(204), .status(200, body: Array("OK\n".utf8)),
            .status(201, fields: [.contentType: "text/html"], body: Array("<p>".utf8)),
        ] as [StubResponse])
    func anyContentIsAnArrival(_ response: StubResponse) async throws {
        let outbox = try await collector.started { $0.batchCount = 1 }
        collector.set(.responds(response))
        try await outbox.add(1...1)
        try await collector.wait(for: 1)
        let status = try await outbox.status()
        #expect(status == OutboxStatus(OutboxContents()))
        await outbox.close()
        #expect(collector.requests.count == 1)
    }

    @Test(arguments: ["OK", "[]", "{}"])
    func aProceduresResponseMustBeOne(_ text: String) async throws {
        let outbox = try collector.outbox(to: .procedure("clicks.add", on: "shop")) {
            $0.batchCount = 1
        }
        try await outbox.start(through: collector.system(.jsonRPC2))
        await collector.idle()
        collector.set(.responds(.status(200, body: Array(text.utf8))))
        try await outbox.add(1...1)
        try await collector.wait(for: 1)
        #expect(try await outbox.status().failures == 1)
        await outbox.close()
    }

    /// The status decides before the error in the body.
    @Test(
        arguments: [
            (408, -32602, false), (425, -32600, false), (429, -32005, false), (429, 7, false),
            (500, -32602, false), (503, -32601, false), (400, -32602, true), (404, -32601, true),
            (400, -32603, false), (200, -32602, true),
        ] as [(Int, Int, Bool)])
    func aPassingStatusComesBeforeAnRPCError(
        _ status: Int, _ code: Int, _ isRefusal: Bool
    ) async throws {
        let outbox = try collector.outbox(to: .procedure("clicks.add", on: "shop")) {
            $0.batchCount = 1
        }
        try await outbox.start(through: collector.system(.jsonRPC2))
        await collector.idle()
        let body: JSONValue = [
            "jsonrpc": "2.0", "id": nil,
            "error": ["code": .number(JSONNumber(code)), "message": "no"],
        ]
        collector.set(.responds(.json(body, status: status)))
        try await outbox.add(1...1)
        try await collector.wait(for: 1)
        let found = try await outbox.status()
        #expect(found.parked.count == (isRefusal ? 1 : 0))
        #expect(found.failures == (isRefusal ? 0 : 1))
        await outbox.close()
    }

    // MARK: Calls that can't be made

    private struct Failing: AttemptInterceptor {
        let code: ClientError.Code
        func intercept(_ call: OutgoingCall, next: NextAttempt) async throws -> EngineResponse {
            throw ClientError(code, "it can't be made")
        }
    }

    @Test(
        arguments: [
            (.invalidParameters, true), (.invalidMethod, true), (.invalidPath, true),
            (.unknownService, false), (.unknownScenario, false), (.unsupportedCall, false),
            (.invalidOptions, false), (.refusedURL, false), (.notRunning, false),
            (.credentialFailed, false), (.signerFailed, false),
            (.engineCannotPin, false), (.resources, false), (.pinMismatch, false),
        ] as [(ClientError.Code, Bool)])
    func whatNoRetryCuresIsParked(_ code: ClientError.Code, _ isHopeless: Bool) async throws {
        let outbox = try await collector.started {
            $0.batchCount = 1
            $0.callOptions.attemptInterceptors = [Failing(code: code)]
        }
        try await outbox.add(1...1)
        #expect(
            try await eventually {
                collector.events.contains {
                    switch $0 {
                    case .parked(_, 1, let error): isHopeless && error.code == code
                    case .delayed(_, let error, _): !isHopeless && error.code == code
                    default: false
                    }
                }
            })
        #expect(try await outbox.status().parked.map(\.code) == (isHopeless ? [code.name] : []))
        await outbox.close()
        #expect(collector.requests.isEmpty)
    }

    @Test(
        arguments: [
            (.post("/clicks", on: "shops"), .rest, .unknownService),
            (.post("/clicks", on: "shop"), .jsonRPC2, .unsupportedCall),
            (.post("clicks", on: "shop"), .rest, .refusedURL),
            (.procedure("clicks.add", on: "shop"), .rest, .unsupportedCall),
            (.procedure("clicks.add", on: "shop"), .jsonRPC1, .invalidParameters),
            (.procedure("rpc.add", on: "shop"), .jsonRPC2, .reservedMethod),
        ] as [(OutboxDestination, ServiceConfiguration.PayloadProtocol, ClientError.Code)])
    func aHopelessDestinationDoesNotStart(
        _ destination: OutboxDestination, _ payload: ServiceConfiguration.PayloadProtocol,
        _ code: ClientError.Code
    ) async throws {
        let outbox = try collector.outbox(to: destination)
        try await outbox.add(1...30)
        let system = try await collector.system(payload)
        let error = #expect(throws: ClientError.self) { try outbox.start(through: system) }
        #expect(error?.code == code)
        #expect(await outbox.flush() == false)
        await outbox.close()
        #expect(collector.requests.isEmpty)
        #expect(try await outbox.status().waitingCount == 30)
    }

    // MARK: Records

    @Test(arguments: [504, 505, 513, 5000]) func aRecordMustBeReadable(_ depth: Int) async throws {
        var record: JSONValue = 1
        for _ in 0..<depth { record = [record] }
        let outbox = try await collector.started { $0.batchCount = 1 }
        do throws(StorageError) {
            try await outbox.add(record)
            #expect(depth == 504)
        } catch {
            #expect(error.code == .invalidRecord && depth > 504)
        }
        await outbox.close()
        #expect(collector.requests.map { $0["records"] } == (depth == 504 ? [[record]] : []))
    }

    // MARK: The right to send

    @Test func aBusyOutboxStillSendsAllLater() async throws {
        let other = try OutboxStore(
            "clicks", in: collector.folder,
            rule: OutboxRule(
                batchCount: 30, batchBytes: 1000, batchAge: 1000, byteLimit: 10_000,
                ageLimit: 5000))
        var lock = try other.lockForSending()
        let outbox = try collector.outbox { $0.batchAge = .seconds(86_400) }
        try await outbox.add(1...1)
        try await outbox.start(through: collector.system())
        await collector.idle()
        // It looks again each minute, however long records wait for others.
        try await collector.pass(.seconds(60))
        #expect(collector.requests.isEmpty && lock != nil)
        lock = nil
        try await collector.pass(.seconds(60))
        try await collector.wait(for: 1)
        #expect(collector.records == [[1]])
        await outbox.close()
    }

    @Test func aLockThatFailsIsTold() async throws {
        let outbox = try collector.outbox()
        try await outbox.add(1...1)
        try FileManager.default.createDirectory(
            atPath: "\(collector.folder)/signet-outbox-clicks.lock",
            withIntermediateDirectories: false)
        try await outbox.start(through: collector.system())
        let isTold = try await eventually {
            collector.events.contains {
                if case .failed(let error) = $0 { error.code == .outboxNotWritten } else { false }
            }
        }
        #expect(isTold)
        await outbox.close()
        #expect(collector.requests.isEmpty)
    }
}
#endif
