import SignetJSON
import Testing

@testable import SignetSigning

/// The findings of `signet schemes lint`.
@Suite struct SchemeLintTests {
    @Test(arguments: [
        ("rfc9421", []), ("salted-hmac-v1", []), ("alibaba-acs3", []),
        ("aws-sigv4", ["no-nonce"]), ("tencent-tc3", ["no-nonce"]), ("wechatpay-v3", ["no-host"]),
        ("standard-webhooks", ["no-method", "no-host", "no-path", "no-query"]),
        ("stripe", ["no-nonce", "no-method", "no-host", "no-path", "no-query"]),
        ("github", ["no-time", "no-nonce", "no-method", "no-host", "no-path", "no-query"]),
        ("slack-v0", ["no-nonce", "no-method", "no-host", "no-path", "no-query"]),
        ("shopify", ["no-time", "no-nonce", "no-method", "no-host", "no-path", "no-query"]),
        (
            "twilio",
            [
                "unescaped-join", "re-serialised-body", "weak-hash", "no-time", "no-nonce",
                "no-method",
            ]
        ),
        ("square", ["unescaped-join", "no-time", "no-nonce", "no-method"]),
        ("sendgrid", ["no-nonce", "no-method", "no-host", "no-path", "no-query"]),
        (
            "ctnetworking-get",
            [
                "unescaped-join", "pair-sort", "broken-hash", "no-hmac", "no-time", "no-nonce",
                "no-method", "no-host", "no-path", "no-body",
            ]
        ),
        (
            "wechat-v2",
            [
                "re-serialised-body", "unescaped-join", "broken-hash", "no-hmac", "no-time",
                "no-nonce", "no-method", "no-host", "no-path", "no-query",
            ]
        ),
    ])
    func builtIn(_ name: String, _ wanted: [String]) throws {
        let scheme = try SigningScheme.Insecure.scheme(named: name)
        #expect(scheme.findings.map(\.code.name) == wanted)
    }

    /// A scheme without a weakness, in which one thing is changed.
    static func scheme(_ changes: JSONObject = [:]) throws -> SigningScheme {
        var document: JSONObject = [
            "signet-scheme": 1, "name": "good", "nonce": ["bytes": 16, "as": "hex"],
            "text": [
                "join": ["{method}", "{host}", "{target}", "{time}", "{nonce}", "{body}"],
                "with": "\n",
            ],
            "sign": ["hmac": "sha256"],
            "place": [["header": "X-Sign", "value": "{keyid} {time} {nonce} {signature}"]],
        ]
        for (name, value) in changes { document[name] = value }
        return try .Insecure.scheme(document: JSONValue.object(document).serialized())
    }

    /// Each branch of a value uses the value before it. If each use were followed, 20 values of 16
    /// branches would take 16^20 steps.
    @Test(.timeLimit(.minutes(1)), arguments: ["{method}", "{time}", "fixed"])
    func lintsValuesOfManyBranchesAtOnce(_ first: String) throws {
        let branches = (0..<15).map { "b\($0)" }
        var values: JSONObject = ["v0": .string(first)]
        for index in 1...20 {
            var choices: [JSONValue] = branches.map { name in
                [
                    "when": ["branch": .string(name)], "is": .string("{v\(index - 1)}"),
                ]
            }
            choices.append(["is": .string("{v\(index - 1)}")])
            values["v\(index)"] = .array(choices)
        }
        let scheme = try Self.scheme([
            "settings": ["branch": ["enum": .array(branches.map { .string($0) })]],
            "values": .object(values),
            "text": [
                "join": [
                    "{v20}", "{method}", "{host}", "{target}", "{time}", "{nonce}", "{body}",
                ], "with": "\n",
            ],
        ])
        #expect(scheme.findings.isEmpty)
    }

