import HTTPTypes
import SignetBase
import SignetCache
import Testing

/// One stored response and one later request.
struct DecisionCase: CustomTestStringConvertible, Sendable {
    enum Expected: Sendable {
        case served
        /// A conditional request, with a value that a field of it contains.
        case validated(String)
        case fetched
        case unavailable
    }

    let name: String
    var method = HTTPRequest.Method.get
    var first: [String: String] = [:]
    var status = 200
    /// Dates are seconds relative to the arrival, as in `@-60`.
    var response: [String: String] = [:]
    /// The seconds between the two.
    var after: Int64 = 0
    var secondMethod = HTTPRequest.Method.get
    var second: [String: String] = [:]
    let expected: Expected

    var testDescription: String { name }
}

@Suite struct DecisionTests {
    static let start: Int64 = 1_790_000_000

    static func fields(_ values: [String: String], now: Int64) -> HTTPFields {
        var fields = HTTPFields()
        for (name, value) in values.sorted(by: { $0.key < $1.key }) {
            let date = value.first == "@" ? Int64(value.dropFirst()) : nil
            fields[HTTPField.Name(name)!] = date.map { UnixTime.httpDate(now + $0) } ?? value
        }
        return fields
    }

    static func request(
        _ fields: [String: String] = [:], method: HTTPRequest.Method = .get, path: String = "/a"
    ) -> HTTPRequest {
        HTTPRequest(
            method: method, scheme: "https", authority: "api.example.com", path: path,
            headerFields: self.fields(fields, now: start))
    }

    @Test(arguments: freshness + requestDirectives + responseDirectives + methods + variants)
    func decides(_ one: DecisionCase) {
        let client = SimulatedClient(now: Self.start)
        client.origin = { _ in
            OriginReply(
                response: HTTPResponse(
                    status: .init(code: one.status),
                    headerFields: Self.fields(one.response, now: Self.start)),
                content: Array("first".utf8))
        }
        _ = client.send(Self.request(one.first, method: one.method))
        client.now += one.after
        client.origin = { _ in OriginReply(response: HTTPResponse(status: .ok)) }
        let reply = client.send(Self.request(one.second, method: one.secondMethod))
        let sent = client.forwarded.count == 2 ? client.forwarded[1].headerFields : nil
        switch one.expected {
        case .served:
            #expect(sent == nil)
            #expect(reply.response.status.code != 504)
            #expect(reply.response.headerFields[.age] != nil)
        case .unavailable:
            #expect(sent == nil)
            #expect(reply.response.status.code == 504)
        case .validated(let value):
            let conditions = [sent?[.ifNoneMatch], sent?[.ifModifiedSince]].compactMap(\.self)
            #expect(conditions.contains { $0.contains(value) }, "\(conditions)")
            #expect(reply.response.headerFields[.age] == nil)
        case .fetched:
            #expect(sent != nil)
            #expect(sent?[.ifNoneMatch] == one.second["If-None-Match"])
            #expect(sent?[.ifModifiedSince] == nil)
            #expect(reply.response.headerFields[.age] == nil)
        }
    }

    static let tag = "\"v1\""
    static let old = "Tue, 15 Nov 1994 12:45:26 GMT"

