import HTTPTypes
import SignetCache
import Testing

/// Changes by a response of the origin: sections 4.3 and 4.4 of RFC 9111, and RFC 5861.
@Suite struct ReceivingTests {
    let client = SimulatedClient(now: DecisionTests.start)

    func get(_ path: String = "/a", _ fields: [String: String] = [:]) -> ClientReply {
        client.send(DecisionTests.request(fields, path: path))
    }

    /// Lets the origin answer each request with this response.
    func answer(_ fields: [String: String], status: Int = 200, content: String = "one") {
        let fields = DecisionTests.fields(fields, now: client.now)
        client.origin = { _ in
            OriginReply(
                response: HTTPResponse(status: .init(code: status), headerFields: fields),
                content: status == 304 ? [] : Array(content.utf8))
        }
    }

    /// Answers with 304 only if the request is conditional, and otherwise with another content.
    func answer(notModified fields: [String: String]) {
        let fields = DecisionTests.fields(fields, now: client.now)
        client.origin = { request in
            let sent = request.headerFields
            let isConditional = sent[.ifNoneMatch] != nil || sent[.ifModifiedSince] != nil
            return OriginReply(
                response: HTTPResponse(
                    status: isConditional ? .notModified : .ok, headerFields: fields),
                content: isConditional ? [] : Array("two".utf8))
        }
    }

    @Test func updatesFieldsOfAValidatedResponse() {
        answer([
            "Cache-Control": "max-age=10", "ETag": "\"1\"", "A": "old", "B": "kept", "Age": "5",
            "Content-Encoding": "x", "Content-Length": "3",
        ])
        _ = get()
        client.now += 10
        answer(
            ["ETag": "\"1\"", "A": "new", "Content-Length": "9", "Content-Encoding": "y"],
            status: 304)
        let reply = get()
        let fields = reply.response.headerFields
        #expect(reply.text == "one")
        #expect(fields[HTTPField.Name("A")!] == "new")
        #expect(fields[HTTPField.Name("B")!] == "kept")
        #expect(fields[.contentEncoding] == "x")
        #expect(fields[.contentLength] == "3")
        #expect(fields[.age] == "0")
        // It is fresh again, and its age is counted from the 304.
        client.now += 9
        #expect(get().response.headerFields[.age] == "9")
        #expect(client.forwarded.count == 2)
    }

    @Test(arguments: [
        ["ETag": "\"2\""], ["ETag": "W/\"2\""], ["ETag": "bad"], ["Last-Modified": "dunno"],
        ["Last-Modified": DecisionTests.old], ["ETag": "bad", "Last-Modified": DecisionTests.old],
    ])
    func refusesA304OfAnotherResponse(_ fields: [String: String]) {
        answer(["Cache-Control": "max-age=10", "ETag": "\"1\""])
        _ = get()
        client.now += 10
        answer(notModified: fields)
        let reply = get()
        #expect(reply.text == "two")
        #expect(reply.response.status == .ok)
        #expect(client.forwarded.count == 3)
        #expect(client.forwarded.last?.headerFields[.ifNoneMatch] == nil)
    }

    /// The 304 may be about the caller's own content.
    @Test(arguments: [
        ["If-None-Match": "\"2\""], ["If-None-Match": "\"2\", \"1\""],
        ["If-Modified-Since": DecisionTests.old],
    ])
    func asksAgainAfterA304ForTheCaller(_ fields: [String: String]) {
        answer(["Cache-Control": "max-age=10", "ETag": "\"1\""])
        _ = get()
        client.now += 10
        answer(notModified: [:])
        #expect(get("/a", fields).text == "two")
        #expect(client.forwarded.count == 3)
        let last = client.forwarded.last?.headerFields
        #expect(last?[.ifNoneMatch] == nil && last?[.ifModifiedSince] == nil)
    }

