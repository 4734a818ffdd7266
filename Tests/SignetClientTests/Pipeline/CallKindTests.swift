import HTTPTypes
import SignetClient
import SignetJSON
import SignetRPC
import SignetVault
import TestSupport
import Testing

/// Every kind of call goes through all stages: fields of all levels, user agent, URL rules,
/// retries, record.
@Suite(.timeLimit(.minutes(2))) struct CallKindTests {
    enum Kind: CaseIterable, Sendable {
        case call, typed, batch, exchange, upload, download, stream, pages, fetch

        /// Whether the service speaks JSON-RPC.
        var isProcedure: Bool { [.call, .typed, .batch, .fetch].contains(self) }

        var method: String {
            switch self {
            case .call: "list"
            case .typed: "count"
            case .batch: "batch"
            case .upload: "PUT"
            case .fetch: "values"
            case .exchange, .download, .stream, .pages: "GET"
            }
        }

        var response: RecordingEngine.Response {
            switch self {
            case .call, .typed: .init(body: #"{"jsonrpc":"2.0","id":1,"result":1}"#)
            case .batch: .init(body: #"[{"jsonrpc":"2.0","id":1,"result":1}]"#)
            case .fetch: .init(body: #"{"jsonrpc":"2.0","id":1,"result":{}}"#)
            case .exchange, .upload, .download, .stream, .pages: .init(body: "[1]")
            }
        }
    }

    private struct Count: Endpoint {
        typealias Success = Int
        var service: ServiceName { "a" }
        var method: RPCMethod { "count" }
    }

    private static func system(
        _ kind: Kind, _ engine: RecordingEngine, _ more: JSONObject = [:]
    ) async throws -> NetworkSystem {
        var options = NetworkSystem.Options()
        options.engine = engine
        options.clock.sleep = { _ in }
        options.callOptions.fields[system] = "system"
        var values: JSONObject = [
            "services.a.protocol": kind.isProcedure ? "jsonrpc-2.0" : "rest",
            "services.a.commonFields": ["x-common": "common"], "app.userAgent": "shop/1",
        ]
        for (name, value) in more { values[name] = value }
        let configuration = try Settings.configuration(values)
        guard kind == .fetch else {
            return try await NetworkSystem.start(configuration, options: options)
        }
        return try await NetworkSystem.start(
            schema: configuration.schema, defaults: .values(configuration.publicValues),
            fetching: FetchPlan(service: "a", method: "values"), options: options)
    }

    private static let system = HTTPField.Name("X-System")!
    private static let common = HTTPField.Name("X-Common")!

    private static func make(_ kind: Kind, on system: NetworkSystem) async throws {
        var options = RequestOptions(idempotency: .always)
        options.fields[.acceptLanguage] = "en"
        switch kind {
        case .call: _ = try await system.call(RPCCall("list"), on: "a", options: options)
        case .typed: #expect(try await system.send(Count(), options: options) == 1)
        case .batch: _ = try await system.batch([RPCCall("list")], on: "a", options: options)
        case .exchange:
            _ = try await system.exchange(
                "a", method: .get, target: "/x", fields: [:], body: [], options: options)
        case .upload:
            _ = try await system.upload(
                [1, 2], contentType: "text/plain", with: RESTRequest(.put, "/x"), to: "a",
                options: options)
        case .download:
            let folder = try TemporaryDirectory()
            _ = try await system.download(
                "a", target: "/x", to: folder.path("file"), options: options)
        case .stream:
            let response = try await system.stream(
                "a", method: .get, target: "/x", options: options)
            #expect(try await response.body.collect(limit: 9) == Array("[1]".utf8))
        case .pages:
            var count = 0
            for try await _ in system.pages(
                of: RESTRequest(.get, "/x"), on: "a", by: .link(), options: options)
            {
                count += 1
            }
            #expect(count == 1)
        case .fetch: try await system.refetch()
        }
    }

    @Test(.features("000-33", "001-02"), arguments: Kind.allCases)
    func passesEveryStage(_ kind: Kind) async throws {
        // The start of a system that fetches its values is a call too.
        let earlier = kind == .fetch ? [kind.response] : []
        let engine = RecordingEngine(
            responses: earlier + [.init(status: 503, body: ""), kind.response])
        let system = try await Self.system(kind, engine)
        let events = system.events
        try await Self.make(kind, on: system)
        await system.shutdown()
        #expect(engine.count == earlier.count + 2)
        for request in engine.requests {
            let fields = request.request.headerFields
            #expect(fields[.userAgent] == "shop/1")
            #expect(fields[Self.system] == "system" && fields[Self.common] == "common")
            #expect(fields[.acceptLanguage] == (kind == .fetch ? nil : "en"))
        }
        var records: [CallRecord] = []
        for await case .finished(let record) in events { records.append(record) }
        let record = try #require(records.first)
        #expect(records.count == 1)
        #expect(record.identity.service == "a" && record.identity.method == kind.method)
        #expect(record.outcome == .success)
        #expect(record.work.attempts.flatMap(\.hops).map(\.status) == [503, 200])
    }

    @Test(.features("000-15"), arguments: Kind.allCases)
    func aURLRuleRefuses(_ kind: Kind) async throws {
        let engine = RecordingEngine(responses: [kind.response])
        let error = await #expect(throws: ClientError.self) {
            // A system that fetches its values doesn't start.
            let system = try await Self.system(
                kind, engine, ["urlRules.refused": ["api\\.example\\.com"]])
            do {
                try await Self.make(kind, on: system)
            } catch {
                await system.shutdown()
                throw error
            }
        }
        #expect(error?.code == .refusedURL && engine.count == 0)
    }
}