    static let weak: [(String, JSONObject)] = [
        ("broken-hash", ["sign": ["hash": "sha1", "behind": "{secret}"]]),
        ("broken-hash", ["sign": ["hash": "md5", "before": "{secret}"]]),
        ("weak-hash", ["sign": ["hmac": "sha1"]]),
        ("secret-prefix-hash", ["sign": ["hash": "sha256", "before": "{secret}:"]]),
        ("no-hmac", ["sign": ["hash": "sha256", "behind": "{secret}"]]),
        ("unescaped-join", ["text": "{method}{host}{target}{time}\n{nonce}\n{body}"]),
        ("unescaped-join", ["text": "{method}\n{host}\n{target}.{time}\n{nonce}\n{body}"]),
        ("unescaped-join", ["text": "{method}\n{host}\n{body}\n{target}\n{time}\n{nonce}"]),
        (
            "unescaped-join",
            [
                "values": [
                    "p": ["parameters": ["from": ["query"], "decode": true, "sort": "key"]]
                ],
                "text": "{method}\n{host}\n{path}\n{time}\n{nonce}\n{p}\n{body}",
            ]
        ),
        (
            "unescaped-join",
            [
                "values": [
                    "p": [
                        "parameters": [
                            "from": ["query"], "decode": true, "encode": true, "sort": "key",
                            "assign": "", "with": "&",
                        ]
                    ]
                ],
                "text": "{method}\n{host}\n{path}\n{time}\n{nonce}\n{p}\n{body}",
            ]
        ),
        (
            "pair-sort",
            [
                "values": [
                    "p": [
                        "parameters": [
                            "from": ["query"], "decode": true, "encode": true, "sort": "pair",
                        ]
                    ]
                ],
                "text": "{method}\n{host}\n{path}\n{time}\n{nonce}\n{p}\n{body}",
            ]
        ),
        (
            "re-serialised-body",
            [
                "values": [
                    "p": [
                        "parameters": [
                            "from": ["form"], "decode": true, "encode": true, "sort": "key",
                        ]
                    ]
                ],
                "text": "{method}\n{host}\n{target}\n{time}\n{nonce}\n{p}",
            ]
        ),
        ("no-time", ["text": "{method}\n{host}\n{target}\n{nonce}\n{body}"]),
        ("no-time", ["text": "{method}\n{host}\n{target}\n{time.day}\n{nonce}\n{body}"]),
        (
            "no-time",
            [
                "text": "{method}\n{host}\n{target}\n{nonce}\n{body}",
                "sign": ["hmac": "sha256", "chain": ["{time.date}"]],
            ]
        ),
        ("no-nonce", ["text": "{method}\n{host}\n{target}\n{time}\n{body}"]),
        ("no-method", ["text": "{host}\n{target}\n{time}\n{nonce}\n{body}"]),
        ("no-host", ["text": "{method}\n{target}\n{time}\n{nonce}\n{body}"]),
        ("no-path", ["text": "{method}\n{host}\n{query}\n{time}\n{nonce}\n{body}"]),
        ("no-query", ["text": "{method}\n{host}\n{path}\n{time}\n{nonce}\n{body}"]),
        ("no-body", ["text": "{method}\n{host}\n{target}\n{time}\n{nonce}"]),
    ]

    @Test func aGoodSchemeHasNone() throws {
        #expect(try Self.scheme().findings.isEmpty)
    }

    @Test(arguments: weak)
    func eachWeaknessIsNamed(_ code: String, _ changes: JSONObject) throws {
        #expect(try Self.scheme(changes).findings.map(\.code.name).contains(code))
    }

    /// The parts and the fix that a finding names.
    @Test(
        arguments: [
            (
                ["text": "{time}\n{path}{body}"], "between {path} and {body}, ",
                #"write "\n" between"#
            ),
            (
                ["text": "{time}\n{host}{target}{body}"], "between {target} and {body}, ",
                #"write "\n""#
            ),
            (
                ["text": ["join": ["{body}", "{method}"], "with": "\n"]],
                "between {body} and {method}, ", "write the hash of {body} instead"
            ),
            (
                ["text": ["join": ["{time} {path}", "{method}"], "with": "."]],
                "between {path} and {method}, ", #"write "\n""#
            ),
            (
                [
                    "values": ["p": ["parameters": ["from": ["query"], "sort": "key"]]],
                    "text": "{time}\n{p}\n{body}",
                ], "between {p} and {body}, ", #""encode": true in the parameters of {p}"#
            ),
            (
                [
                    "values": [
                        "p": ["parameters": ["from": ["query"], "decode": true, "sort": "key"]]
                    ], "text": "{time}\n{p}",
                ], "in {p}, parameters are joined", #"write "encode": true"#
            ),
        ] as [(JSONObject, String, String)])
    func namesThePartAndTheFix(_ changes: JSONObject, _ part: String, _ fix: String) throws {
        let finding = try Self.scheme(changes).findings.first { $0.code == .unescapedJoin }
        let message = try #require(finding?.message)
        #expect(message.contains(part) && message.contains(fix), "\(message)")
    }

    static let signedElsewhere: [(String, JSONObject)] = [
        (
            "no-time",
            [
                "text": "{method}\n{host}\n{target}\n{nonce}\n{body}",
                "sign": ["hash": "sha256", "behind": "\n{time}\n{secret}"],
            ]
        ),
        (
            "no-nonce",
            [
                "text": "{method}\n{host}\n{target}\n{time}\n{body}",
                "sign": ["hmac": "sha256", "chain": ["{nonce}", "constant"]],
            ]
        ),
        (
            "no-method",
            [
                "text": "{host}\n{target}\n{time}\n{nonce}\n{body}",
                "sign": ["hash": "sha256", "before": "{secret}{method}\n"],
            ]
        ),
    ]

    @Test(arguments: signedElsewhere)
    func sourcesOutsideOfTheTextCount(_ code: String, _ changes: JSONObject) throws {
        #expect(try !Self.scheme(changes).findings.map(\.code.name).contains(code))
    }

    /// A verifier must know the time that is hashed together with the secret.
    @Test func aTimeHashedWithTheSecretIsSigned() throws {
        let scheme = try Self.scheme([
            "text": "{method}\n{host}\n{target}\n{nonce}\n{body}",
            "sign": ["hash": "sha256", "behind": "\n{time}\n{secret}"],
        ])
        let message = try Sample.signed(scheme)
        let verified = try Sample.verifier(scheme).verify(message, now: Sample.now)
        #expect(verified.created == Sample.now)
    }
}
