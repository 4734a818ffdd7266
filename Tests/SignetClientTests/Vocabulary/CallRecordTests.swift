import HTTPTypes
import Logging
import SignetJSON
import SignetPinning
import SignetRPC
import SignetTransport
import TestSupport
import Testing

@testable import SignetClient

/// The record of a call: the request, the system's work, and the response.
@Suite struct CallRecordTests {
    private static func system(
        _ values: JSONObject, _ engine: RecordingEngine
    ) async throws -> NetworkSystem {
        var options = NetworkSystem.Options()
        options.engine = engine
        options.clock.sleep = { _ in }
        return try await NetworkSystem.start(Settings.configuration(values), options: options)
    }

    @Test(.features("000-05", "000-36", "000-37", "000-39", "002-23"))
    func itHasThreeParts() async throws {
        let engine = RecordingEngine(responses: [.init(body: #"{"n":1}"#)])
        let system = try await Self.system(
            [
                "services.a.protocol": "rest", "services.a.timeout": "7s",
                "timeouts.interactive": "2s", "attempts.interactive": 2,
            ], engine)
        let trace = CallTrace()
        let request = RESTRequest(
            .post, "/orders", query: ["k": "ZZZZZZ"],
            body: try .bytes([1, 2, 3], contentType: "application/octet-stream"))
        let response = try await system.call(
            request, on: "a",
            options: RequestOptions(
                scenario: "interactive", deadline: .seconds(60), tags: ["t"], trace: trace))
        await system.shutdown()
        let record = try #require(trace.record)
        #expect(record.identity.service == "a" && record.identity.method == "POST")
        #expect(record.identity.tags == ["t"])
        // The record's request has the values that the caller gave.
        #expect(record.request.method == .post && record.request.bodySize == 3)
        #expect(record.request.url == "https://api.example.com/rpc/orders")
        #expect(record.request.scenario == "interactive")
        // The system's part has the merged limits and the way.
        let limits = record.work.limits
        #expect(limits.timeout == .seconds(2) && limits.attempts == 2)
        #expect(limits.deadline == .seconds(60) && limits.maximumRedirects == 5)
        #expect(record.work.mode == .production && !record.work.isSimulated)
        #expect(record.attempts.count == 1 && record.work.joinedCall == nil)
        // The record's response has the values that the engine returned.
        #expect(record.response?.status == response.status)
        #expect(record.response?.bodySize == 7 && record.response?.source == .server)
        #expect(record.response?.httpVersion?.major == 1)
        #expect(record.outcome == .success && record.failure == nil)
        #expect(record.description.hasPrefix("call 1, a POST https://api.example.com/rpc/orders"))
    }

    @Test(.features("000-38", "000-55")) func theOrderOfStagesCanBeRead() async throws {
        let engine = RecordingEngine(responses: [
            .init(failure: TransportError(.connect, "down")), .init(body: "1"),
        ])
        let system = try await Pipeline.system(engine) { $0.clock.sleep = { _ in } }
        var options = RequestOptions()
        let trace = CallTrace()
        options.trace = trace
        options.interceptors = [InterceptorTests.Call { call, next in try await next(call) }]
        options.attemptInterceptors = [InterceptorTests.Each { call, next in try await next(call) }]
        _ = try await system.call(RESTRequest(.get, "/x"), on: "a", options: options)
        await system.shutdown()
        let record = try #require(trace.record)
        let stages = record.work.stages
        #expect(
            stages.map(\.name) == [
                .admission, .interceptors, .building, .attempt, .attemptInterceptors, .request,
                .pause, .attempt, .attemptInterceptors, .request, .reading, .unboxing,
            ])
        #expect(stages.first?.start == .zero)
        for (stage, next) in zip(stages, stages.dropFirst()) { #expect(stage.start <= next.start) }
        for stage in stages {
            #expect(stage.duration >= .zero && stage.start + stage.duration <= record.duration)
        }
        let hops = record.attempts.flatMap(\.hops)
        #expect(hops.map(\.failure) == ["connect", nil] && hops.map(\.status) == [nil, 200])
        #expect(hops[0].start <= hops[1].start && hops[1].start <= record.duration)
    }

    @Test(.features("000-38")) func signingIsAStageOfEachRequest() async throws {
        let engine = RecordingEngine(responses: [
            .init(status: 307, fields: [.location: "/v1/y?k=ZZZZZZ"]), .init(body: "1"),
        ])
        let keys = try KeySet(
            parsing: Array(
                #"{"keys":[{"kty":"oct","use":"sig","alg":"HS256","kid":"HS","k":"MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY"}]}"#
                    .utf8), source: "test")
        var service = ServiceConfiguration(
            baseURL: "https://api.example.com/v1", payloadProtocol: .rest)
        service.signing = .init(scheme: "rfc9421", keyID: "HS")
        var options = NetworkSystem.Options()
        options.engine = engine
        let system = try await NetworkSystem.start(
            services: ["a": service], keys: keys, policy: .allowingAll(), options: options)
        let trace = CallTrace()
        _ = try await system.call(
            RESTRequest(.get, "/x"), on: "a", options: RequestOptions(trace: trace))
        await system.shutdown()
        let record = try #require(trace.record)
        #expect(
            record.work.stages.map(\.name) == [
                .admission, .building, .attempt, .signing, .request, .signing, .request, .reading,
                .unboxing,
            ])
        #expect(record.attempts[0].redirects.map(\.to) == ["https://api.example.com/v1/y"])
        #expect(record.attempts[0].hops.map(\.isSigned) == [true, true])
    }

    @Test(.features("002-23")) func anErrorLeadsToTheRecord() async throws {
        let engine = RecordingEngine(responses: [.init(status: 404, body: "no")])
        let system = try await Pipeline.system(engine)
        let events = system.events
        let error = await #expect(throws: ClientError.self) {
            try await system.call(RESTRequest(.get, "/x"), on: "a")
        }
        await system.shutdown()
        var records: [CallRecord] = []
        for await case .finished(let record) in events { records.append(record) }
        #expect(records.count == 1 && error?.record == records.first)
        #expect(error?.record?.outcome == .failed(.httpStatus) && error?.attempts == 1)
        #expect(error?.record?.response?.bodySize == 2)
    }

    @Test(arguments: ["service", "options", "scenario", "shutdown"])
    func aCallThatIsNotAdmittedIsNamedAndHasNoRecord(_ cause: String) async throws {
        let system = try await Pipeline.system(RecordingEngine())
        let events = system.events
        if cause == "shutdown" { await system.shutdown() }
        var options = RequestOptions(tags: ["t"])
        if cause == "options" { options.attempts = 0 }
        if cause == "scenario" { options.scenario = "none" }
        let given = options
        let error = await #expect(throws: ClientError.self) {
            try await system.call(
                RESTRequest(.get, "/x"), on: cause == "service" ? "b" : "a", options: given)
        }
        #expect(error?.identity?.method == "GET" && error?.identity?.tags == ["t"])
        #expect(error?.record == nil && error?.url == nil && error?.attempts == 0)
        await system.shutdown()
        for await event in events { Issue.record("\(event)") }
    }

