import HTTPTypes

extension DecisionTests {
    static let responseDirectives: [DecisionCase] = [
        .init(
            name: "no-store", response: ["Cache-Control": "no-store, public, max-age=1"],
            expected: .fetched),
        .init(
            name: "no-store with an argument",
            response: ["Cache-Control": "max-age=60, no-store=1"],
            expected: .fetched),
        .init(
            name: "must-understand, a known status",
            response: ["Cache-Control": "max-age=60, no-store, must-understand"], expected: .served),
        .init(
            name: "must-understand, an unknown status", status: 299,
            response: ["Cache-Control": "max-age=60, must-understand"], expected: .fetched),
        .init(
            name: "no-cache", response: ["Cache-Control": "max-age=60, no-cache", "ETag": tag],
            expected: .validated(tag)),
        .init(
            name: "no-cache of fields",
            response: ["Cache-Control": "max-age=60, no-cache=\"a, b\""],
            expected: .served),
        .init(
            name: "no-cache of no field",
            response: ["Cache-Control": "max-age=60, no-cache=\"\"", "ETag": tag],
            expected: .validated(tag)),
        .init(
            name: "no-cache of what isn't a field",
            response: ["Cache-Control": "max-age=60, no-cache=\"a b\"", "ETag": tag],
            expected: .validated(tag)),
        .init(
            name: "no-cache of fields and of all",
            response: ["Cache-Control": "max-age=60, no-cache=a, no-cache", "ETag": tag],
            expected: .validated(tag)),
        .init(
            name: "private", response: ["Cache-Control": "private, max-age=1234"],
            expected: .served),
        .init(
            name: "private of fields", response: ["Cache-Control": "private=\"a\", max-age=1234"],
            expected: .served),
        .init(
            name: "private and public",
            response: ["Cache-Control": "private, public, max-age=259200"], expected: .served),
        .init(
            name: "cookies", response: ["Set-Cookie": "foo=bar", "Cache-Control": "max-age=99"],
            expected: .served),
        .init(
            name: "pre-check and post-check",
            response: [
                "Cache-Control": "pre-check=0, post-check=0, no-store, no-cache, max-age=100"
            ],
            expected: .fetched),
        .init(
            name: "proxy-revalidate", response: ["Cache-Control": "max-age=2, proxy-revalidate "],
            expected: .served),
        .init(
            name: "Connection names Age",
            response: ["Connection": "age", "Cache-Control": "max-age=9", "Age": "9"],
            expected: .fetched),
        .init(
            name: "Connection names Cache-Control",
            response: [
                "Connection": "cache-control", "Cache-Control": "max-age=9", "Expires": "@-1",
            ], expected: .served),
        .init(
            name: "stale-while-revalidate and must-revalidate",
            response: [
                "Cache-Control": "max-age=60, stale-while-revalidate=200, must-revalidate",
                "ETag": tag,
            ], after: 61, expected: .validated(tag)),
        .init(
            name: "stale-while-revalidate, ended",
            response: ["Cache-Control": "max-age=60, stale-while-revalidate=200", "ETag": tag],
            after: 261, expected: .validated(tag)),
        .init(
            name: "stale-while-revalidate and max-age of the request",
            response: ["Cache-Control": "max-age=60, stale-while-revalidate=200", "ETag": tag],
            after: 61, second: ["Cache-Control": "max-age=90"], expected: .validated(tag)),
        .init(
            name: "a tag without quotes isn't a validator",
            response: ["Cache-Control": "max-age=1", "ETag": "v1"], after: 2, expected: .fetched),
        .init(
            name: "a date beside a tag without quotes",
            response: ["Cache-Control": "max-age=1", "ETag": "v1", "Last-Modified": old], after: 2,
            expected: .validated(old)),
        .init(
            name: "a Last-Modified that can't be read",
            response: ["Cache-Control": "max-age=1", "Last-Modified": "yesterday"], after: 2,
            expected: .fetched),
        .init(
            name: "a weak tag", response: ["Cache-Control": "max-age=1", "ETag": "W/\"v1\""],
            after: 2, expected: .validated("W/\"v1\"")),
        .init(
            name: "a part of a content that wasn't asked for", status: 206,
            response: ["Cache-Control": "max-age=60", "Content-Range": "bytes 100-104/200"],
            expected: .fetched),
        .init(
            name: "a length that isn't the one received",
            response: ["Cache-Control": "max-age=60", "Content-Length": "6"], expected: .fetched),
        .init(
            name: "a length that isn't a number",
            response: ["Cache-Control": "max-age=60", "Content-Length": "5, 5"], expected: .fetched),
    ]