    static let freshness: [DecisionCase] = [
        .init(name: "nothing", expected: .fetched),
        .init(
            name: "max-age", response: ["Cache-Control": "max-age=60"], after: 59, expected: .served
        ),
        .init(
            name: "max-age ended", response: ["Cache-Control": "max-age=60"], after: 60,
            expected: .fetched),
        .init(
            name: "empty members", response: ["Cache-Control": ",,,,max-age=456      ,"],
            expected: .served),
        .init(
            name: "quoted max-age", response: ["Cache-Control": "  max-age=\"678\"      "],
            expected: .served),
        .init(
            name: "blanks around the equals sign", response: ["Cache-Control": "max-age =  456"],
            expected: .fetched),
        .init(
            name: "text after the quotes", response: ["Cache-Control": "max-age=\"6\"78"],
            expected: .fetched),
        .init(
            name: "an open quote hides what follows",
            response: ["Cache-Control": "max-age=60, a=\"b, no-cache"], expected: .fetched),
        .init(
            name: "max-age too large for 64 bits",
            response: ["Cache-Control": "max-age=99999999999999999999999"], after: 1 << 30,
            expected: .served),
        .init(
            name: "max-age of other digits", response: ["Cache-Control": "max-age=٦٠"],
            expected: .fetched),
        .init(
            name: "Expires relative to Date", response: ["Date": "@-3", "Expires": "@3"], after: 2,
            expected: .served),
        .init(
            name: "Expires without Date",
            response: ["Cache-Control": "public", "Expires": "@3600"], after: 3599,
            expected: .served),
        .init(
            name: "Expires with an invalid Date", response: ["Date": "now", "Expires": "@10"],
            expected: .served),
        .init(
            name: "max-age wins over a past Expires",
            response: ["Cache-Control": "public, max-age=9999", "Expires": "@-9999"],
            expected: .served),
        .init(
            name: "max-age wins over a later Expires",
            response: ["Cache-Control": "public, max-age=333", "Expires": "@3600"], after: 334,
            expected: .fetched),
        .init(
            name: "s-maxage is for shared caches",
            response: ["Cache-Control": "s-maxage=9999", "Expires": "@-10"], expected: .fetched),
        .init(
            name: "max-age longer than s-maxage",
            response: ["Cache-Control": "s-maxage=60, max-age=180"], after: 120, expected: .served),
        .init(
            name: "Age", response: ["Cache-Control": "max-age=100", "Age": "50"], after: 49,
            expected: .served),
        .init(
            name: "Age and the time since",
            response: ["Cache-Control": "max-age=100", "Age": "50"],
            after: 50, expected: .fetched),
        .init(
            name: "Age can make stale", response: ["Cache-Control": "max-age=100", "Age": "101"],
            expected: .fetched),
        .init(
            name: "a bogus Age is ignored",
            response: ["Cache-Control": "max-age=20", "Age": "golden"], expected: .served),
        // http-cache-semantics serves it. The apparent age is 77 (section 4.2.3), so it is stale.
        .init(
            name: "a Date 77 seconds ago",
            response: ["Cache-Control": "private, max-age=60, s-maxage=60", "Date": "@-77"],
            expected: .fetched),
        .init(
            name: "a Date in the future",
            response: ["Cache-Control": "max-age=60", "Date": "@120"], after: 59, expected: .served),
        .init(
            name: "heuristic, 10 of 100 seconds",
            response: ["Last-Modified": "@-105", "Date": "@-5"], after: 4, expected: .served),
        .init(
            name: "heuristic, ended", response: ["Last-Modified": "@-105", "Date": "@-5"], after: 5,
            expected: .validated("GMT")),
        .init(
            name: "heuristic, at most a week", response: ["Last-Modified": old], after: 604_799,
            expected: .served),
        .init(
            name: "heuristic, more than a week", response: ["Last-Modified": old], after: 604_800,
            expected: .validated(old)),
        .init(name: "an old 301", status: 301, response: ["Last-Modified": old], expected: .served),
        .init(
            name: "an old 303", status: 303, response: ["Last-Modified": old], expected: .fetched),
        .init(
            name: "303 with max-age", status: 303, response: ["Cache-Control": "max-age=1000"],
            expected: .served),
        .init(
            name: "302 with Expires", status: 302, response: ["Expires": "@2"], expected: .served),
        // http-cache-semantics stores neither; section 3 stores any final status with a lifetime.
        .init(
            name: "503 with max-age", status: 503,
            response: ["Cache-Control": "public, max-age=1000"], expected: .served),
        .init(
            name: "412 with max-age", status: 412,
            response: ["Cache-Control": "public, max-age=1000"], expected: .served),
        .init(
            name: "immutable without a lifetime", response: ["Cache-Control": "immutable"],
            expected: .fetched),
        .init(
            name: "a clock that was set back", response: ["Cache-Control": "max-age=60"], after: -1,
            expected: .fetched),
    ]

