import SignetClient
import Testing

/// Lists page by page, from a server that tries to lead the program elsewhere or to make the list
/// endless.
@Suite struct PagesTests {
    /// Its pin updates continue while pages are read.
    @Test func pagesKeepTheirSystemAlive() async throws {
        var system: NetworkSystem? = try await Pipeline.system(RecordingEngine())
        weak let held = system
        var pages = system?.pages(of: RESTRequest(.get, "/x"), on: "a", by: .link())
        system = nil
        #expect(held != nil && pages != nil)
        pages = nil
        #expect(held == nil)
    }

    private static let link = HTTPField.Name("Link")

    /// Responds with bodies and, if there is one, a Link field.
    private func responses(_ pages: (body: String, link: String?)...) -> [RecordingEngine.Response]
    {
        pages.map { page in
            var fields: HTTPFields = [:]
            if let name = Self.link, let link = page.link { fields[name] = link }
            return RecordingEngine.Response(body: page.body, fields: fields)
        }
    }

    private func read(
        _ responses: [RecordingEngine.Response], by paging: Paging = .link(),
        request: RESTRequest = RESTRequest(.get, "/orders", query: ["size": 2])
    ) async throws -> (bodies: [String], targets: [String], error: ClientError?) {
        let engine = RecordingEngine(responses: responses)
        var options = NetworkSystem.Options()
        options.engine = engine
        let service = ServiceConfiguration(
            baseURL: "https://api.example.com/v1", payloadProtocol: .rest)
        let system = try await NetworkSystem.start(
            services: ["shop": service], policy: .allowingAll(), options: options)
        var bodies: [String] = []
        var failure: ClientError?
        do throws(ClientError) {
            for try await page in system.pages(of: request, on: "shop", by: paging) {
                bodies.append(page.result?.value.text ?? "")
            }
        } catch {
            failure = error
        }
        await system.shutdown()
        return (bodies, engine.requests.map { $0.request.path ?? "" }, failure)
    }