    /// It has the digest of no content (RFC 9530, section 2).
    @Test func a304DoesNotReplaceTheDigest() throws {
        let name = try #require(HTTPField.Name("Content-Digest"))
        answer(["Cache-Control": "max-age=10", "ETag": "\"1\"", "Content-Digest": "sha-256=:one:"])
        _ = get()
        client.now += 10
        answer(["ETag": "\"1\"", "Content-Digest": "sha-256=:none:"], status: 304)
        #expect(get().response.headerFields[name] == "sha-256=:one:")
        // A part of it has another one.
        let part = get("/a", ["Range": "bytes=0-1"]).response
        #expect(part.status == .partialContent && part.headerFields[name] == nil)
    }

    @Test(arguments: [500, 501, 503])
    func aFailureReplacesNothing(_ status: Int) {
        answer(["Cache-Control": "max-age=10", "ETag": "\"1\""])
        _ = get()
        client.now += 10
        answer(["Cache-Control": "max-age=60"], status: status, content: "bad")
        _ = get()
        client.now += 1
        answer(["ETag": "\"1\""], status: 304)
        #expect(get().text == "one")
    }

    @Test(arguments: [
        [:], ["ETag": "\"1\""], ["ETag": "W/\"1\""], ["ETag": "\"1\"", "Last-Modified": "dunno"],
    ])
    func acceptsA304OfTheResponse(_ fields: [String: String]) {
        answer(["Cache-Control": "max-age=10", "ETag": "\"1\""])
        _ = get()
        client.now += 10
        answer(notModified: fields)
        #expect(get().text == "one")
    }

    @Test func passesA304ForTheCallersOwnTagOn() {
        answer(["Cache-Control": "max-age=10", "ETag": "\"1\""])
        _ = get()
        client.now += 10
        answer(["ETag": "\"mine\""], status: 304)
        #expect(get("/a", ["If-None-Match": "\"mine\""]).response.status == .notModified)
        // A 304 for the stored tag, which the caller doesn't have, is a 200 for the caller.
        answer(["ETag": "\"1\""], status: 304)
        let reply = get("/a", ["If-None-Match": "\"mine\""])
        #expect(reply.response.status == .ok)
        #expect(reply.text == "one")
    }

    @Test func forgetsWhatA304ForbidsToStore() {
        answer(["Cache-Control": "max-age=10", "ETag": "\"1\""])
        _ = get()
        client.now += 10
        answer(["ETag": "\"1\"", "Cache-Control": "no-store"], status: 304)
        #expect(get().text == "one")
        #expect(client.store.count == 0)
    }

    @Test func findsAVariantByItsTag() {
        answer(["Cache-Control": "max-age=10", "ETag": "\"1\"", "Vary": "Foo"])
        _ = get("/a", ["Foo": "1"])
        answer(["ETag": "\"1\"", "Vary": "Foo", "A": "new"], status: 304)
        #expect(get("/a", ["Foo": "2"]).text == "one")
        #expect(client.forwarded.last?.headerFields[.ifNoneMatch] == "\"1\"")
        // Both variants are stored, and both have the new field.
        #expect(client.store.count == 2)
        for value in ["1", "2"] {
            let reply = get("/a", ["Foo": value])
            #expect(reply.response.headerFields[HTTPField.Name("A")!] == "new")
        }
        #expect(client.forwarded.count == 2)
    }