    @Test(arguments: [false, true]) func nothingKeepsACallThatHasEnded(_ isCancelled: Bool)
        async throws
    {
        struct Weak { weak var call: RunningCall? }
        let engine = WaitingEngine(isStubborn: !isCancelled)
        let system = try await Pipeline.system(engine)
        let trace = CallTrace()
        let work = Task {
            await Pipeline.code { () async throws(ClientError) in
                try await system.call(
                    RESTRequest(.get, "/x"), on: "a", options: RequestOptions(trace: trace))
            }
        }
        #expect(try await eventually { engine.count == 1 })
        let call = Weak(call: system.calls.call(system.runningCalls[0].id))
        #expect(call.call != nil)
        if isCancelled { work.cancel() } else { engine.letGo() }
        #expect(await work.value == (isCancelled ? .cancelled : nil))
        // The trace and its record remain, the call doesn't.
        #expect(try await eventually { call.call == nil })
        #expect(trace.records.count == 1)
        await system.shutdown()
    }

    // MARK: What never reached the network

    @Test(.features("000-40", "000-41"), .enabled(if: RunMode.isSwitchable))
    func aSimulatedFailureLeavesARequest() async throws {
        let engine = RecordingEngine()
        let system = try await Self.system(
            [
                "app.runMode": "development", "simulation.timeout": true,
                "services.a.development.baseURL": "https://test.example.com/rpc",
                "services.a.development.pins": [
                    "sha256/AgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgI="
                ],
            ], engine)
        let error = await #expect(throws: ClientError.self) {
            try await system.call(RPCCall("m"), on: "a")
        }
        await system.shutdown()
        let record = try #require(error?.record)
        let hops = record.attempts.flatMap(\.hops)
        #expect(engine.count == 0 && hops.count == 1)
        #expect(hops.first?.failure == "timeout" && hops.first?.isSimulated == true)
        #expect(hops.first?.url == "https://test.example.com/rpc" && hops.first?.status == nil)
        #expect(record.work.mode == .development && record.work.isSimulated)
        #expect(record.response == nil)
    }

    @Test func aRefusalWithoutAPinningEngineIsRecorded() async throws {
        let engine = RecordingEngine(pins: false)
        let system = try await Self.system([:], engine)
        let trace = CallTrace()
        let error = await #expect(throws: ClientError.self) {
            try await system.call(RPCCall("m"), on: "a", options: RequestOptions(trace: trace))
        }
        await system.shutdown()
        #expect(error?.code == .engineCannotPin && engine.count == 0)
        let hops = trace.attempts.flatMap(\.hops)
        #expect(hops.map(\.failure) == ["engine-cannot-pin"])
        #expect(hops.first?.isPinned == false && hops.first?.isSimulated == false)
        #expect(error?.record?.attempts == trace.attempts)
    }

    // MARK: Counting

    @Test(.features("000-46", "004-18")) func callsAreCountedByType() async throws {
        let engine = RecordingEngine(responses: [
            .init(body: "1"), .init(body: "1"), .init(status: 404, body: ""), .init(body: "1"),
        ])
        let system = try await Pipeline.system(engine)
        let events = system.events
        for method in [HTTPRequest.Method.get, .get, .get, .put] {
            _ = await Pipeline.code { () async throws(ClientError) in
                try await system.call(RESTRequest(method, "/x"), on: "a")
            }
        }
        await system.shutdown()
        var counts: [String: Int] = [:]
        for await case .finished(let record) in events {
            let outcome = record.failure?.name ?? "success"
            counts["\(record.identity.service) \(record.identity.method) \(outcome)", default: 0] +=
                1
        }
        #expect(counts == ["a GET success": 2, "a GET http-status": 1, "a PUT success": 1])
    }
}

