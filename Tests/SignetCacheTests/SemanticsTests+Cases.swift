import HTTPTypes

extension SemanticsTests {
    /// Fields with Cache-Control.
    private static func with(
        _ directives: String, _ more: [String: String] = [:]
    ) -> [String: String] {
        more.merging([control: directives]) { $1 }
    }

    static let responses: [SemanticsCase] = [
        .init("response 1", lasts: 0),
        .init("response 2", lasts: 999_999, with("public, max-age=999999")),
        .init("response 3", lasts: 0, with(",,,,max-age =  456      ,")),
        .init("response 4", lasts: 0, with("  max-age = \"678\"      ")),
        .init("response 5", lasts: 259_200, with("private, public, max-age=259200")),
        .init(
            "response 6", lasts: nil,
            with("pre-check=0, post-check=0, no-store, no-cache, max-age=100")),
        .init("response 9", lasts: 2, ["Date": "@0", "Expires": "@2"]),
        .init("response 10, response 11", lasts: 3, ["Date": "@-3", "Expires": "@0"]),
        .init("response 12", lasts: 3600, with("public", ["Expires": "@3600"])),
        .init(
            "response 13", lasts: 100, with("max-age=100", ["Age": "50"]),
            uses: [.served(after: 48), .asked(after: 53)]),
        .init("response 14", lasts: 100, with("max-age=100", ["Age": "101"])),
        .init("response 15", lasts: 20, with("max-age=20", ["Age": "15"])),
        .init("response 16", lasts: 20, with("max-age=20", ["Age": "golden"])),
        .init("response 17", lasts: 604_800, ["Date": "@0", "Last-Modified": old]),
        .init("response 18", lasts: 999_999, with("immutable, max-age=999999")),
        .init("response 19", lasts: 0, with("immutable, max-age=0")),
        .init("response 21", lasts: 0, with("immutable", ["Date": "@0", "Last-Modified": "@0"])),
        .init("response 22", lasts: 604_800, ["Pragma": "no-cache", "Last-Modified": old]),
        .init("response 23", lasts: 1, with("", ["Pragma": "no-cache", "Last-Modified": "@-10"])),
        .init("response 24", lasts: nil, with("no-store, public, max-age=1")),
        .init("response 25", lasts: 1234, with("private, max-age=1234")),
        .init("response 26", lasts: 99, with("max-age=99", ["Set-Cookie": "foo=bar"])),
        .init("response 27", lasts: 99, with("immutable, max-age=99", ["Set-Cookie": "foo=bar"])),
        .init("response 28", lasts: 5, with("max-age=5, public", ["Set-Cookie": "foo=bar"])),
        .init("response 29", lasts: 0, with("public, max-age=0")),
        .init("response 30", lasts: 1000, with("public, max-age=1000"), status: 503),
        .init("response 31", lasts: 604_800, ["Last-Modified": old], status: 301),
        .init("response 32", lasts: 0, ["Last-Modified": old], status: 303),
        .init("response 33", lasts: 1000, with("max-age=1000"), status: 303),
        .init("response 34", lasts: 1000, with("public, max-age=1000"), status: 412),
        .init("response 35", lasts: 9999, with("public, max-age=9999", ["Expires": old])),
        .init("response 36", lasts: 0, with("public, s-maxage=9999", ["Expires": old])),
        .init("response 37", lasts: 333, with("public, max-age=333", ["Expires": "@3600"])),
        .init("okhttp 2", lasts: 10, ["Last-Modified": "@-105", "Date": "@-5"]),
        .init("okhttp 3", lasts: 604_800, ["Last-Modified": "@-9072000", "Date": "@-432000"]),
        .init("okhttp 4", lasts: 60, with("max-age=60", ["Date": "@-120"])),
        .init("okhttp 5", lasts: 60, with("max-age=60", ["Date": "@120"])),
        .init("okhttp 12", lasts: 180, with("s-maxage=60, max-age=180", ["Date": "@-120"])),
        .init("okhttp 13", lasts: 180, with("s-maxage=60, max-age=180", ["Age": "360"])),
        .init(
            "okhttp 18", lasts: 3600,
            ["ETag": "v1", "Last-Modified": "@-7200", "Expires": "@3600"]),
        .init(
            "okhttp 26", lasts: nil, with("max-age=60", ["Content-Range": "bytes 100-100/200"]),
            status: 206),
        .init(
            "misc 3", lasts: 60,
            with(
                "private, max-age=60, s-maxage=60",
                [
                    "Date": "@-77", "ETag": "W/\"4876\"", "Connection": "close",
                    "Vary": "Accept, Authorization, Cookie, X-GitHub-OTP",
                ])),
    ]

