#if Inspector
import HTTPTypes
import Logging
import SignetClient
import SignetCurl
import SignetInspector
import SignetJSON
import SignetRPC
import SignetTesting
import SignetTransport

/// A running system on a stub engine, its page, and a browser that has opened it.
struct InspectorFixture: Sendable {
    let system: NetworkSystem
    let stub: StubEngine
    let page: Inspector
    let browser: PageBrowser

    init(
        _ mode: RunMode = .development, options: InspectorOptions = InspectorOptions(),
        showing values: ShownValues = .redacted,
        change: (inout NetworkSystem.Options) -> Void = { _ in }
    ) async throws {
        stub = StubEngine()
        stub.respond(to: .any, with: .result(["item": "tea"]))
        var systemOptions = NetworkSystem.Options()
        systemOptions.runMode = mode
        systemOptions.logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
        change(&systemOptions)
        system = try await NetworkSystem.start(
            services: [
                "orders": .init(
                    baseURL: "https://api.example.com/rpc", payloadProtocol: .jsonRPC2),
                "shop": .init(baseURL: "https://shop.example.com", payloadProtocol: .rest),
            ], stub: stub, options: systemOptions)
        page = try await system.inspect(options, showing: values)
        browser = try await PageBrowser(opening: page.url)
    }

    func stop() async {
        await page.stop()
        await system.shutdown()
        await browser.close()
    }
}

/// Does what a browser does with the page: keeps the cookie, and sends the page's token.
struct PageBrowser: Sendable {
    let engine: CurlEngine
    let authority: String
    let cookie: String
    let token: String

    init(opening link: String) async throws {
        engine = try CurlEngine()
        authority = String(link.split(separator: "/")[1])
        let opened = try await Self.send(engine, "GET", link)
        let set = opened.fields[.setCookie] ?? ""
        cookie = String(set.prefix { $0 != ";" })
        let page = try await Self.send(
            engine, "GET", "http://\(authority)/", fields: [.cookie: cookie])
        let text = String(decoding: page.body, as: UTF8.self)
        token =
            text.split(separator: "name=\"signet-token\" content=\"").last
            .map { String($0.prefix { $0 != "\"" }) } ?? ""
    }

    func close() async { await engine.shutdown() }

    /// Sends a request, whatever its status.
    static func send(
        _ engine: CurlEngine, _ method: String, _ url: String, fields: HTTPFields = [:],
        body: String = "", connectTo: [EngineRequest.ConnectTo] = []
    ) async throws -> RawResponse {
        let parts = url.split(separator: "/", maxSplits: 2, omittingEmptySubsequences: false)
        let rest = parts[2].split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
        var request = EngineRequest(
            HTTPRequest(
                method: .init(method)!, scheme: "http", authority: String(rest[0]),
                path: "/" + (rest.count > 1 ? String(rest[1]) : ""), headerFields: fields),
            body: HTTPRequestBody(Array(body.utf8)))
        request.connectTo = connectTo
        let response = try await engine.send(request)
        return RawResponse(
            status: response.response.status.code, fields: response.response.headerFields,
            body: try await response.body.collect(limit: 64 << 20))
    }

    /// The fields of a request of the page itself.
    var fields: HTTPFields {
        [
            .cookie: cookie, .origin: "http://\(authority)",
            HTTPField.Name("Signet-Token")!: token,
        ]
    }

    func get(_ path: String) async throws -> JSONValue {
        let response = try await Self.send(
            engine, "GET", "http://\(authority)\(path)", fields: fields)
        return try JSONValue(parsing: response.body)
    }

    func act(_ action: JSONValue) async throws -> (status: Int, answer: JSONValue) {
        let response = try await Self.send(
            engine, "POST", "http://\(authority)/api/act", fields: fields,
            body: action.text)
        return (response.status, try JSONValue(parsing: response.body))
    }

    /// The last state of each call so far, in the order in which they began.
    func calls(until isEnough: ([JSONValue]) -> Bool = { !$0.isEmpty }) async throws -> [JSONValue]
    {
        var (revision, rows): (Int64, [String: JSONValue]) = (0, [:])
        for _ in 0..<20 {
            let answer = try await get("/api/calls?after=\(revision)")
            revision = answer["revision"]?.number?.int64 ?? revision
            for row in answer["calls"]?.array ?? [] { rows[row["id"]?.string ?? ""] = row }
            let calls = rows.values.sorted {
                (Int($0["id"]?.string ?? "") ?? 0) < (Int($1["id"]?.string ?? "") ?? 0)
            }
            if isEnough(calls) { return calls }
        }
        return []
    }
}
#endif
