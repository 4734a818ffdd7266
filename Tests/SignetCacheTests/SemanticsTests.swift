import HTTPTypes
import SignetBase
import SignetCache
import Testing

/// A response of http-cache-semantics' tests, and what a private cache makes of it.
struct SemanticsCase: CustomTestStringConvertible, Sendable {
    enum Answer: Sendable { case served, renewed, asked }

    struct Use: Sendable {
        let answer: Answer
        var fields: [String: String] = [:]
        var after: Int64 = 0
        var path = "/a"
        var host = "api.example.com"

        static func served(_ fields: [String: String] = [:], after: Int64 = 0) -> Use {
            Use(answer: .served, fields: fields, after: after)
        }

        static func renewed(_ fields: [String: String] = [:], after: Int64 = 0) -> Use {
            Use(answer: .renewed, fields: fields, after: after)
        }

        static func asked(_ fields: [String: String] = [:], after: Int64 = 0) -> Use {
            Use(answer: .asked, fields: fields, after: after)
        }
    }

    /// The positions in the files of tests, from 1.
    let ids: String
    /// The seconds for which the response is fresh after it was made: nil if it isn't stored, and 0
    /// if it is of no use without validation.
    let lifetime: Int64?
    var method = HTTPRequest.Method.get
    var request: [String: String] = [:]
    var status = 200
    /// Dates are seconds relative to the arrival, as in `@-60`.
    var response: [String: String] = [:]
    var uses: [Use] = []

    var testDescription: String { ids }

    init(
        _ ids: String, lasts lifetime: Int64?, _ response: [String: String] = [:],
        status: Int = 200, method: HTTPRequest.Method = .get, request: [String: String] = [:],
        uses: [Use] = []
    ) {
        (self.ids, self.lifetime, self.response, self.uses) = (ids, lifetime, response, uses)
        (self.status, self.method, self.request) = (status, method, request)
    }
}

/// The cases of http-cache-semantics that bind a private cache
/// (github.com/kornelski/http-cache-semantics, BSD-2-Clause, commit f01112e, 125 cases in 8 files):
/// 114 are here, 24 of them with another answer, and 11 don't apply.
@Suite struct SemanticsTests {
    /// The cases that don't apply.
    static let inapplicable: [String: String] = [
        "satisfy 9": shared, "request 5": shared, "request 8": shared,
        "response 7": "ignores no-store by an option", "response 8": "see response 7",
        "response 20": "gives immutable responses a lifetime by an option",
        "misc 1": "reads an object of the library", "misc 2": "see misc 1",
        "okhttp 25": warning, "revalidate 12": warning, "revalidate 13": warning,
    ]

    private static let shared = "is of a shared cache"
    private static let warning = "is of Warning, which RFC 9111 removes (section 5.5)"

    /// The cases in which this cache answers otherwise, and why. Sections are of RFC 9111.
    static let different: [String: String] = [
        "response 3": blanks, "response 4": blanks,
        "response 22": pragma, "satisfy 11": pragma,
        "response 30": status, "response 34": status, "okhttp 1": status,
        "satisfy 6": "responses to HEAD aren't stored",
        "request 3": "a response to POST is stored only with its own Content-Location (section 3)",
        "revalidate 1": "a HEAD is sent as it is: a 200 updates what is stored (section 4.3.5)",
        "revalidate 7": passedOn, "revalidate 8": passedOn, "revalidate 17": passedOn,
        "revalidate 18": "the stored date takes the place of a date that can't be read",
        "update 1": newFields, "update 2": newFields, "update 3": newFields, "update 4": newFields,
        "update 7": "a 304 without a validator is of the one response that was asked about",
        "okhttp 3": "a heuristic lifetime is at most a week",
        "okhttp 4": date, "misc 3": date,
        "okhttp 10": "max-stale=40 includes 40 s (section 5.2.1.2)",
        "okhttp 11": "stale-while-revalidate=200 includes 200 s (RFC 5861, section 3)",
    ]