    static let requests: [SemanticsCase] = [
        .init("satisfy 1, satisfy 4", lasts: 2, with("max-age=2"), uses: [.served()]),
        .init("satisfy 2", lasts: 2, ["Expires": "@2"], status: 302, uses: [.served()]),
        .init(
            "satisfy 3", lasts: 2, with("max-age=2"),
            uses: [.init(answer: .asked, path: "/a?bar")]),
        .init(
            "satisfy 5", lasts: 2, with("max-age=2"),
            uses: [.served(), .init(answer: .asked, host: "api.example.comcom")]),
        .init("satisfy 6, satisfy 8", lasts: nil, with("max-age=2"), method: .head),
        .init("satisfy 7", lasts: nil, with("max-age=2"), method: .post),
        .init("satisfy 10", lasts: 2, with("max-age=2, proxy-revalidate "), uses: [.served()]),
        .init(
            "satisfy 11", lasts: 2, with("max-age=2"),
            uses: [
                .served(with("fine")), .asked(with("no-cache")), .served(["Pragma": "no-cache"]),
            ]),
        .init(
            "request 1", lasts: nil, with("public, max-age=222"), request: with("no-store")),
        .init("request 2", lasts: nil, with("public"), method: .post),
        .init("request 3", lasts: nil, with("public, max-age=222"), method: .post),
        .init(
            "request 4", lasts: 222, with("public, max-age=222"),
            request: ["Authorization": "test"]),
        .init("request 6", lasts: 111, with("max-age=111"), request: ["Authorization": "test"]),
        .init(
            "request 7", lasts: 88, with("max-age=88,must-revalidate"),
            request: ["Authorization": "test"]),
        .init("okhttp 14", lasts: nil, ["Expires": "@3600"], method: .options),
        .init("okhttp 15", lasts: nil, ["Expires": "@3600"], method: .put),
        .init("okhttp 16", lasts: nil, ["Expires": "@3600"], method: .delete),
        .init("okhttp 17", lasts: nil, ["Expires": "@3600"], method: .trace),
        .init("okhttp 19", lasts: nil, with("max-age=60"), request: with("no-store")),
    ]

    private static let renewable = "max-age=60, stale-while-revalidate=200"

    static let directives: [SemanticsCase] = [
        .init(
            "okhttp 7", lasts: 60, with(renewable, ["Date": "@120"]),
            uses: [
                .served(after: 59), .renewed(after: 60), .renewed(after: 259), .asked(after: 261),
            ]),
        .init("okhttp 8", lasts: 60, with(renewable, ["Age": "120"]), uses: [.renewed()]),
        .init(
            "okhttp 9", lasts: 60, with("\(renewable), must-revalidate", ["Age": "120"]),
            uses: [.asked()]),
        .init(
            "okhttp 10", lasts: 60, with(renewable, ["Age": "100"]),
            uses: [
                .served(with("max-stale")), .served(with("max-stale=40")),
                .renewed(with("max-stale=39")),
            ]),
        .init(
            "okhttp 11", lasts: 60, with(renewable, ["Age": "260"]),
            uses: [.renewed(), .asked(after: 1)]),
        .init(
            "okhttp 20", lasts: 3600, ["Last-Modified": "@-7200", "Age": "60", "Expires": "@3600"],
            uses: [.served(with("max-age=90")), .asked(with("max-age=30"))]),
        .init(
            "okhttp 21", lasts: 60, with("max-age=60"),
            uses: [.asked(with("min-fresh=120")), .served(with("min-fresh=10"))]),
        .init(
            "okhttp 22", lasts: 60, with("max-age=60, stale-while-revalidate=100000"),
            uses: [.asked(with("min-fresh=120")), .served(with("min-fresh=10"))]),
        .init(
            "okhttp 23", lasts: 120, with("max-age=120", ["Age": "240"]),
            uses: [
                .served(with("max-stale=180")), .served(with("max-stale")),
                .asked(with("max-stale=10")),
            ]),
        .init(
            "okhttp 24", lasts: 120, with("max-age=120, must-revalidate", ["Age": "360"]),
            uses: [.asked(with("max-stale=180")), .asked(with("max-stale"))]),
    ]

    private static let sunny = ["Sun": "shining", "Weather": "nice"]

    private static func varying(_ names: String) -> [String: String] {
        with("max-age=5", ["Vary": names])
    }

