import HTTPTypes
import SignetClient
import SignetRPC
import Testing

/// Fields and bodies of responses may hold secrets, so neither a description nor a dump shows them.
@Suite struct ResponseDumpTests {
    private static let canary = "ZZZZZZ"
    private static let fields: HTTPFields = [
        .setCookie: "sid=\(canary)", .location: "/?token=\(canary)",
    ]

    private static func texts(of value: some Sendable) -> String {
        var text = "\(value) \(String(reflecting: value)) \([value])"
        dump(value, to: &text)
        dump(Optional(value), to: &text)
        return text
    }

    private static func check(_ text: String) {
        #expect(!text.contains(canary) && !text.contains("90, 90"), "\(text)")
        #expect(text.contains("200") && text.contains("set-cookie"), "\(text)")
    }

    @Test func aRawResponseShowsNoValue() {
        var response = RawResponse(
            status: 200, fields: Self.fields, body: Array(Self.canary.utf8))
        response.trailers = [.eTag: Self.canary]
        Self.check(Self.texts(of: response))
    }

    @Test func aStreamedResponseShowsNoValue() async throws {
        let engine = RecordingEngine(responses: [.init(body: Self.canary, fields: Self.fields)])
        let system = try await Pipeline.system(engine)
        let response = try await system.stream("a", method: .get, target: "/x")
        Self.check(Self.texts(of: response))
        #expect(try await response.body.collect(limit: 100) == Array(Self.canary.utf8))
        Self.check(Self.texts(of: response))
        await system.shutdown()
    }
}
