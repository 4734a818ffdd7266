import Foundation
import HTTPTypes
import SignetClient
import SignetTransport
import TestSupport
import Testing

@testable import SignetRecording

/// The curl line sends the same bytes as the system did.
@Suite struct CurlTests {
    struct Case: Sendable, CustomTestStringConvertible {
        var method = HTTPRequest.Method.get
        var target = "/"
        var fields: HTTPFields = [:]
        var body: [UInt8] = []
        var testDescription: String { "\(method) \(target)" }
    }

    static let cases = [
        Case(target: "/a/../b?x=[1]&y={2}&z=%20'q'"),
        Case(fields: [
            .userAgent: "me", .accept: "a/b", .acceptLanguage: "it's \"x\" $HOME `id` \\",
        ]),
        Case(
            method: .post, fields: [.contentType: "application/json"],
            body: Array("{\"a\":\"it's\\n\"}\n".utf8)),
        Case(method: .post, body: Array("@/etc/passwd".utf8)),
        // With a combining mark, the quotation mark is a part of another character.
        Case(method: .post, body: Array("'\u{301};exit 9 #'\u{301}".utf8)),
        Case(method: .put, target: "/f", body: [0, 1, 0xFF, 0x0A, 0x25, 0x5C]),
        Case(method: .delete, target: "/x"),
        Case(method: .patch, target: "/p", body: Array("é".utf8)),
        Case(method: .put, target: "/none"), Case(method: .patch, target: "/none"),
        Case(method: .head, target: "/h"), Case(method: .post, target: "/empty"),
        Case(method: HTTPRequest.Method("PURGE")!, target: "/purge"),
        Case(method: .post, body: [UInt8](repeating: 0x61, count: 5000)),
    ]

    @Test(arguments: cases) func sendsTheSameBytes(_ item: Case) async throws {
        let server = try await CaptureServer()
        var options = NetworkSystem.Options()
        options.runMode = .development
        options.dangerous.allowUnpinnedServices()
        let system = try await NetworkSystem.start(
            services: ["shop": .init(baseURL: server.url, payloadProtocol: .rest)],
            options: options)
        let recording = try await system.record(.anywhere) {
            _ = try await system.exchange(
                "shop", method: item.method, target: item.target, fields: item.fields,
                body: item.body)
        }
        let read = try Recording(har: recording.har())
        let command = try #require(read.exchanges.first?.curlCommand)
        let output = try await ChildProcess.run(
            "/bin/sh", ["-c", "\(command) --silent --output /dev/null"])
        #expect(output.exit == 0, "\(command): \(output.stderr)")
        let requests = try await server.requests(count: 2)
        #expect(text(requests[0]) == text(requests[1]), "\(command)")
    }

    @Test func putsVariablesInThePlacesOfMarks() async throws {
        let server = try await CaptureServer()
        let body = #"{"password":"hunter2hunter2","pin":4711,"it":"it's"}"#
        var exchange = RecordedExchange.json(
            "POST", "\(server.url)/x?token=abcdef&a=1", request: body)
        exchange.request.fields.append(
            RecordedField(name: "Authorization", value: "Bearer q7Zr2mVx9LkT4bNw8sYc"))
        let redacted = exchange.redacted()
        let command = try #require(redacted.curlCommand)
        #expect(
            !command.contains("hunter2") && !command.contains("4711") && !command.contains("q7Zr"))
        let marks = Dictionary(
            zip(redacted.redactions.map(\.place), redacted.redactions.map(\.mark)),
            uniquingKeysWith: { first, _ in first })
        let values = [
            "request.url.query.token": "abcdef",
            "request.fields.authorization": "q7Zr2mVx9LkT4bNw8sYc",
            "request.body.password": "hunter2hunter2", "request.body.pin": "4711",
        ]
        var environment: [String: String] = [:]
        for (place, value) in values {
            environment["REDACTED_\(marks[place] ?? 0)"] = value
        }
        #expect(Set(redacted.curlVariables) == Set(environment.keys))
        let output = try await ChildProcess.run(
            "/bin/sh", ["-c", command], environment: environment)
        #expect(output.exit == 0, "\(output.stderr)")
        let sent = text(try await server.requests(count: 1)[0])
        #expect(sent.contains("POST /x?token=abcdef&a=1 HTTP/1.1\r\n"))
        #expect(sent.contains("Authorization: Bearer q7Zr2mVx9LkT4bNw8sYc\r\n"))
        #expect(sent.hasSuffix("\r\n\r\n\(body)"))
    }

    @Test func hasNoCommandForABodyThatIsNotThere() {
        var exchange = RecordedExchange.json(request: "{}")
        exchange.request.body?.problem = "too large"
        exchange.request.body?.bytes = []
        #expect(exchange.curlCommand == nil)
    }
}