    static let requestDirectives: [DecisionCase] = [
        .init(
            name: "max-age of the request, met",
            response: ["Expires": "@3600", "Age": "60"], second: ["Cache-Control": "max-age=90"],
            expected: .served),
        .init(
            name: "max-age of the request, not met",
            response: ["Expires": "@3600", "Age": "60"], second: ["Cache-Control": "max-age=30"],
            expected: .fetched),
        .init(
            name: "max-age=0 of the request",
            response: ["Cache-Control": "max-age=60", "ETag": tag],
            second: ["Cache-Control": "max-age=0"], expected: .validated(tag)),
        .init(
            name: "max-age=0 and immutable",
            response: ["Cache-Control": "max-age=60, immutable", "ETag": tag],
            second: ["Cache-Control": "max-age=0"], expected: .served),
        .init(
            name: "no-cache and immutable",
            response: ["Cache-Control": "max-age=60, immutable", "ETag": tag],
            second: ["Cache-Control": "no-cache"], expected: .validated(tag)),
        .init(
            name: "max-age=0 and immutable, stale",
            response: ["Cache-Control": "max-age=60, immutable", "ETag": tag], after: 60,
            second: ["Cache-Control": "max-age=0"], expected: .validated(tag)),
        .init(
            name: "max-age=0, max-stale and immutable, stale",
            response: ["Cache-Control": "max-age=60, immutable", "ETag": tag], after: 60,
            second: ["Cache-Control": "max-age=0, max-stale"], expected: .validated(tag)),
        .init(
            name: "min-fresh, met", response: ["Cache-Control": "max-age=60"],
            second: ["Cache-Control": "min-fresh=10"], expected: .served),
        .init(
            name: "min-fresh, not met", response: ["Cache-Control": "max-age=60"],
            second: ["Cache-Control": "min-fresh=120"], expected: .fetched),
        .init(
            name: "min-fresh and stale-while-revalidate",
            response: ["Cache-Control": "max-age=60, stale-while-revalidate=100000"],
            second: ["Cache-Control": "min-fresh=120"], expected: .fetched),
        .init(
            name: "max-stale, met", response: ["Cache-Control": "max-age=120", "ETag": tag],
            after: 240, second: ["Cache-Control": "max-stale=120"], expected: .served),
        .init(
            name: "max-stale, any", response: ["Cache-Control": "max-age=120", "ETag": tag],
            after: 240, second: ["Cache-Control": "max-stale"], expected: .served),
        .init(
            name: "max-stale, not met", response: ["Cache-Control": "max-age=120", "ETag": tag],
            after: 240, second: ["Cache-Control": "max-stale=119"], expected: .validated(tag)),
        .init(
            name: "max-stale and must-revalidate",
            response: ["Cache-Control": "max-age=120, must-revalidate", "ETag": tag], after: 240,
            second: ["Cache-Control": "max-stale"], expected: .validated(tag)),
        .init(
            name: "max-stale and proxy-revalidate",
            response: ["Cache-Control": "max-age=120, proxy-revalidate"], after: 240,
            second: ["Cache-Control": "max-stale"], expected: .served),
        .init(
            name: "max-stale that can't be read",
            response: ["Cache-Control": "max-age=120", "ETag": tag], after: 240,
            second: ["Cache-Control": "max-stale=many"], expected: .validated(tag)),
        .init(
            name: "no-store of the request", response: ["Cache-Control": "max-age=60"],
            second: ["Cache-Control": "no-store"], expected: .fetched),
        .init(
            name: "no-store of the first request", first: ["Cache-Control": "no-store"],
            response: ["Cache-Control": "max-age=60"], expected: .fetched),
        .init(
            name: "an unknown directive", response: ["Cache-Control": "max-age=60"],
            second: ["Cache-Control": "fine"], expected: .served),
        // Section 5.4 deprecates Pragma; http-cache-semantics honours it.
        .init(
            name: "Pragma", response: ["Cache-Control": "max-age=60"],
            second: ["Pragma": "no-cache"], expected: .served),
        .init(
            name: "only-if-cached, stored", response: ["Cache-Control": "max-age=60"],
            second: ["Cache-Control": "only-if-cached"], expected: .served),
        .init(
            name: "only-if-cached, stale", response: ["Cache-Control": "max-age=60", "ETag": tag],
            after: 60, second: ["Cache-Control": "only-if-cached"], expected: .unavailable),
        .init(
            name: "only-if-cached, no-store", response: ["Cache-Control": "max-age=60"],
            second: ["Cache-Control": "only-if-cached, no-store"], expected: .unavailable),
        .init(
            name: "only-if-cached, another method", response: ["Cache-Control": "max-age=60"],
            secondMethod: .post, second: ["Cache-Control": "only-if-cached"],
            expected: .unavailable),
        .init(
            name: "If-Match is the origin's",
            response: ["Cache-Control": "max-age=60", "ETag": tag],
            second: ["If-Match": tag], expected: .fetched),
        .init(
            name: "tags are merged", response: ["Cache-Control": "max-age=60", "ETag": tag],
            after: 60, second: ["If-None-Match": "\"foo\", \"bar\""],
            expected: .validated("\"foo\", \"bar\", \"v1\"")),
        .init(
            name: "a listed tag is not repeated",
            response: ["Cache-Control": "max-age=60", "ETag": tag], after: 60,
            second: ["If-None-Match": tag], expected: .validated(tag)),
        .init(
            name: "If-None-Match: * is forwarded",
            response: ["Cache-Control": "max-age=60", "ETag": tag], after: 60,
            second: ["If-None-Match": "*"], expected: .fetched),
        .init(
            name: "a malformed If-None-Match is forwarded",
            response: ["Cache-Control": "max-age=60", "ETag": tag], after: 60,
            second: ["If-None-Match": "foo"], expected: .fetched),
        .init(
            name: "tags of the caller win over a stored date",
            response: ["Cache-Control": "max-age=60", "Last-Modified": old], after: 60,
            second: ["If-None-Match": "\"foo\""], expected: .fetched),
    ]
}