    @Test func linksAreFollowed() async throws {
        let result = try await read(
            responses(
                ("[1]", "</v1/orders?page=2>; rel=\"next\""),
                ("[2]", "<https://api.example.com:443/v1/orders?page=3>; rel=next, </>; rel=first"),
                ("[3]", "<?page=2>; rel=prev")))
        #expect(result.error == nil)
        #expect(result.bodies == ["[1]", "[2]", "[3]"])
        #expect(
            result.targets == ["/v1/orders?size=2", "/v1/orders?page=2", "/v1/orders?page=3"])
    }

    /// Another server must not choose a request that carries the service's credential.
    @Test func aLinkCountsFromTheLastResponse() async throws {
        func redirect(to location: String) -> RecordingEngine.Response {
            RecordingEngine.Response(status: 302, fields: [.location: location])
        }
        let moved = try await read(
            [redirect(to: "/v2/list")]
                + responses(("[1]", "<next>; rel=\"next\""), ("[2]", nil)))
        #expect(moved.error == nil)
        #expect(moved.targets == ["/v1/orders?size=2", "/v2/list", "/v2/next"])
        let left = try await read(
            [redirect(to: "https://b.test/list")]
                + responses(
                    ("[1]", "<https://api.example.com/v1/delete?confirm=yes>; rel=\"next\""),
                    ("[2]", nil)))
        #expect(left.error?.code == .pagingRefused && left.bodies == ["[1]"])
        #expect(left.targets.count == 2)
        let back = try await read(
            [redirect(to: "https://b.test/"), redirect(to: "https://api.example.com/v1/x")]
                + responses(("[1]", "<y>; rel=\"next\""), ("[2]", nil)))
        #expect(back.error?.code == .pagingRefused && back.targets.count == 3)
    }

    @Test func cursorsAreRepeated() async throws {
        let result = try await read(
            responses(
                (#"{"meta":{"next":"a&b"}}"#, nil), (#"{"meta":{"next":7}}"#, nil),
                (#"{"meta":{"next":null}}"#, nil)),
            by: .cursor(at: ["meta", "next"], as: "after"))
        #expect(result.error == nil)
        #expect(
            result.targets == [
                "/v1/orders?size=2", "/v1/orders?size=2&after=a%26b", "/v1/orders?size=2&after=7",
            ])
    }

    @Test(arguments: [#"{}"#, #"{"next":""}"#, #"{"next":null}"#, "[]", "null"])
    func anEmptyCursorIsTheEnd(_ body: String) async throws {
        let result = try await read(responses((body, nil)), by: .cursor(at: ["next"], as: "after"))
        #expect(result.error == nil && result.bodies.count == 1)
    }

    @Test(arguments: [(65_536, nil), (65_537, "malformed-response")] as [(Int, String?)])
    func aLongCursorIsRefused(_ size: Int, _ code: String?) async throws {
        let text = String(repeating: "7", count: size)
        for cursor in [text, "\"\(text)\""] {
            let result = try await read(
                responses(("{\"next\":\(cursor)}", nil), ("{}", nil)),
                by: .cursor(from: .result("next"), to: .query("after")))
            #expect(result.error?.code.name == code)
            #expect(result.bodies.count == (code == nil ? 2 : 1))
        }
    }

    @Test(arguments: [
        ("<https://evil.example/v1/orders?page=2>; rel=next", "paging-refused"),
        ("<//evil.example/>; rel=next", "paging-refused"),
        ("<http://api.example.com/v1/orders?page=2>; rel=next", "paging-refused"),
        ("<https://api.example.com:444/>; rel=next", "paging-refused"),
        ("<https://u:p@api.example.com/>; rel=next", "paging-refused"),
        ("<file:///etc/passwd>; rel=next", "paging-refused"),
        ("<javascript:x>; rel=next", "paging-refused"),
        ("<https://evil.example\\@api.example.com/>; rel=next", "paging-refused"),
        ("<\\\\evil.example/>; rel=next", "paging-refused"), ("<a\tb>; rel=next", "paging-refused"),
        ("</a>; rel=next, </b>; rel=next", "malformed-response"),
        ("</a>; rel=\"next", "malformed-response"),
        ("<?size=2>; rel=next", "paging-loop"), ("<>; rel=next", "paging-loop"),
    ])
    func linksThatAreNotFollowed(_ link: String, _ code: String) async throws {
        let result = try await read(responses(("[1]", link), ("[2]", nil)))
        #expect(result.error?.code.name == code)
        // The page that was received is not lost.
        #expect(result.targets.count == 1 && result.bodies == ["[1]"])
    }

    @Test(
        arguments: [
            ("http://api.example.com/v1/orders?page=2", nil),
            ("http://api.example.com:443/v1/orders?page=2", nil),
            ("http://api.example.com:8080/v1/orders?page=2", "paging-refused"),
            ("http://evil.example/v1/orders?page=2", "paging-refused"),
            ("http://api.example.com.evil.example/", "paging-refused"),
        ] as [(String, String?)])
    func staysOnHTTPSAtTheSameHost(_ link: String, _ code: String?) async throws {
        var paging = Paging.link()
        paging.staysOnHTTPS = true
        let result = try await read(
            responses(("[1]", "<\(link)>; rel=next"), ("[2]", nil)), by: paging)
        #expect(result.error?.code.name == code)
        #expect(result.targets.dropFirst() == (code == nil ? ["/v1/orders?page=2"] : []))
    }

    @Test func loopsEnd() async throws {
        let back = "</v1/orders?page=2>; rel=next"
        let result = try await read(
            responses(("[1]", back), ("[2]", "</v1/orders?page=3>; rel=next"), ("[3]", back)))
        #expect(result.error?.code.name == "paging-loop")
        #expect(result.targets.count == 3)
        let cursor = try await read(
            responses((#"{"next":"a"}"#, nil)), by: .cursor(at: ["next"], as: "after"))
        #expect(cursor.error?.code.name == "paging-loop")
        #expect(cursor.targets.count == 2)
    }

    @Test func aListWithoutEndIsAnError() async throws {
        let endless = (1...9).map { page in
            RecordingEngine.Response(body: #"{"next":\#(page)}"#)
        }
        for paging in [Paging.cursor(at: ["next"], as: "after")] {
            var paging = paging
            paging.maximumPages = 3
            let result = try await read(endless, by: paging)
            #expect(result.error?.code.name == "too-many-pages")
            #expect(result.targets.count == 3)
            #expect(result.bodies.count == 3)
        }
        var links = Paging.link()
        links.maximumPages = 1
        let result = try await read(
            responses(("[1]", "<?page=2>; rel=next"), ("[2]", nil)), by: links)
        #expect(result.error?.code.name == "too-many-pages")
        let one = try await read(responses(("[1]", nil)), by: links)
        #expect(one.error == nil && one.bodies == ["[1]"])
    }

    @Test(arguments: [#"{"next":{}}"#, #"{"next":[1]}"#, #"{"next":true}"#])
    func cursorsOfAnotherType(_ body: String) async throws {
        let result = try await read(responses((body, nil)), by: .cursor(at: ["next"], as: "after"))
        #expect(result.error?.code.name == "malformed-response")
    }

    // MARK: Cursors elsewhere

    /// The requests of a list whose cursor is read from a place other than the result and written
    /// to one other than the query.
    private func requests(
        _ responses: [RecordingEngine.Response], _ request: RESTRequest, _ paging: Paging
    ) async throws -> (sent: [EngineRequest], error: ClientError?) {
        let engine = RecordingEngine(responses: responses)
        var options = NetworkSystem.Options()
        options.engine = engine
        let service = ServiceConfiguration(
            baseURL: "https://api.example.com/v1", payloadProtocol: .rest)
        let system = try await NetworkSystem.start(
            services: ["shop": service], policy: .allowingAll(), options: options)
        var failure: ClientError?
        do throws(ClientError) {
            for try await _ in system.pages(of: request, on: "shop", by: paging) {}
        } catch {
            failure = error
        }
        await system.shutdown()
        return (engine.requests, failure)
    }

    private static func text(_ request: EngineRequest) -> String {
        String(decoding: request.body.bytes ?? [], as: UTF8.self)
    }

    @Test func aCursorMayBeInABody() async throws {
        let pages = responses(
            (#"{"next":"a\"b"}"#, nil), (#"{"next":90071992547409931}"#, nil), ("{}", nil))
        let body = RESTBody.json(["filter": ["x": 1], "page": ["size": 2]])
        let result = try await requests(
            pages, RESTRequest(.post, "/search", body: body),
            .cursor(from: .result("next"), to: .body("page", "after")))
        #expect(result.error == nil)
        #expect(
            result.sent.map(Self.text) == [
                #"{"filter":{"x":1},"page":{"size":2}}"#,
                #"{"filter":{"x":1},"page":{"size":2,"after":"a\"b"}}"#,
                #"{"filter":{"x":1},"page":{"size":2,"after":90071992547409931}}"#,
            ])
        #expect(result.sent.allSatisfy { $0.request.path == "/v1/search" })
        let none = try await requests(
            responses((#"{"next":1}"#, nil), ("{}", nil)), RESTRequest(.post, "/search"),
            .cursor(from: .result("next"), to: .body("page", "after")))
        #expect(none.sent.map(Self.text) == ["", #"{"page":{"after":1}}"#])
    }

    @Test func aCursorMayBeInFields() async throws {
        let name = try #require(HTTPField.Name("X-Continuation"))
        var pages = responses(("[1]", nil), ("[2]", nil), ("[3]", nil))
        pages[0].fields = [name: "a, b=\"c\""]
        pages[1].fields = [name: ""]
        let result = try await requests(
            pages, RESTRequest(.get, "/orders"), .cursor(from: .field(name), to: .field(name)))
        #expect(result.error == nil)
        #expect(result.sent.map { $0.request.headerFields[name] } == [nil, "a, b=\"c\""])
        // As text of a number, too.
        let number = try await requests(
            responses((#"{"next":7}"#, nil), ("{}", nil)), RESTRequest(.get, "/orders"),
            .cursor(from: .result("next"), to: .field(name)))
        #expect(number.sent.map { $0.request.headerFields[name] } == [nil, "7"])
    }

    /// A server's cursor can't add a field, and two cursors are refused.
    @Test(arguments: [#""a\r\nX-Evil: 1""#, #""a\u0000""#, #""a\n""#])
    func cursorsThatNoFieldHolds(_ cursor: String) async throws {
        let name = try #require(HTTPField.Name("X-Continuation"))
        let result = try await requests(
            responses((#"{"next":\#(cursor)}"#, nil), ("{}", nil)), RESTRequest(.get, "/orders"),
            .cursor(from: .result("next"), to: .field(name)))
        #expect(result.error?.code.name == "malformed-response")
        #expect(result.sent.count == 1)
        var pages = responses(("[1]", nil), ("[2]", nil))
        pages[0].fields.append(HTTPField(name: name, value: "a"))
        pages[0].fields.append(HTTPField(name: name, value: "b"))
        let twice = try await requests(
            pages, RESTRequest(.get, "/orders"), .cursor(from: .field(name), to: .query("after")))
        #expect(twice.error?.code.name == "malformed-response")
        #expect(twice.sent.count == 1)
    }

    /// Calls that can't have a second page are refused before the first.
    @Test func bodiesWithoutAPlaceForACursor() async throws {
        let paging = Paging.cursor(from: .result("next"), to: .body("page", "after"))
        for (request, paging, code) in [
            (RESTRequest(.get, "/a"), paging, "unsupported-call"),
            (RESTRequest(.put, "/a"), paging, "unsupported-call"),
            (RESTRequest(.post, "/a", body: .json([1])), paging, "invalid-params"),
            (RESTRequest(.post, "/a", body: .json(["page": 1])), paging, "invalid-params"),
            (RESTRequest(.post, "/a", body: try .form(["a": 1])), paging, "invalid-params"),
            (RESTRequest(.post, "/a"), .cursor(from: .result("n"), to: .body()), "invalid-params"),
            (
                RESTRequest(.post, "/a"), .cursor(from: .result("n"), to: .query("n")),
                "unsupported-call"
            ),
        ] {
            let result = try await requests(responses(("{}", nil)), request, paging)
            #expect(result.error?.code.name == code, "\(result.error?.message ?? "")")
            #expect(result.sent.isEmpty)
        }
    }

    @Test func onlyGETIsRepeated() async throws {
        let result = try await read(responses(("[1]", nil)), request: RESTRequest(.post, "/orders"))
        #expect(result.error?.code.name == "unsupported-call")
        #expect(result.targets.isEmpty)
    }
}
