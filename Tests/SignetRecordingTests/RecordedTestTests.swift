import HTTPTypes
import SignetClient
import SignetJSON
import SignetTesting
import SignetTransport
import TestSupport
import Testing

@testable import SignetRecording

@Suite struct RecordedTestTests {
    private static let exchanges = [
        RecordedExchange.json(
            "GET", "https://old.example.com/orders/7",
            response: #"{"id":7,"items":[{"name":"tea"}]}"#),
        RecordedExchange.json(
            "POST", "https://old.example.com/orders?n=1", request: #"{"item":"tea","nonce":"a"}"#,
            response: #"{"id":8}"#, status: 201),
        RecordedExchange.json(
            "GET", "https://old.example.com/about", response: #"{"name":"shop"}"#),
    ]

    private static var recording: Recording { Recording(calls: exchanges.map(RecordedCall.init)) }

    /// A host that responds as it was recorded, but for changes.
    private func host(_ changes: [String: StubResponse] = [:]) async throws -> NetworkSystem {
        let stub = StubEngine()
        let responses: [String: StubResponse] = [
            "/orders/7": .json(["id": 9, "items": [["name": "milk"], ["name": "salt"]]]),
            "/orders": .json(["id": 10], status: 201), "/about": .json(["name": "other"]),
        ]
        stub.respond(by: { request throws(TransportError) in
            changes[request.path] ?? responses[request.path] ?? .status(404)
        })
        return try await startSystem(stub)
    }

    private func outcomes(_ test: RecordedTest) async throws -> [ReplayOutcome] {
        var outcomes: [ReplayOutcome] = []
        for exchange in Self.exchanges { outcomes.append(try await test.outcome(of: exchange)) }
        return outcomes
    }

    /// The calls of a recording as the arguments of a test.
    @Test(.features("000-57"), arguments: recording.calls) func theCallPasses(
        _ call: RecordedCall
    ) async throws {
        try await RecordedTest(on: try await host(), as: "shop").check(call)
    }

    /// A call without a response is alike only if it failed in the recorded way.
    @Test(arguments: [nil, "connect", "tls"]) func anotherFailureIsNotAlike(
        _ recorded: String?
    ) async throws {
        let stub = StubEngine()
        stub.respond(by: { _ throws(TransportError) in throw TransportError(.tls, "no") })
        var exchange = Self.exchanges[0]
        exchange.response = nil
        exchange.failure = recorded
        let test = RecordedTest(on: try await startSystem(stub), as: "shop")
        let outcome = try await test.outcome(of: exchange)
        if recorded == "tls" {
            #expect(outcome == .alike)
        } else if case .unanswered(let code, _) = outcome {
            #expect(code.name == "tls")
        } else {
            Issue.record("\(outcome)")
        }
    }

    @Test(.features("000-57")) func passesWhatHasTheRecordedShape() async throws {
        let test = RecordedTest(on: try await host(), as: "shop")
        #expect(try await outcomes(test) == [.alike, .alike, .alike])
        for call in Self.recording.calls { try await test.check(call) }
    }

    @Test(arguments: [
        (
            "/orders/7", StubResponse.json(["id": 9, "items": [["title": "milk"]]]), 0,
            "response.body.items[0].name is missing"
        ),
        ("/orders/7", .json(["id": "9", "items": []]), 0, "response.body.id differs"),
        ("/orders", .json(["id": 8], status: 200), 1, "response.status differs"),
        (
            "/about", .status(200, fields: [.contentType: "text/html"], body: []), 2,
            "response.type differs"
        ),
        (
            "/about", .json(["name": "a", "more": true]), 2,
            "response.body.more is not in the recording"
        ),
        ("/about", .json(.null), 2, "response.body differs"),
    ])
    func aChangeFailsExactlyItsTest(
        _ path: String, _ changed: StubResponse, index: Int, difference: String
    ) async throws {
        let test = RecordedTest(on: try await host([path: changed]), as: "shop")
        for (position, call) in Self.recording.calls.enumerated() {
            guard position == index else {
                try await test.check(call)
                continue
            }
            let error = await #expect(throws: RecordingError.self) { try await test.check(call) }
            #expect(error?.code == .differsFromRecording)
            #expect(error?.message.contains(difference) == true, "\(error?.message ?? "")")
            #expect(error?.message.contains("milk") == false)
        }
    }

    @Test func comparesValuesIfAsked() async throws {
        var test = RecordedTest(on: try await host(), as: "shop")
        test.rule = .values
        guard case .differs(let differences) = try await outcomes(test)[2] else {
            Issue.record("alike")
            return
        }
        #expect(differences.map(\.place) == ["response.body.name"])
        #expect(differences.first?.recorded == "shop" && differences.first?.found == "other")
    }

    @Test func comparesTheRequestThatWasSent() async throws {
        let stub = StubEngine()
        stub.respond(with: .json(["id": 8], status: 201))
        let system = try await startSystem(stub) { options in
            options.callOptions.attemptInterceptors = [AddingField()]
        }
        var exchange = Self.exchanges[1]
        exchange.request.fields.append(RecordedField(name: "X-Added", value: "2"))
        let outcome = try await RecordedTest(on: system, as: "shop").outcome(of: exchange)
        guard case .differs(let differences) = outcome else {
            Issue.record("\(outcome)")
            return
        }
        #expect(differences.map(\.place) == ["request.fields.x-added"])
    }

    private struct AddingField: AttemptInterceptor {
        func intercept(_ call: OutgoingCall, next: NextAttempt) async throws -> EngineResponse {
            var call = call
            call.request.headerFields[HTTPField.Name("X-Added")!] = "1"
            return try await next(call)
        }
    }

    /// Other spaces are other bytes, unless the body has what differs by rule.
    @Test func comparesTheBytesOfTheRequest() async throws {
        let stub = StubEngine()
        stub.respond(with: .json(["id": 8], status: 201))
        let system = try await startSystem(stub) { options in
            options.callOptions.attemptInterceptors = [Spacing()]
        }
        for (body, places) in [
            (#"{"item":"tea"}"#, ["request.body"]), (#"{"item":"tea","nonce":"a"}"#, []),
            (#"{"item":"redacted-1"}"#, []),
        ] {
            var exchange = RecordedExchange.json(
                "POST", "https://old.example.com/orders", request: body, response: #"{"id":8}"#,
                status: 201)
            var test = RecordedTest(on: system, as: "shop")
            if body.contains("redacted-1") {
                exchange.redactions = [.init(place: "request.body.item", mark: 1)]
                test.fills[1] = "tea"
            }
            let outcome = try await test.outcome(of: exchange)
            let expected = places.map { Difference($0, .differs) }
            #expect(outcome == (places.isEmpty ? .alike : .differs(expected)), "\(body)")
        }
    }

    private struct Spacing: AttemptInterceptor {
        func intercept(_ call: OutgoingCall, next: NextAttempt) async throws -> EngineResponse {
            var call = call
            let text = String(decoding: call.body.bytes ?? [], as: UTF8.self)
            call.body = HTTPRequestBody(Array(text.replacing(":", with: ": ").utf8))
            return try await next(call)
        }
    }

    @Test func sendsNoMark() async throws {
        let stub = StubEngine()
        stub.respond(with: .json([:]))
        let system = try await startSystem(stub)
        var exchange = RecordedExchange.json(
            "GET", "https://old.example.com/a?token=secret99", request: #"{"password":5}"#)
        exchange.request.fields += [
            RecordedField(name: "Authorization", value: "Bearer q7Zr2mVx9LkT4bNw8sYc"),
            RecordedField(name: "Signature", value: "sig1=:abc:"),
        ]
        let redacted = exchange.redacted()
        var test = RecordedTest(on: system, as: "shop")
        let outcome = try await test.outcome(of: redacted)
        guard case .skipped(let reason) = outcome else {
            Issue.record("\(outcome)")
            return
        }
        #expect(reason.contains("REDACTED_1") && reason.contains("request.url.query.token"))
        #expect(stub.requests.isEmpty)
        for redaction in redacted.redactions {
            test.fills[redaction.mark] =
                ["token": "t1", "password": "5"][redaction.place.split(separator: ".").last ?? ""]
                ?? "cr"
        }
        #expect(try await test.outcome(of: redacted) == .alike)
        let sent = try #require(stub.requests.first)
        #expect(sent.request.path == "/a?token=t1")
        #expect(sent.request.headerFields[.authorization] == "Bearer cr")
        #expect(sent.request.headerFields[HTTPField.Name("Signature")!] == nil)
        #expect(sent.body == Array(#"{"password":5}"#.utf8))
        test.fills = [:]
        await #expect(throws: RecordingError.self) { try await test.check(RecordedCall(redacted)) }
    }

    @Test func tellsOfAHostThatGivesNoResponse() async throws {
        let system = try await startSystem(StubEngine())
        let test = RecordedTest(on: system, as: "shop")
        guard case .unanswered = try await test.outcome(of: Self.exchanges[0]) else {
            Issue.record("answered")
            return
        }
        await #expect(throws: RecordingError.self) {
            try await test.check(RecordedCall(method: "GET"))
        }
    }
}