    static let methods: [DecisionCase] = [
        .init(
            name: "POST", method: .post, response: ["Cache-Control": "public, max-age=222"],
            expected: .fetched),
        .init(
            name: "POST with its own Content-Location", method: .post,
            response: ["Cache-Control": "max-age=222", "Content-Location": "/a"], expected: .served),
        .init(
            name: "POST with another Content-Location", method: .post,
            response: ["Cache-Control": "max-age=222", "Content-Location": "/b"],
            expected: .fetched),
        .init(
            name: "POST with another host's Content-Location", method: .post,
            response: ["Cache-Control": "max-age=222", "Content-Location": "https://b.example/a"],
            expected: .fetched),
        .init(
            name: "POST without a lifetime", method: .post,
            response: ["Content-Location": "/a", "Last-Modified": old], expected: .fetched),
        .init(
            name: "OPTIONS", method: .options, response: ["Expires": "@3600"], expected: .fetched),
        .init(name: "PUT", method: .put, response: ["Expires": "@3600"], expected: .fetched),
        .init(name: "DELETE", method: .delete, response: ["Expires": "@3600"], expected: .fetched),
        .init(name: "TRACE", method: .trace, response: ["Expires": "@3600"], expected: .fetched),
        .init(
            name: "HEAD is answered from a GET", response: ["Cache-Control": "max-age=2"],
            secondMethod: .head, expected: .served),
        .init(
            name: "GET isn't answered from a HEAD", method: .head,
            response: ["Cache-Control": "max-age=2"], expected: .fetched),
        .init(
            name: "a stale HEAD isn't conditional",
            response: ["Cache-Control": "max-age=2", "ETag": tag], after: 3, secondMethod: .head,
            expected: .fetched),
    ]

    static let variants: [DecisionCase] = [
        .init(
            name: "Vary, the same", first: ["Weather": "nice"], response: varying("weather"),
            second: ["Weather": "nice"], expected: .served),
        .init(
            name: "Vary, another", first: ["Weather": "nice"], response: varying("weather"),
            second: ["Weather": "bad"], expected: .fetched),
        .init(
            name: "Vary, case of the value", first: ["Weather": "BAD"],
            response: varying("Weather"), second: ["Weather": "bad"], expected: .fetched),
        .init(
            name: "Vary, an irrelevant field", first: ["Weather": "nice"],
            response: varying("Moon-Phase"), second: ["Sun": "shining"], expected: .served),
        .init(
            name: "Vary, a field only now", first: ["Weather": "nice"],
            response: varying("Moon-Phase"), second: ["Moon-Phase": "full"], expected: .fetched),
        .init(
            name: "Vary, an empty field only now", first: ["Weather": "nice"],
            response: varying("Moon-Phase"), second: ["Moon-Phase": ""], expected: .fetched),
        .init(
            name: "Vary, a field missing now", first: ["Weather": "nice", "Sun": "shining"],
            response: varying("    weather       ,     sun     "), second: ["Weather": "nice"],
            expected: .fetched),
        .init(
            name: "Vary, two fields in another order",
            first: ["Weather": "nice", "Sun": "shining"],
            response: varying("weather, sun"), second: ["Sun": "shining", "Weather": "nice"],
            expected: .served),
        .init(
            name: "Vary: *", first: ["Weather": "nice"], response: varying("weather, *"),
            second: ["Weather": "nice"], expected: .fetched),
        .init(
            name: "Vary of what isn't a field", response: varying("a b"), expected: .fetched),
        .init(
            name: "Vary, blanks around commas", first: ["Foo": "1,2"], response: varying("Foo"),
            second: ["Foo": "1, 2"], expected: .served),
        .init(
            name: "Vary, blanks inside quotes", first: ["Foo": "\"1,2\""], response: varying("Foo"),
            second: ["Foo": "\"1, 2\""], expected: .fetched),
        .init(
            name: "Vary, a comma after an escaped quote", first: ["Foo": #""\",a""#],
            response: varying("Foo"), second: ["Foo": #""\", a""#], expected: .fetched),
        .init(
            name: "Vary, languages in another order", first: ["Accept-Language": "en, de;q=0.5"],
            response: varying("Accept-Language"), second: ["Accept-Language": "DE; q=0.5,EN"],
            expected: .served),
        .init(
            name: "Vary, languages with another weight",
            first: ["Accept-Language": "en, de;q=0.5"], response: varying("Accept-Language"),
            second: ["Accept-Language": "en, de;q=0.6"], expected: .fetched),
        .init(
            name: "Vary, another value, with a tag", first: ["Weather": "nice"],
            response: varying("weather").merging(["ETag": tag]) { first, _ in first },
            second: ["Weather": "bad"], expected: .validated(tag)),
        .init(
            name: "Vary, two Unicode forms of a value", first: ["Foo": "\u{E9}"],
            response: varying("Foo"), second: ["Foo": "e\u{301}"], expected: .fetched),
    ]

    private static func varying(_ names: String) -> [String: String] {
        ["Cache-Control": "max-age=5", "Vary": names]
    }
}