/// The lines of the log, and that nothing secret is written anywhere.
@Suite struct CallLoggingTests {
    @Test(.features("001-14")) func startResponseAndEndAreLogged() async throws {
        let log = RecordingLog()
        let engine = RecordingEngine(responses: [
            .init(failure: TransportError(.connect, "down")), .init(status: 503, body: ""),
            .init(status: 404, body: "no"),
        ])
        let system = try await Pipeline.system(engine) { options in
            options.clock.sleep = { _ in }
            options.logger = Logger(label: "test") { _ in log }
        }
        await #expect(throws: ClientError.self) {
            try await system.call(RESTRequest(.get, "/x"), on: "a")
        }
        _ = try await system.exchange("a", method: .put, target: "/x", fields: [:], body: [])
        await system.shutdown()
        let lines = log.text.split(separator: "\n").filter { $0.contains("\"method\"") }
        let wanted: [(String, [String])] = [
            ("debug call started", ["\"path\": /x"]),
            ("debug retrying", ["\"attempt\": 1", "\"after\": connect"]),
            ("debug response", ["\"attempt\": 2", "\"status\": 503", "\"duration\""]),
            ("debug retrying", ["\"attempt\": 2", "\"after\": 503"]),
            ("debug response", ["\"attempt\": 3", "\"status\": 404"]),
            (
                "debug call failed",
                [
                    "\"attempts\": 3", "\"status\": 404", "\"error\": http-status", "\"duration\"",
                ]
            ),
            ("debug call started", []), ("debug response", ["\"attempt\": 1", "\"status\": 404"]),
            ("debug call finished", ["\"attempts\": 1", "\"status\": 404"]),
        ]
        #expect(lines.count == wanted.count)
        for (index, line) in lines.enumerated() {
            let (start, parts) = wanted[min(index, wanted.count - 1)]
            let call = index < 6 ? ("1", "GET") : ("2", "PUT")
            #expect(line.hasPrefix(start), "\(line)")
            for part in parts + [
                "\"call\": \(call.0)", "\"method\": \(call.1)", "\"service\": a",
            ] { #expect(line.contains(part), "\(part) in \(line)") }
        }
    }