    private static let blanks = "a directive has no blanks around the equals sign (section 5.2)"
    private static let pragma = "Pragma has no meaning (section 5.4)"
    private static let status = "any final status is stored with a lifetime (section 3)"
    private static let passedOn = "the caller's conditions of a POST are passed on"
    private static let newFields = "a 304 adds fields too (section 3.2)"
    private static let date = "the age counts from Date (section 4.2.3)"

    static let cache = PrivateCache()
    static let old = DecisionTests.old
    static let control = "Cache-Control"

    /// A client that got a response, and the decisions that follow.
    private func client(_ one: SemanticsCase) -> SimulatedClient {
        let client = SimulatedClient(now: DecisionTests.start)
        client.origin = { _ in
            OriginReply(
                response: HTTPResponse(
                    status: .init(code: one.status),
                    headerFields: DecisionTests.fields(one.response, now: DecisionTests.start)),
                content: one.status == 204 ? [] : Array("first".utf8))
        }
        _ = client.send(DecisionTests.request(one.request, method: one.method))
        return client
    }

    private func decision(_ client: SimulatedClient, _ use: SemanticsCase.Use) -> CacheDecision {
        var request = DecisionTests.request(use.fields, path: use.path)
        request.authority = use.host
        let key = CacheKey(request, scope: "")!
        return Self.cache.decide(
            request, key: key, stored: client.store.entries(for: key).map(\.response),
            at: DecisionTests.start + use.after)
    }

    private func answer(_ client: SimulatedClient, _ use: SemanticsCase.Use) -> SemanticsCase.Answer
    {
        switch decision(client, use) {
        case .serve(_, nil): .served
        case .serve: .renewed
        case .validate, .fetch, .unavailable: .asked
        }
    }

