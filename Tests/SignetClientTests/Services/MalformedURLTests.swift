import SignetClient
import SignetJSON
import SignetPinning
import SignetTransport
import Testing

/// The client refuses a URL that other clients read differently, in every place that accepts a URL.
@Suite struct MalformedURLTests {
    private static let urls = [
        "https://other.test\\@api.example.com/", "https://api.example.com\\",
        "https:\\\\api.example.com",
        "https://api.example.com/a\\b", "https://api.example.com/?a\\b",
        "https://api.example.com/\t",
        "https://api.example.com/\r", "https://api.example.com/\n", "\nhttps://api.example.com/",
        "https://api.exa\tmple.com/", "https://api.example.com/\u{7F}", "https://api.example.com/ ",
    ]

    private static func options(_ engine: RecordingEngine) -> NetworkSystem.Options {
        var options = NetworkSystem.Options()
        options.engine = engine
        return options
    }

    private static func system(_ engine: RecordingEngine) async throws -> NetworkSystem {
        try await NetworkSystem.start(Settings.configuration([:]), options: options(engine))
    }

    private static func message(of error: ClientError?) -> String {
        let message = error?.message ?? ""
        #expect(!message.contains("\\") && !message.contains("\t") && !message.contains("\n"))
        return message
    }

    // One with "@" is refused before, as a public value with user info.
    @Test(arguments: urls.filter { !$0.contains("@") })
    func aServicesBaseURL(_ url: String) async throws {
        let engine = RecordingEngine()
        let error = await #expect(throws: ClientError.self) {
            try await NetworkSystem.start(
                Settings.configuration(["services.a.baseURL": .string(url)]),
                options: Self.options(engine))
        }
        #expect(error?.code.name == "invalid-service")
        #expect(Self.message(of: error).contains("services.a.baseURL"))
    }

    @Test(arguments: urls)
    func aCollectorOfPinReports(_ url: String) async throws {
        var options = Self.options(RecordingEngine())
        options.pinReports.collectors = [PinReportCollector(url: url)]
        let given = options
        let error = await #expect(throws: ClientError.self) {
            try await NetworkSystem.start(Settings.configuration([:]), options: given)
        }
        #expect(error?.code.name == "refused-url")
    }

    @Test(arguments: [
        "/a\\b", "/?a\\b", "/\\evil.test/", "/a\tb", "/a\r\nX: y", "/a\u{7F}", "/a#b", "#",
        // With the service's own host these would be another one.
        ".evil.test/", "@evil.test/", ":1/", "a",
    ])
    func aTarget(_ target: String) async throws {
        let engine = RecordingEngine()
        let system = try await Self.system(engine)
        let error = await #expect(throws: ClientError.self) {
            try await system.exchange(
                "a", method: .get, target: target, fields: [:], body: [UInt8]())
        }
        await system.shutdown()
        #expect(error?.code.name == "refused-url" && engine.count == 0)
    }

    @Test(arguments: [
        "https://other.test\\@api.example.com/", "\\\\evil.test/", "/\\evil.test/", "/a\\b",
        "/?a\\b",
        "/a#\\", "/a\tb", "https://api.exa\tmple.com/",
    ])
    func aLocation(_ location: String) async throws {
        let engine = RecordingEngine(responses: [
            .init(status: 302, fields: [.location: location]), .init(),
        ])
        let system = try await Self.system(engine)
        let error = await #expect(throws: ClientError.self) {
            try await system.exchange("a", method: .get, target: "/", fields: [:], body: [UInt8]())
        }
        await system.shutdown()
        #expect(error?.code.name == "malformed-response" && engine.count == 1)
    }
}