    @Test func logsThePathWithoutItsValues() async throws {
        let log = RecordingLog()
        let engine = RecordingEngine(responses: [.init(status: 404, body: "")])
        let system = try await Pipeline.system(engine) { options in
            options.logger = Logger(label: "test") { _ in log }
        }
        let secret = "ZZZZZZ"
        let error = await #expect(throws: ClientError.self) {
            try await system.send(
                .get("/orders/\(secret)/items", on: "a", query: ["k": .string(secret)]),
                as: .nothing)
        }
        await system.shutdown()
        #expect(error?.code == .httpStatus)
        let lines = log.text.split(separator: "\n").filter { $0.contains("\"method\"") }
        #expect(lines.count == 3)
        for line in lines {
            #expect(line.contains("\"path\": /orders/{}/items") && !line.contains(secret))
            #expect(line.hasPrefix("debug "), "\(line)")
        }
        #expect(!log.text.contains("info "))
    }

    @Test(.features("001-14")) func nothingSecretIsWritten() async throws {
        let secret = "ZZZZZZ"
        let log = RecordingLog()
        var fields: HTTPFields = [.location: "/v1/y?k=\(secret)", .setCookie: secret]
        fields[HTTPField.Name("X-Secret")!] = secret
        let engine = RecordingEngine(responses: [
            .init(status: 302, body: secret, fields: fields),
            .init(failure: TransportError(.cutOff, "cut off")),
            .init(status: 500, body: secret, fields: fields),
        ])
        let system = try await Pipeline.system(engine) { options in
            options.clock.sleep = { _ in }
            options.logger = Logger(label: "test") { _ in log }
        } changeService: { service in
            service.commonFields[.authorization] = secret
        }
        let (events, trace) = (system.events, CallTrace())
        var options = RequestOptions(trace: trace)
        options.fields = [.cookie: secret]
        let request = RESTRequest(
            .put, "/x", query: ["k": .string(secret)],
            body: try .bytes(Array(secret.utf8), contentType: "text/plain; x=\(secret)"))
        let given = options
        let error = await #expect(throws: ClientError.self) {
            try await system.call(request, on: "a", options: given)
        }
        await system.shutdown()
        var text = "\(String(describing: error)) \(String(describing: trace.record))"
        dump(error, to: &text)
        dump(error?.record, to: &text)
        dump(trace, to: &text)
        for await event in events {
            text += "\(event)"
            dump(event, to: &text)
        }
        #expect(engine.count == 3 && text.contains("redirected") && text.contains("http-status"))
        #expect(!(text + log.text).contains(secret))
        #expect(!(text + log.text).contains("WlpaWlpa"))
        #expect(!(text + log.text).contains("90, 90"))
    }
}