    @Test(arguments: responses + requests + directives + variants)
    func decides(_ one: SemanticsCase) throws {
        let client = client(one)
        let stored = client.store.list().first
        #expect(one.lifetime != nil || stored == nil)
        #expect(stored != nil || one.lifetime ?? 0 == 0)
        if let stored, let lifetime = one.lifetime {
            #expect(Self.cache.lifetime(of: stored) == lifetime)
            let left = try lifetime - #require(stored.age(at: DecisionTests.start))
            // The last moment at which it is fresh, and the first one at which it isn't.
            var fields = one.request
            if left > 0 { #expect(answer(client, .served(fields, after: left - 1)) == .served) }
            fields[Self.control] = "max-age=999999999"  // Without stale-while-revalidate.
            #expect(answer(client, .asked(fields, after: max(0, left))) == .asked)
        }
        for use in one.uses { #expect(answer(client, use) == use.answer, "\(use)") }
    }

    /// With a lifetime, each final status is stored but that of a validation and of a part that
    /// wasn't asked for.
    @Test func storesByStatus() {
        let stored = (200...599).filter { status in
            let fields = [
                "Last-Modified": "@-3600", "Expires": "@3600", "WWW-Authenticate": "challenge",
            ]
            return !client(.init("okhttp 1", lasts: nil, fields, status: status)).store.list()
                .isEmpty
        }
        #expect(Set(200...599).subtracting(stored) == [206, 304])
    }

    @Test func servesNoFieldsOfTheConnection() throws {
        let client = client(
            .init(
                "response 38", lasts: 333,
                [
                    "TE": "deflate", "Date": "now", "Custom": "header", "Oompa": "lumpa",
                    "Connection": "close, oompa, header", "Age": "10",
                    Self.control: "public, max-age=333",
                ]))
        guard case .serve(let served, nil) = decision(client, .served(after: 1)) else {
            Issue.record("not served")
            return
        }
        let fields = served.response.headerFields
        for name in ["TE", "Oompa", "Connection"] { #expect(fields[HTTPField.Name(name)!] == nil) }
        #expect(fields[HTTPField.Name("Custom")!] == "header" && fields[.age] == "11")
    }

    /// A stale response helps if the origin fails, by its own lifetime and the window together.
    @Test(arguments: [(Int64(259), true), (260, true), (261, false)])
    func servesStaleAfterAFailure(_ after: Int64, _ helps: Bool) {
        let client = client(
            .init(
                "okhttp 6, update 11, update 12", lasts: 60,
                ["Date": "@120", Self.control: "max-age=60, stale-if-error=200"]))
        guard case .fetch(let exchange) = decision(client, .asked(after: after)) else {
            Issue.record("not asked")
            return
        }
        let now = DecisionTests.start + after
        #expect((Self.cache.fail(exchange, at: now) != nil) == helps)
        let outcome = Self.cache.receive(
            HTTPResponse(status: .init(code: 500)), to: exchange, at: now)
        if case .stored = outcome.answer { #expect(helps) } else { #expect(!helps) }
    }

    @Test func namesEachCaseOnce() {
        let tables = Self.responses + Self.requests + Self.directives + Self.variants
        let ids =
            (tables.map(\.ids) + Self.validations.map(\.ids) + Self.updates.map(\.ids)
            + ["okhttp 1", "response 38", "okhttp 6", "update 11", "update 12"])
            .flatMap { $0.split(separator: ", ").map(String.init) }
        let files = [
            "misc": 3, "okhttp": 26, "request": 8, "response": 38, "revalidate": 18, "satisfy": 11,
            "update": 12, "vary": 9,
        ]
        let all = files.flatMap { name, count in (1...count).map { "\(name) \($0)" } }
        #expect(Set(ids).count == 114)
        #expect(Set(ids).isDisjoint(with: Self.inapplicable.keys))
        #expect(Set(all) == Set(ids).union(Self.inapplicable.keys))
        #expect(Set(Self.different.keys).isSubset(of: ids))
        #expect(Self.different.count == 24)
    }

    // MARK: Validation and updates

    struct Validation: CustomTestStringConvertible, Sendable {
        let ids: String
        var stored: [String: String] = [:]
        var method = HTTPRequest.Method.get
        var fields: [String: String] = [:]
        var path = "/a"
        var host = "api.example.com"
        /// If-None-Match and If-Modified-Since of the request that is sent.
        var tags: String?
        var date: String?

        var testDescription: String { ids }
    }

    @Test(arguments: validations) func validates(_ one: Validation) {
        let client = client(.init(one.ids, lasts: 111, one.stored))
        var request = DecisionTests.request(one.fields, method: one.method, path: one.path)
        request.authority = one.host
        client.now += 200
        client.origin = { _ in nil }
        _ = client.send(request)
        let sent = client.forwarded.last?.headerFields ?? [:]
        #expect(client.forwarded.count == 2)
        #expect(sent[.ifNoneMatch] == one.tags && sent[.ifModifiedSince] == one.date)
        #expect(sent[HTTPField.Name("Custom")!] == one.fields["Custom"])
    }

    struct Update: CustomTestStringConvertible, Sendable {
        let ids: String
        let stored: [String: String]
        let received: [String: String]
        var isUpdated = false
        /// Whether the origin sends another content.
        var isReplaced = false

        var testDescription: String { ids }
    }

    @Test(arguments: updates) func updates(_ one: Update) {
        let more = ["Foo": "original", "X-Other": "original"]
        let client = client(.init(one.ids, lasts: 111, one.stored.merging(more) { $1 }))
        client.now += 200
        client.origin = { request in
            let sent = request.headerFields
            let isConditional =
                !one.isReplaced && (sent[.ifNoneMatch] ?? sent[.ifModifiedSince]) != nil
            let fields = one.received.merging(["Foo": "updated", "X-New": "new"]) { $1 }
            return OriginReply(
                response: HTTPResponse(
                    status: isConditional ? .notModified : .ok,
                    headerFields: DecisionTests.fields(fields, now: client.now)),
                content: isConditional ? [] : Array("second".utf8))
        }
        defer { client.origin = { _ in nil } }
        let reply = client.send(DecisionTests.request())
        let fields = reply.response.headerFields
        #expect(client.forwarded.count == (one.isUpdated || one.isReplaced ? 2 : 3))
        #expect(reply.text == (one.isUpdated ? "first" : "second"))
        #expect(fields[HTTPField.Name("Foo")!] == "updated")
        #expect(fields[HTTPField.Name("X-Other")!] == (one.isUpdated ? "original" : nil))
        #expect(fields[.contentLength] != "2")
    }
}