    @Test(arguments: [
        (["Cache-Control": "max-age=100"], true),
        (["Cache-Control": "max-age=100", "ETag": "\"1\"", "Content-Length": "3"], true),
        (["Cache-Control": "max-age=100", "ETag": "\"2\""], false),
        (["Cache-Control": "max-age=100", "Content-Length": "4"], false),
        (["Cache-Control": "max-age=100", "Last-Modified": DecisionTests.old], false),
        (["Cache-Control": "no-store, max-age=100"], false),
    ])
    func updatesByHead(_ fields: [String: String], isFresh: Bool) {
        answer(["Cache-Control": "max-age=60", "ETag": "\"1\""])
        _ = get()
        answer(fields.merging(["A": "new"]) { first, _ in first }, content: "")
        _ = client.send(DecisionTests.request(["Cache-Control": "no-cache"], method: .head))
        client.now += 50
        let reply = get()
        #expect(client.forwarded.count == (isFresh ? 2 : 3))
        #expect(reply.response.headerFields[HTTPField.Name("A")!] == "new")
        #expect(reply.text == (isFresh ? "one" : ""))
        // With the new lifetime, it is still fresh.
        client.now += 49
        if isFresh { #expect(get().text == "one") }
    }

    @Test func servesNoStoredFailureForAnother() {
        answer(["Cache-Control": "max-age=10, stale-if-error=60"], status: 503, content: "old")
        _ = get()
        #expect(get().text == "old")
        client.now += 10
        client.origin = { _ in nil }
        #expect(get().response.status == .gatewayTimeout)
    }

    @Test(arguments: [
        (HTTPRequest.Method.post, 200, true), (.put, 204, true), (.delete, 303, true),
        (.patch, 200, true), (HTTPRequest.Method("BREW")!, 200, true), (.post, 500, false),
        (.delete, 404, false), (.options, 200, false), (.trace, 200, false),
    ])
    func invalidatesAfterUnsafeMethods(
        _ method: HTTPRequest.Method, status: Int, isRemoved: Bool
    ) {
        let stored = ["Cache-Control": "max-age=100"]
        answer(stored)
        for path in ["/a", "/b", "/c", "/d"] { _ = get(path) }
        _ = client.send(DecisionTests.request(), scope: "another user")
        answer(
            ["Location": "/b?#x", "Content-Location": "https://api.example.com:443/c"],
            status: status)
        _ = client.send(DecisionTests.request(method: method))
        let before = client.forwarded.count
        answer(stored)
        _ = get("/a")
        _ = client.send(DecisionTests.request(), scope: "another user")
        _ = get("/c")
        #expect(client.forwarded.count == before + (isRemoved ? 3 : 0))
        _ = get("/d")
        _ = get("/b")  // Another URL than "/b?".
        #expect(client.forwarded.count == before + (isRemoved ? 3 : 0))
    }

    @Test(arguments: [
        ("https://other.example/b", "https", "other.example"),
        ("//other.example/b", "https", "other.example"),
        ("http://api.example.com/b", "http", "api.example.com"),
        ("https://api.example.com:444/b", "https", "api.example.com:444"),
        ("https://api.example.com@other.example/b", "https", "other.example"),
        ("\\b", "https", "api.example.com"), ("b c", "https", "api.example.com"),
        ("https:///b", "https", "api.example.com"), ("x:b", "https", "api.example.com"),
    ])
    func invalidatesNoOtherOrigin(_ location: String, scheme: String, authority: String) {
        let other = HTTPRequest(method: .get, scheme: scheme, authority: authority, path: "/b")
        answer(["Cache-Control": "max-age=100"])
        _ = client.send(other)
        answer(["Location": location, "Content-Location": location])
        _ = client.send(DecisionTests.request(method: .post))
        #expect(client.store.count == 1)
    }

    @Test(arguments: ["/b", "b", "//api.example.com/b", "https://API.example.com/b#c"])
    func invalidatesTheSameOrigin(_ location: String) {
        answer(["Cache-Control": "max-age=100"])
        _ = get("/b")
        answer(["Location": location])
        _ = client.send(DecisionTests.request(method: .post))
        #expect(client.store.count == 0)
    }

    @Test func ignoresResponsesOfAnotherKey() throws {
        answer(["Cache-Control": "max-age=100"])
        _ = client.send(DecisionTests.request(), scope: "one")
        let key = try #require(CacheKey(DecisionTests.request(), scope: "one"))
        let stored = client.store.entries(for: key).map(\.response)
        #expect(stored.count == 1)
        for (scope, path) in [("two", "/a"), ("", "/a"), ("one", "/b")] {
            let request = DecisionTests.request(path: path)
            let decision = client.cache.decide(
                request, key: CacheKey(request, scope: scope), stored: stored, at: client.now)
            guard case .fetch(let exchange) = decision else {
                Issue.record("\(decision)")
                continue
            }
            #expect(exchange.reason == .uriMiss)
        }
    }

    @Test(arguments: [
        ("\"cache\"", true), ("\"cookies\", \"cache\"", true), ("\"*\"", true), ("cache", false),
        ("\"cookies\"", false), ("\"cache", false),
    ])
    func clearsTheOrigin(_ value: String, isCleared: Bool) {
        answer(["Cache-Control": "max-age=100"])
        _ = get("/a")
        let other = HTTPRequest(
            method: .get, scheme: "https", authority: "other.example", path: "/a")
        _ = client.send(other)
        answer(["Clear-Site-Data": value, "Cache-Control": "max-age=100"])
        _ = get("/logout")
        #expect(client.store.count == (isCleared ? 2 : 3))
        _ = client.send(other)
        _ = get("/logout")
        #expect(client.forwarded.count == 3)
    }

    @Test(
        arguments: [
            ("max-age=10, stale-if-error=60", [:], 60, true),
            ("max-age=10, stale-if-error=60", [:], 61, false),
            ("max-age=10", ["Cache-Control": "stale-if-error=60"], 60, true),
            ("max-age=10", [:], 0, false),
            ("max-age=10, stale-if-error=60, must-revalidate", [:], 1, false),
            ("max-age=10, stale-if-error=60, no-cache", [:], 1, false),
            ("max-age=10, stale-if-error=60", ["Cache-Control": "no-cache"], 1, false),
            ("max-age=10, stale-if-error=much", [:], 1, false),
        ] as [(String, [String: String], Int64, Bool)])
    func servesStaleIfTheOriginFails(
        _ directives: String, _ asked: [String: String], late: Int64, isServed: Bool
    ) {
        answer(["Cache-Control": directives, "ETag": "\"1\""])
        _ = get()
        client.now += 10 + late
        client.origin = { _ in nil }
        #expect(get("/a", asked).text == (isServed ? "one" : ""))
        for status in [500, 502, 503, 504] {
            answer([:], status: status, content: "error")
            #expect(get("/a", asked).text == (isServed ? "one" : "error"))
        }
        for status in [501, 505, 429, 404] {
            answer([:], status: status, content: "error")
            #expect(get("/a", asked).text == "error")
        }
    }

    @Test func renewsInTheBackground() {
        answer(["Cache-Control": "max-age=10, stale-while-revalidate=60", "ETag": "\"1\""])
        _ = get()
        client.now += 30
        answer(["Cache-Control": "max-age=10", "ETag": "\"2\""], content: "two")
        let stale = get("/a", ["If-None-Match": "\"x\"", "Range": "bytes=0-0"])
        #expect(stale.text == "o")
        #expect(client.forwarded.last?.headerFields[.ifNoneMatch] == "\"1\"")
        #expect(client.forwarded.last?.headerFields[.range] == nil)
        #expect(get().text == "two")
        #expect(client.forwarded.count == 2)
    }

    @Test func doesNotKeepWhatWasReplaced() {
        answer(["Cache-Control": "max-age=100", "ETag": "\"1\""])
        _ = get()
        answer(["Cache-Control": "no-store"], content: "two")
        #expect(get("/a", ["Cache-Control": "no-cache"]).text == "two")
        #expect(client.store.count == 0)
    }

    @Test(arguments: [
        (304, ["ETag": "\"1\""]), (206, ["ETag": "\"1\"", "Content-Range": "bytes 3-5/6"]),
    ])
    func givesNoForeignMetadataToAContent(_ status: Int, _ fields: [String: String]) throws {
        // Two calls validate or complete the same response; the second one gets another one first.
        let isPart = status == 206
        answer(
            ["Cache-Control": "max-age=10", "ETag": "\"1\"", "Content-Range": "bytes 0-2/6"],
            status: isPart ? 206 : 200)
        _ = get("/a", isPart ? ["Range": "bytes=0-2"] : [:])
        client.now += 10
        let request = DecisionTests.request()
        let key = try #require(CacheKey(request))
        let exchange: CacheExchange
        let stored = client.store.entries(for: key).map(\.response)
        switch client.cache.decide(request, key: key, stored: stored, at: client.now) {
        case .validate(let next), .fetch(let next): exchange = next
        default: throw SuiteRun.Failure(isSetup: true, message: "served")
        }
        answer(["Cache-Control": "max-age=10", "ETag": "\"2\""], content: "two")
        #expect(get().text == "two")
        let late = HTTPResponse(
            status: .init(code: status), headerFields: DecisionTests.fields(fields, now: client.now)
        )
        for change in client.cache.receive(late, to: exchange, at: client.now).changes {
            #expect(!client.store.apply(change, received: isPart ? [4, 5, 6] : []))
        }
        let reply = get()
        #expect(reply.text == "two")
        #expect(reply.response.headerFields[.eTag] == "\"2\"")
        #expect(client.forwarded.count == 2)
    }

    @Test func withholdsFieldsUntilTheyAreValidated() {
        answer(["Cache-Control": "max-age=10, no-cache=\"A\"", "A": "1", "ETag": "\"1\""])
        _ = get()
        #expect(get().response.headerFields[HTTPField.Name("A")!] == nil)
        client.now += 10
        answer(["ETag": "\"1\""], status: 304)
        #expect(get().response.headerFields[HTTPField.Name("A")!] == "1")
    }

    @Test func namesEachDecisionInCacheStatus() {
        let name = HTTPField.Name("Cache-Status")!
        func status(_ fields: [String: String] = [:]) -> String? {
            get("/a", fields).response.headerFields[name]
        }
        answer(["Cache-Control": "max-age=10, stale-if-error=60", "ETag": "\"1\"", "Vary": "Foo"])
        #expect(status() == "signet;fwd=uri-miss;fwd-status=200;stored")
        client.now += 3
        #expect(status() == "signet;hit;ttl=7")
        #expect(status(["Cache-Control": "only-if-cached"]) == "signet;hit;ttl=7")
        #expect(status(["Cache-Control": "no-store"]) == "signet;fwd=bypass;fwd-status=200")
        answer(["ETag": "\"1\""], status: 304)
        #expect(
            status(["Cache-Control": "no-cache"])
                == "signet;fwd=request;fwd-status=304;ttl=10;stored")
        client.now += 12
        #expect(status(["Cache-Control": "max-stale"]) == "signet;hit;ttl=-2;detail=max-stale")
        client.origin = { _ in nil }
        #expect(status() == "signet;fwd=stale;ttl=-2;detail=stale-if-error")
        answer([:], status: 500)
        #expect(status() == "signet;fwd=stale;fwd-status=500;ttl=-2;detail=stale-if-error")
        #expect(
            status(["Cache-Control": "only-if-cached", "Foo": "2"])
                == "signet;detail=only-if-cached")
        answer(["Cache-Control": "no-store", "Cache-Status": "cdn;hit"])
        #expect(status(["Foo": "2"]) == "cdn;hit, signet;fwd=vary-miss;fwd-status=200")
        #expect(
            client.send(DecisionTests.request(method: .post)).response.headerFields[name]
                == "cdn;hit, signet;fwd=method;fwd-status=200")
    }

    @Test(arguments: ["", "a b", "a;hit", "9a", "\"a\"", "é", "a,b"])
    func writesNoStatusThatIsNoToken(_ word: String) {
        var response = HTTPResponse(status: .ok)
        CacheStatus(isHit: true).add(to: &response, name: word)
        CacheStatus(isHit: true, detail: word).add(to: &response, name: "signet")
        #expect(response.headerFields.isEmpty)
    }
}
