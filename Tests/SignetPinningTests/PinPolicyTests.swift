import SignetPinning
import TestSupport
import Testing

private let a = "sha256/AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8="
private let b = "sha256/d6qzRu9zOECb90Uez27xWltNsj0e1Md7GkYYkVoZWmM="

private func policy(_ text: String) throws -> PinPolicy { try PinPolicy(parsing: Array(text.utf8)) }

private func host(_ text: String) throws -> HostName { try HostName.canonical(text) }

/// Policies: their JSON, the rule for a host, and the verdict on a chain.
@Suite struct PinPolicyTests {
    private static let family = #"""
        {"hosts":{
          "example.com":{"pins":["\#(a)"],"includeSubdomains":true},
          "*.example.com":{"pins":["\#(b)"]},
          "api.example.com":{"pins":["\#(a)"]},
          "**.deep.example.com":{"pins":["\#(b)"]},
          "open.example.com":{"exclude":true},
          "*.open.example.com":{"exclude":true},
          "**.org":{"pins":["\#(a)"]},
          "*.org":{"pins":["\#(b)"]},
          "::1":{"pins":["\#(a)"]}
        }}
        """#

    @Test(arguments: [
        ("example.com", "example.com"), ("api.example.com", "api.example.com"),
        ("www.example.com", "*.example.com"), ("a.www.example.com", "example.com"),
        ("deep.example.com", "**.deep.example.com"), ("x.deep.example.com", "**.deep.example.com"),
        ("y.x.deep.example.com", "**.deep.example.com"), ("open.example.com", "open.example.com"),
        ("x.open.example.com", "*.open.example.com"), ("y.x.open.example.com", "example.com"),
        ("a.api.example.com", "example.com"), ("org", "**.org"), ("a.org", "*.org"),
        ("b.a.org", "**.org"), ("[::1]", "::1"), ("EXAMPLE.COM.", "example.com"),
    ])
    func letsTheMostSpecificRuleDecide(_ name: String, _ rule: String) throws {
        let policy = try policy(Self.family)
        #expect(try policy.rule(for: host(name))?.pattern.description == rule)
    }

    @Test(arguments: [
        "example.net", "com", "notexample.com", "example.com.evil.net", "xexample.com", "127.0.0.1",
        "::2",
    ])
    func refusesUnlistedHosts(_ name: String) throws {
        let policy = try policy(Self.family)
        let decision = policy.decision(for: try host(name), isSecure: true, now: 0)
        #expect(decision.refusal?.code == .unlistedHost)
        #expect(!decision.isPinned)
    }

    @Test func wildcardsDoNotReachAddresses() throws {
        let policy = try policy(#"{"hosts":{"**.a1":{"pins":["\#(a)"]}}}"#)
        #expect(try policy.rule(for: host("127.0.0.1")) == nil)
    }

    @Test func allowsUnlistedHostsWhenAsked() throws {
        let policy = try policy(#"{"hosts":{"a.example":{"pins":["\#(a)"]}},"unlisted":"allow"}"#)
        let decision = policy.decision(for: try host("b.example"), isSecure: false, now: 0)
        #expect(decision.refusal == nil && !decision.isPinned)
    }

    @Test func neverSpeaksToAPinnedHostWithoutTLS() throws {
        for mode in ["enforce", "report"] {
            for after in ["refuse", "allow"] {
                let policy = try policy(
                    #"{"hosts":{"a.example":{"pins":["\#(a)"],"mode":"\#(mode)","#
                        + #""expires":"2020-01-01","afterExpiry":"\#(after)"}}}"#)
                let decision = policy.decision(
                    for: try host("A.example."), isSecure: false, now: 1_800_000_000)
                #expect(decision.refusal?.code == .cleartextToPinnedHost)
            }
        }
        let open = try policy(#"{"hosts":{"a.example":{"exclude":true}}}"#)
        #expect(open.decision(for: try host("a.example"), isSecure: false, now: 0).refusal == nil)
    }

    @Test func judgesAnExpiredRule() throws {
        let now: Int64 = 1_600_000_000
        let chain = [SeenCertificate(subject: "CN=x", pin: try Pin(parsing: a))]
        func verdict(_ more: String) throws -> PinVerdict {
            try policy(
                #"{"hosts":{"a.example":{"pins":["\#(b)"],"expires":"2020-01-01"\#(more)}}}"#
            ).verdict(for: host("a.example"), chain: chain, now: now)
        }
        let refused = try verdict("")
        #expect(refused.refusal?.code == .policyExpired)
        #expect(refused.refusal?.message.contains(a) == true)
        #expect(refused.refusal?.message.contains(b) == true)
        let allowed = try verdict(#","afterExpiry":"allow""#)
        #expect(allowed.refusal == nil && !allowed.isPinned && !allowed.isMatch)
        let reported = try verdict(#","mode":"report""#)
        #expect(reported.refusal == nil && reported.finding != nil)
    }

    @Test func namesEveryPinSeenAndWanted() throws {
        let chain = [
            SeenCertificate(subject: "CN=leaf", pin: try Pin(bytes: Array(1...32))),
            SeenCertificate(subject: "CN=root", pin: try Pin(bytes: Array(2...33))),
        ]
        let text = #"{"hosts":{"**.example":{"pins":["\#(a)","\#(b)"]}}}"#
        let verdict = try policy(text).verdict(for: host("x.example"), chain: chain, now: 0)
        let refusal = try #require(verdict.refusal)
        #expect(refusal.code == .pinMismatch)
        for part in [a, b, chain[0].pin.text, chain[1].pin.text, "CN=leaf", "**.example"] {
            #expect(refusal.message.contains(part))
        }
        let report = try policy(text.replacing(#"]}"#, with: #"],"mode":"report"}"#))
            .verdict(for: host("x.example"), chain: chain, now: 0)
        #expect(report.refusal == nil && report.finding != nil && !report.isMatch)
    }

    @Test(.features("004-19")) func matchesAnyCertificateOfTheChain() throws {
        let chain = try [UInt8(9), 0, 7].map {
            SeenCertificate(subject: "CN=\($0)", pin: try Pin(bytes: Array($0..<($0 + 32))))
        }
        let text = #"{"hosts":{"x.example":{"pins":["\#(b)","\#(a)"]}}}"#
        let verdict = try policy(text).verdict(for: host("x.example"), chain: chain, now: 0)
        #expect(verdict.isMatch && verdict.refusal == nil)
        let none = try policy(text).verdict(for: host("x.example"), chain: [], now: 0)
        #expect(!none.isMatch && none.refusal?.code == .pinMismatch)
    }

    @Test(arguments: [
        // Not a policy.
        "", "[]", "null", "{}", #"{"hosts":[]}"#, #"{"hosts":{},"hosts":{}}"#, #"{"hosts":{}} x"#,
        #"{"hosts":{},"extra":1}"#, #"{"hosts":{},"unlisted":"deny"}"#,
        #"{"hosts":{},"unlisted":1}"#,
        #"{"hosts":{},"unlisted":null}"#, "\u{FEFF}{\"hosts\":{}}",
        // Not an entry.
        #"{"hosts":{"a.b":1}}"#, #"{"hosts":{"a.b":{}}}"#, #"{"hosts":{"a.b":{"pins":[]}}}"#,
        #"{"hosts":{"a.b":{"pins":"P"}}}"#, #"{"hosts":{"a.b":{"pins":[1]}}}"#,
        #"{"hosts":{"a.b":{"pins":["x"]}}}"#, #"{"hosts":{"a.b":{"pins":["P"],"pin":1}}}"#,
        #"{"hosts":{"a.b":{"pins":["P"],"pins":["P"]}}}"#,
        #"{"hosts":{"a.b":{"pins":["P","sha256/AAAA"]}}}"#,
        #"{"hosts":{"a.b":{"pins":["P"],"mode":"Enforce"}}}"#,
        #"{"hosts":{"a.b":{"pins":["P"],"mode":true}}}"#,
        #"{"hosts":{"a.b":{"pins":["P"],"expires":"2027-02-30"}}}"#,
        #"{"hosts":{"a.b":{"pins":["P"],"expires":20270101}}}"#,
        #"{"hosts":{"a.b":{"pins":["P"],"afterExpiry":"open"}}}"#,
        #"{"hosts":{"a.b":{"pins":["P"],"includeSubdomains":"yes"}}}"#,
        #"{"hosts":{"a.b":{"exclude":true,"pins":["P"]}}}"#,
        #"{"hosts":{"a.b":{"exclude":false}}}"#,
        #"{"hosts":{"a.b":{"exclude":"true"}}}"#, #"{"hosts":{"a.b":{"exclude":1}}}"#,
        // Not a key.
        #"{"hosts":{"a.b:443":{"pins":["P"]}}}"#, #"{"hosts":{"https://a.b":{"pins":["P"]}}}"#,
        #"{"hosts":{"a.b/":{"pins":["P"]}}}"#, #"{"hosts":{"u:secret@a.b":{"pins":["P"]}}}"#,
        #"{"hosts":{"*":{"pins":["P"]}}}"#, #"{"hosts":{"a.*":{"pins":["P"]}}}"#,
        #"{"hosts":{"a*.b":{"pins":["P"]}}}"#, #"{"hosts":{"*.*.b":{"pins":["P"]}}}"#,
        #"{"hosts":{"***.b":{"pins":["P"]}}}"#, #"{"hosts":{"*.127.0.0.1":{"pins":["P"]}}}"#,
        #"{"hosts":{"*.":{"pins":["P"]}}}"#, #"{"hosts":{"":{"pins":["P"]}}}"#,
        #"{"hosts":{"a..b":{"pins":["P"]}}}"#, #"{"hosts":{".a.b":{"pins":["P"]}}}"#,
        #"{"hosts":{"*%2eb":{"pins":["P"]}}}"#,
        // One host in two spellings.
        #"{"hosts":{"a.b":{"pins":["P"]},"A.B":{"pins":["P"]}}}"#,
        #"{"hosts":{"a.b":{"pins":["P"]},"a.b.":{"exclude":true}}}"#,
        #"{"hosts":{"a.b":{"pins":["P"]},"a%2eb":{"pins":["P"]}}}"#,
        #"{"hosts":{"127.0.0.1":{"pins":["P"]},"127.1":{"pins":["P"]}}}"#,
        #"{"hosts":{"::1":{"pins":["P"]},"[0::1]":{"pins":["P"]}}}"#,
        #"{"hosts":{"bücher.de":{"pins":["P"]},"xn--bcher-kva.de":{"pins":["P"]}}}"#,
        #"{"hosts":{"*.a.b":{"pins":["P"]},"*.A.b":{"pins":["P"]}}}"#,
    ])
    func refusesMalformed(_ text: String) {
        let error = #expect(throws: PinError.self) {
            try policy(text.replacing("\"P\"", with: "\"\(a)\""))
        }
        #expect(error?.code == .malformedPolicy)
        #expect(error?.message.contains("secret") == false)
    }

    @Test(arguments: [
        #"{"hosts":{}}"#, #"{"hosts":{"a.b":{"pins":["P"]}}}"#,
        #"{"hosts":{"a.b":{"pins":["P","P"],"exclude":false}}}"#,
        #"{"hosts":{"a.b":{"exclude":true,"includeSubdomains":true}}}"#,
        #"{"hosts":{"a.b":{"pins":["P"]},"*.a.b":{"pins":["P"]},"**.a.b":{"exclude":true}}}"#,
        #"{"unlisted":"allow","hosts":{"[::1]":{"pins":["P"],"expires":"2020-01-01","afterExpiry":"allow","mode":"report","includeSubdomains":false}}}"#,
    ])
    func takes(_ text: String) throws {
        _ = try policy(text.replacing("\"P\"", with: "\"\(a)\""))
    }

    @Test func refusesRulesWithoutPins() {
        #expect(throws: PinError.self) { try PinRule(host: "a.b", pins: []) }
    }
}
