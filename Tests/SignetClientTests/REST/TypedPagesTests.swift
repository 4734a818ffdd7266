import HTTPTypes
import SignetClient
import TestSupport
import Testing

/// Pages of typed calls, by number, offset, cursor and link.
@Suite struct TypedPagesTests {
    private struct ListOrders: RESTEndpoint {
        typealias Success = [Int]
        var service: ServiceName { "a" }
        var httpMethod: HTTPRequest.Method { .get }
        var path: PathTemplate { "/{shop}/orders" }
        var shop = "x"
        var limit: Int?
    }

    private struct SearchOrders: RESTEndpoint {
        var service: ServiceName { "a" }
        var httpMethod: HTTPRequest.Method { .post }
        var path: PathTemplate { "/search" }
        var text = "tea"
        struct Success: Decodable, Sendable, Equatable { var items: [Int] }
    }

    private struct RemoteOrders: Endpoint {
        var service: ServiceName { "a" }
        var method: RPCMethod { "orders.list" }
        var limit = 2
        struct Success: Decodable, Sendable, Equatable { var items: [Int] }
    }

    private struct Positional: Endpoint {
        var service: ServiceName { "a" }
        var method: RPCMethod { "orders.list" }
        func parameters() throws(PayloadError) -> RPCParameters? { .array([1]) }
    }

    private func read<Call: TypedCall>(
        _ call: Call, by paging: Paging, _ bodies: [String], fields: [HTTPFields] = [],
        payload: ServiceConfiguration.PayloadProtocol = .rest
    ) async throws -> (pages: [Call.Success], sent: [EngineRequest], code: String?) {
        let responses = bodies.enumerated().map { index, body in
            RecordingEngine.Response(
                body: payload == .rest ? body : #"{"jsonrpc":"2.0","id":1,"result":\#(body)}"#,
                fields: index < fields.count ? fields[index] : [:])
        }
        let engine = RecordingEngine(responses: responses)
        let system = try await Pipeline.system(engine, payload: payload)
        var pages: [Call.Success] = []
        var code: String?
        do throws(ClientError) {
            for try await page in system.pages(of: call, by: paging) { pages.append(page) }
        } catch {
            code = error.code.name
        }
        await system.shutdown()
        return (pages, engine.requests, code)
    }

    private static func paths(_ sent: [EngineRequest]) -> [String] {
        sent.map { $0.request.path ?? "" }
    }

    private static func params(_ sent: [EngineRequest]) throws -> [JSONValue?] {
        try sent.map { try JSONValue(parsing: $0.bytes)["params"] }
    }

