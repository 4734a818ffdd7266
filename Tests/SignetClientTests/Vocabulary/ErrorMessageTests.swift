import HTTPTypes
import SignetClient
import SignetJSON
import SignetRPC
import SignetTransport
import TestSupport
import Testing

/// Error messages contain hosts and paths of requests, and no other value of the configuration.
@Suite struct ErrorMessageTests {
    private static let canary = "ZZZZZZ"

    private static func system(
        _ responses: [RecordingEngine.Response], _ values: JSONObject = [:]
    ) async throws -> NetworkSystem {
        var all: JSONObject = [
            "services.a.baseURL": .string("https://api.example.com/rpc?page=\(canary)"),
            "services.a.protocol": "rest", "services.a.attempts": 1,
            "services.a.commonFields": ["x-client": .string(canary)],
            "services.a.commonParameters": ["client": .string(canary)],
            "app.userAgent": .string(canary), "services.a.responseChecks.codeField": "code",
            "services.a.responseChecks.goodCodes": [.string(canary)],
        ]
        for (name, value) in values { all[name] = value }
        var options = NetworkSystem.Options()
        options.engine = RecordingEngine(responses: responses)
        return try await NetworkSystem.start(
            Settings.configuration(all), options: options)
    }

    @Test(
        arguments: [
            ("refused-url", .init(), ["urlRules.refused": ["page=ZZZZZZ"]]),
            ("refused-url", .init(), ["urlRules.allowed": ["ZZZZZZ"]]),
            ("connect", .init(failure: TransportError(.connect, "down")), [:]),
            ("http-status", .init(status: 403, body: #"{"why":"ZZZZZZ"}"#), [:]),
            ("malformed-response", .init(body: "ZZZZZZ"), [:]),
            ("business-code", .init(body: #"{"code":7}"#), [:]),
            (
                "too-many-redirects", .init(status: 302, fields: [.location: "/rpc/x?key=ZZZZZZ"]),
                [:]
            ),
        ] as [(String, RecordingEngine.Response, JSONObject)])
    func messagesNameHostAndPathAlone(
        _ code: String, _ response: RecordingEngine.Response, _ values: JSONObject
    ) async throws {
        let system = try await Self.system([response], values)
        let error = await #expect(throws: ClientError.self) {
            try await system.call(RESTRequest(.get, "/x"), on: "a")
        }
        #expect(error?.code.name == code, "\(error?.description ?? "")")
        var text = "\(error?.message ?? "") \(String(reflecting: error))"
        dump(error, to: &text)
        #expect(!text.contains(Self.canary), "\(text)")
        if code == "refused-url" {
            #expect(error?.message.contains("https://api.example.com/rpc/x") == true)
        }
        await system.shutdown()
    }
}
