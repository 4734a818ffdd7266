import Foundation
import SignetClient
import TestSupport
import Testing

/// A hostile REST server: no body makes a call hang, end twice or succeed.
@Suite struct RESTHostileTests {

    private struct Case: Sendable {
        var response: String
        var code: String
    }

    private static func response(
        _ body: String, status: String = "200 OK", type: String = "application/json",
        length: Int? = nil
    ) -> String {
        "HTTP/1.1 \(status)\r\nContent-Type: \(type)\r\nConnection: close\r\nContent-Length: "
            + "\(length ?? body.unicodeScalars.count)\r\n\r\n\(body)"
    }

    private static let cases: [String: Case] = [
        "html": Case(response: response("<html>no", type: "text/html"), code: "malformed-response"),
        "html-500": Case(
            response: response("<html>no", status: "500 No", type: "text/html"), code: "http-status"
        ),
        "empty-500": Case(response: response("", status: "500 No"), code: "http-status"),
        "spaces": Case(response: response("  \r\n"), code: "malformed-response"),
        "cut-json": Case(response: response(#"{"a":1"#), code: "malformed-response"),
        "cut-off": Case(response: response(#"{"a":1}"#, length: 100), code: "cut-off"),
        "cut-off-500": Case(
            response: response("x", status: "500 No", length: 100), code: "cut-off"),
        "twice": Case(response: response(#"{"a":1,"a":2}"#), code: "malformed-response"),
        "two": Case(response: response("{}{}"), code: "malformed-response"),
        "two-boms": Case(
            response: response("\u{EF}\u{BB}\u{BF}\u{EF}\u{BB}\u{BF}{}"), code: "malformed-response"
        ),
        "latin-1": Case(response: response("\"\u{E9}\""), code: "malformed-response"),
        "nan": Case(response: response("NaN"), code: "malformed-response"),
        "deep": Case(
            response: response(
                String(repeating: "[", count: 600) + String(repeating: "]", count: 600)),
            code: "malformed-response"),
        "flood": Case(response: "flood", code: "response-too-large"),
        "long": Case(response: response("[]", length: 1 << 40), code: "response-too-large"),
        "silent": Case(response: "~", code: "timeout"),
        "drip": Case(response: response("{", length: 2) + "~", code: "timeout"),
        "half-head": Case(response: "HTTP/1.1 200 OK\r\nContent-Ty~", code: "timeout"),
        "problem-html": Case(
            response: response("<html>", status: "500 No", type: "application/problem+json"),
            code: "http-status"),
        "json-302": Case(response: response("{}", status: "302 Found"), code: ""),
    ]

    private func withSystem(
        _ responses: [String: String], timeout: Duration,
        _ work: (NetworkSystem) async throws -> Void
    ) async throws {
        let paths = Dictionary(uniqueKeysWithValues: responses.map { ("/\($0.key)", $0.value) })
        let table = String(decoding: try JSONEncoder().encode(paths), as: UTF8.self)
        let (server, port) = try await SocketServer.start("bytes", [table])
        var options = NetworkSystem.Options()
        options.maximumResponseSize = 1 << 20
        let service = ServiceConfiguration(
            baseURL: "http://127.0.0.1:\(port)", payloadProtocol: .rest, timeout: timeout)
        let system = try await NetworkSystem.start(
            services: ["bad": service], policy: .allowingAll(), options: options)
        do {
            try await work(system)
        } catch {
            await system.shutdown()
            throw error
        }
        await system.shutdown()
        try await server.stop()
    }

    @Test func eachBadResponseHasItsName() async throws {
        try await withSystem(Self.cases.mapValues(\.response), timeout: .seconds(120)) { system in
            for (name, bad) in Self.cases.sorted(by: { $0.key < $1.key })
            where bad.code != "timeout" {
                let error = await #expect(throws: ClientError.self, "\(name)") {
                    try await system.call(RESTRequest(.get, "/\(name)"), on: "bad")
                }
                guard !bad.code.isEmpty else { continue }
                #expect(error?.code.name == bad.code, "\(name): \(error?.message ?? "")")
                #expect(error?.problem == nil)
            }
        }
    }

    @Test func skipsOneByteOrderMark() async throws {
        let bom = Self.response("\u{EF}\u{BB}\u{BF}{\"a\":1}")
        try await withSystem(["bom": bom], timeout: .seconds(120)) { system in
            let response = try await system.call(RESTRequest(.get, "/bom"), on: "bad")
            #expect(response.result?.value["a"] == 1)
        }
    }

    @Test func aServerThatStopsIsGivenUp() async throws {
        let slow = Self.cases.filter { $0.value.code == "timeout" }
        try await withSystem(slow.mapValues(\.response), timeout: .milliseconds(500)) { system in
            for name in slow.keys.sorted() {
                let error = await #expect(throws: ClientError.self, "\(name)") {
                    try await system.call(RESTRequest(.get, "/\(name)"), on: "bad")
                }
                #expect(error?.code.name == "timeout", "\(name): \(error?.message ?? "")")
            }
        }
    }

    @Test func acceptsUnusualValidResponses() async throws {
        let responses = [
            "plain": Self.response("[1]", type: "text/plain"),
            "typeless": Self.response("[1]", type: ""),
            "html-type": Self.response("[1]", type: "text/html"),
            "spaced": Self.response(" [1]\r\n"),
        ]
        try await withSystem(responses, timeout: .seconds(120)) { system in
            for name in responses.keys {
                let response = try await system.call(RESTRequest(.get, "/\(name)"), on: "bad")
                #expect(response.result?.value == [1], "\(name)")
            }
        }
    }

    @Test func aProblemReachesTheCaller() async throws {
        let body = #"{"type":"/probs/stock","title":"No tea","detail":"s3cr3t","left":0}"#
        let responses = [
            "problem": Self.response(body, status: "409 No", type: "application/problem+json"),
            "own": Self.response(#"{"why":"no tea"}"#, status: "409 No"),
        ]
        try await withSystem(responses, timeout: .seconds(120)) { system in
            let error = await #expect(throws: ClientError.self) {
                try await system.call(RESTRequest(.get, "/problem"), on: "bad")
            }
            #expect(error?.problem?.type == "/probs/stock")
            let left = try error?.problem?.decode(Int.self, named: "left")
            #expect(left == 0)
            #expect(error.map { "\($0)".contains("No tea") && !"\($0)".contains("s3cr3t") } == true)
            struct Own: Decodable { var why: String }
            let own = await #expect(throws: ClientError.self) {
                try await system.call(RESTRequest(.get, "/own"), on: "bad")
            }
            #expect(own?.problem == nil)
            let why = try own?.decodeResponse(Own.self).why
            #expect(why == "no tea")
        }
    }
}