    @Test(.features("001-17", "003-17")) func pagesAreCountedToAnEmptyOne() async throws {
        let result = try await read(ListOrders(limit: 2), by: .number(), ["[1,2]", "[3]", "[]"])
        #expect(result.pages == [[1, 2], [3], []] && result.code == nil)
        #expect(
            Self.paths(result.sent) == [1, 2, 3].map { "/v1/x/orders?limit=2&page=\($0)" })
    }

    @Test(.features("003-17")) func aShortPageEndsTheListIfItsSizeIsKnown() async throws {
        let short = try await read(
            ListOrders(), by: .number(as: "p", from: 0, size: 2), ["[1,2]", "[3]"])
        #expect(short.pages == [[1, 2], [3]] && short.code == nil)
        #expect(Self.paths(short.sent) == ["/v1/x/orders?p=0", "/v1/x/orders?p=1"])
        let empty = try await read(ListOrders(), by: .number(size: 2), ["[]"])
        #expect(empty.pages == [[]] && empty.sent.count == 1)
    }

    @Test(.features("003-17")) func anOffsetGrowsByTheReceivedItems() async throws {
        let result = try await read(
            SearchOrders(), by: .offset(at: ["items"], as: "skip", from: 5),
            [#"{"items":[1,2]}"#, #"{"items":[3]}"#, #"{"items":[]}"#])
        #expect(result.pages.map(\.items) == [[1, 2], [3], []] && result.code == nil)
        #expect(
            result.sent.map { String(decoding: $0.bytes, as: UTF8.self) } == [
                #"{"text":"tea","skip":5}"#, #"{"text":"tea","skip":7}"#,
                #"{"text":"tea","skip":8}"#,
            ])
    }

    @Test func aCountMayBeInAFieldOrAQuery() async throws {
        let name = try #require(HTTPField.Name("X-Page"))
        let field = try await read(
            ListOrders(), by: .counted(.page, to: .field(name), first: 1), ["[1]", "[]"])
        #expect(field.sent.map { $0.request.headerFields[name] } == ["1", "2"])
        let query = try await read(
            ListOrders(), by: .counted(.item, to: .query("at"), first: 0, size: 2), ["[1]"])
        #expect(Self.paths(query.sent) == ["/v1/x/orders?at=0"])
    }

    @Test func cursorsAndOffsetsOfRemoteProcedures() async throws {
        let cursor = try await read(
            RemoteOrders(), by: .cursor(at: ["next"], as: "cursor"),
            [#"{"items":[1],"next":"a"}"#, #"{"items":[2],"next":7}"#, #"{"items":[]}"#],
            payload: .jsonRPC2)
        #expect(cursor.pages.map(\.items) == [[1], [2], []] && cursor.code == nil)
        #expect(
            try Self.params(cursor.sent) == [
                ["limit": 2], ["limit": 2, "cursor": "a"], ["limit": 2, "cursor": 7],
            ])
        let offset = try await read(
            RemoteOrders(),
            by: .counted(.item, to: .parameter("page", "at"), items: ["items"], first: 0, size: 2),
            [#"{"items":[1,2]}"#, #"{"items":[3]}"#], payload: .jsonRPC2)
        #expect(
            try Self.params(offset.sent) == [
                ["limit": 2, "page": ["at": 0]], ["limit": 2, "page": ["at": 2]],
            ])
    }

    @Test func linksOfATypedCallAreFollowed() async throws {
        let link = try #require(HTTPField.Name("Link"))
        let result = try await read(
            ListOrders(limit: 1), by: .link(), ["[1]", "[2]"],
            fields: [[link: "</v1/x/orders?limit=1&after=1>; rel=next"]])
        #expect(result.pages == [[1], [2]] && result.code == nil)
        #expect(
            Self.paths(result.sent) == ["/v1/x/orders?limit=1", "/v1/x/orders?limit=1&after=1"])
        let away = try await read(
            ListOrders(), by: .link(), ["[1]", "[2]"],
            fields: [[link: "<https://evil.example/>; rel=next"]])
        #expect(away.code == "paging-refused" && away.pages == [[1]])
    }

    /// A service that ignores the number would be read up to the limit.
    @Test func theSamePageTwiceIsALoop() async throws {
        for paging in [Paging.number(), .offset()] {
            let result = try await read(ListOrders(), by: paging, ["[1,2]"])
            #expect(result.code == "paging-loop" && result.pages == [[1, 2]])
            #expect(result.sent.count == 2)
        }
    }

    @Test func aCountWithoutEndIsAnError() async throws {
        var paging = Paging.number()
        paging.maximumPages = 3
        let result = try await read(ListOrders(), by: paging, (1...9).map { "[\($0)]" })
        #expect(result.code == "too-many-pages" && result.pages == [[1], [2], [3]])
    }

    @Test(arguments: [
        #"{"items":1}"#, #"{"items":{}}"#, #"{"items":"x"}"#, "{}", "[]", "1",
    ])
    func aPageWithoutItsItems(_ body: String) async throws {
        let result = try await read(
            RESTCall(RESTRequest(.get, "/x"), on: "a"), by: .number(at: ["items"]), [body])
        #expect(result.code == "malformed-response" && result.sent.count == 1)
        // The page that was received is not lost.
        #expect(result.pages.count == 1)
    }

    @Test func noItemsAreTheEnd() async throws {
        let null = try await read(
            RESTCall(RESTRequest(.get, "/x"), on: "a"), by: .number(at: ["items"]),
            [#"{"items":null}"#])
        #expect(null.code == nil && null.sent.count == 1)
    }

    @Test func aPageOfAnotherTypeEndsTheList() async throws {
        let result = try await read(ListOrders(), by: .number(), ["[1]", #"["a"]"#, "[]"])
        #expect(result.code == "type-mismatch" && result.pages == [[1]])
        #expect(result.sent.count == 2)
    }

    @Test func refusesCallsWithoutPages() async throws {
        for (paging, code) in [
            (Paging.link(), "unsupported-call"),
            (.cursor(from: .result("n"), to: .query("n")), "unsupported-call"),
            (.cursor(from: .result("n"), to: .body("n")), "unsupported-call"),
            (.counted(.page, to: .parameter(), first: 1), "invalid-params"),
            (.number(from: -1), "invalid-params"), (.number(size: 0), "invalid-params"),
            (.offset(from: .max), "invalid-params"),
            (.counted(.page, to: .parameter("limit", "x"), first: 1), "invalid-params"),
        ] {
            let result = try await read(RemoteOrders(), by: paging, ["{}"], payload: .jsonRPC2)
            #expect(result.code == code && result.sent.isEmpty)
        }
        let positional = try await read(
            Positional(), by: .offset(), ["[]"], payload: .jsonRPC2)
        #expect(positional.code == "invalid-params" && positional.sent.isEmpty)
        for (call, paging, code) in [
            (RESTCall(RESTRequest(.put, "/x"), on: "a"), Paging.number(), "unsupported-call"),
            (
                .get("/x", on: "a"), .counted(.page, to: .parameter("a", "b"), first: 1),
                "invalid-params"
            ),
            (.post("/x", on: "a", body: [1]), .number(), "invalid-params"),
        ] {
            let result = try await read(call, by: paging, ["[]"])
            #expect(result.code == code && result.sent.isEmpty)
        }
    }
}