    static let variants: [SemanticsCase] = [
        .init(
            "vary 1", lasts: 5, varying("weather"), request: ["Weather": "nice"],
            uses: [.served(["Weather": "nice"]), .asked(["Weather": "bad"])]),
        .init(
            "vary 2", lasts: nil, varying("*"), request: ["Weather": "ok"],
            uses: [.asked(["Weather": "ok"])]),
        .init(
            "vary 3", lasts: nil, with("public,max-age=99", ["Vary": "*"]),
            request: ["Weather": "ok"]),
        .init(
            "vary 4", lasts: 5, varying("Weather"), request: ["Weather": "BAD"],
            uses: [.served(["Weather": "BAD"]), .asked(["Weather": "bad"])]),
        .init(
            "vary 5", lasts: 5, varying("moon-phase"), request: ["Weather": "nice"],
            uses: [
                .served(["Weather": "bad"]), .served(["Sun": "shining"]),
                .asked(["Moon-Phase": "full"]),
            ]),
        .init(
            "vary 6", lasts: 5, varying("moon-phase, weather"), request: ["Weather": "nice"],
            uses: [
                .served(["Weather": "nice"]), .asked(["Weather": "nice", "Moon-Phase": ""]),
                .asked(),
            ]),
        .init(
            "vary 7", lasts: 5, varying("weather, sun"), request: sunny,
            uses: [.served(sunny), .asked(["Sun": "shining", "Weather": "bad"])]),
        .init(
            "vary 8", lasts: 5, varying("    weather       ,     sun     "), request: sunny,
            uses: [.served(sunny), .asked(["Weather": "nice"]), .asked(["Sun": "shining"])]),
        .init("vary 9", lasts: 5, varying("sun, weather"), request: sunny, uses: [.served(sunny)]),
    ]

    private static let tag = "\"123456789\""
    private static let tagged = with("max-age=111", ["ETag": tag])
    private static let weak = with("max-age=111", ["ETag": "W/\(tag)"])
    private static let dated = with("max-age=111", ["Last-Modified": old])
    private static let both = tagged.merging(dated) { $1 }
    private static let custom = ["Custom": "yes"]
    private static let weakTags = #"W/"weak", "strong", W/"weak2""#

    static let validations: [Validation] = [
        .init(ids: "revalidate 1", stored: tagged, method: .head, fields: custom),
        .init(ids: "revalidate 2", stored: tagged, method: .post, fields: custom),
        .init(ids: "revalidate 3", stored: tagged, fields: custom, path: "/b"),
        .init(ids: "revalidate 4", stored: tagged, host: "other.example.com"),
        .init(ids: "revalidate 5", stored: with("max-age=111", ["Vary": "*"]), fields: custom),
        .init(ids: "revalidate 6", stored: tagged, fields: custom, tags: tag),
        .init(
            ids: "revalidate 7", stored: both, method: .post, fields: ["If-None-Match": weakTags],
            tags: weakTags),
        .init(
            ids: "revalidate 8", stored: dated, method: .post,
            fields: ["If-None-Match": "W/\"weak\""], tags: "W/\"weak\""),
        .init(
            ids: "revalidate 9", stored: both, fields: ["If-None-Match": weakTags],
            tags: "\(weakTags), \(tag)", date: old),
        .init(ids: "revalidate 10", stored: dated, fields: custom, date: old),
        .init(ids: "revalidate 11", stored: with("max-age=111"), fields: custom),
        .init(ids: "revalidate 14, revalidate 16", stored: both, tags: tag, date: old),
        .init(
            ids: "revalidate 15", stored: tagged, fields: ["If-None-Match": "\"foo\", \"bar\""],
            tags: "\"foo\", \"bar\", \(tag)"),
        .init(
            ids: "revalidate 17", stored: dated, method: .post,
            fields: ["If-Modified-Since": "yesterday"], date: "yesterday"),
        .init(
            ids: "revalidate 18", stored: dated, fields: ["If-Modified-Since": "yesterday"],
            date: old),
    ]

    static let updates: [Update] = [
        .init(ids: "update 1", stored: tagged, received: tagged, isUpdated: true),
        .init(ids: "update 2", stored: weak, received: weak, isUpdated: true),
        .init(ids: "update 3", stored: dated, received: dated, isUpdated: true),
        .init(ids: "update 4", stored: both, received: both, isUpdated: true),
        .init(ids: "update 5", stored: both, received: both, isReplaced: true),
        .init(ids: "update 6", stored: both, received: both.merging(["ETag": "bad"]) { $1 }),
        .init(ids: "update 6", stored: both, received: both.merging(["ETag": "W/bad"]) { $1 }),
        .init(ids: "update 7", stored: tagged, received: with("max-age=111"), isUpdated: true),
        .init(ids: "update 7", stored: weak, received: with("max-age=111"), isUpdated: true),
        .init(ids: "update 7", stored: dated, received: with("max-age=111"), isUpdated: true),
        .init(
            ids: "update 8", stored: tagged.merging(["Content-Length": "5"]) { $1 },
            received: tagged.merging(["Content-Length": "2"]) { $1 }, isUpdated: true),
        .init(ids: "update 9", stored: dated, received: tagged),
        .init(ids: "update 9", stored: dated, received: weak),
        .init(ids: "update 9", stored: tagged, received: dated),
        .init(ids: "update 10", stored: tagged, received: tagged.merging(["ETag": "\"o\""]) { $1 }),
        .init(
            ids: "update 10", stored: dated,
            received: dated.merging(["Last-Modified": "dunno"]) { $1 }),
    ]
}
