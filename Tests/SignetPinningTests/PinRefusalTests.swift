import SignetPinning
import Testing

private let a = "sha256/AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8="
private let b = "sha256/d6qzRu9zOECb90Uez27xWltNsj0e1Md7GkYYkVoZWmM="
private let leaf = "sha256/E9CZ9INDbd+2eRQozYqqbQ2yXLVKB9+xcprMF+44U1g="
private let issuer = "sha256/LPJNul+wow4m6DsqxbninhsWHlwfp0JecwQzYpOLmCQ="

/// A refusal's values and its remedy.
@Suite struct PinRefusalTests {
    private func refusal(
        _ policy: String, host: String = "api.example", chain: [String] = [leaf, issuer],
        now: Int64 = 1_795_228_551
    ) throws -> PinRefusal {
        let policy = try PinPolicy(parsing: Array(policy.utf8))
        let seen = try chain.map { SeenCertificate(subject: "CN=x", pin: try Pin(parsing: $0)) }
        let verdict = policy.verdict(for: try HostName.canonical(host), chain: seen, now: now)
        return try #require(verdict.refusal)
    }

    @Test(
        arguments: [
            (
                #"{"hosts":{"api.example":{"pins":["\#(a)","\#(b)"]}}}"#, "new-key",
                #""api.example":{"pins":["\#(a)","\#(b)","\#(leaf)"]}"#
            ),
            (
                #"{"hosts":{"example":{"pins":["\#(a)"],"includeSubdomains":true,"expires":"2030-01-01"}}}"#,
                "new-key",
                #""example":{"pins":["\#(a)","\#(leaf)"],"includeSubdomains":true,"expires":"2030-01-01"}"#
            ),
            (
                // One letter of the leaf's pin in the other case.
                #"{"hosts":{"api.example":{"pins":["\#(a)","sha256/e9CZ9INDbd+2eRQozYqqbQ2yXLVKB9+xcprMF+44U1g="]}}}"#,
                "letter-case", #""api.example":{"pins":["\#(a)","\#(leaf)"]}"#
            ),
            (
                #"{"hosts":{"api.example":{"pins":["sha256/47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=","sha256/AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA="]}}}"#,
                "not-a-key", #""api.example":{"pins":["\#(leaf)","\#(issuer)"]}"#
            ),
            (
                #"{"hosts":{"api.example":{"pins":["\#(a)"]},"www.example":{"pins":["\#(leaf)"]}}}"#,
                "other-rule", #""api.example":{"pins":["\#(a)","\#(leaf)"]}"#
            ),
            (
                #"{"hosts":{"www.example":{"pins":["\#(a)"]}}}"#, "unlisted",
                #""api.example":{"pins":["\#(leaf)","\#(issuer)"]}"#
            ),
            (
                #"{"hosts":{"example":{"pins":["\#(leaf)"]}}}"#, "reach",
                #""api.example":{"pins":["\#(leaf)","\#(issuer)"]}"#
            ),
            (
                #"{"hosts":{"api.example":{"pins":["\#(leaf)"],"expires":"2020-01-01"}}}"#,
                "expired", nil
            ),
        ] as [(String, String, String?)])
    func namesTheRemedy(_ policy: String, _ kind: String, _ entry: String?) throws {
        let refusal = try refusal(policy)
        #expect(refusal.remedy.kind.name == kind)
        #expect(refusal.remedy.entry == entry)
        #expect(refusal.host.text == "api.example")
        #expect(refusal.seen.map(\.pin.text) == [leaf, issuer])
        #expect(refusal.message.contains(refusal.remedy.advice))
        for pin in refusal.seen.map(\.pin.text) + refusal.expected.map(\.text) {
            #expect(refusal.message.contains(pin))
        }
        if let entry {
            // The suggested entry makes a policy that accepts the chain.
            #expect(refusal.message.contains(entry))
            let fixed = try PinPolicy(parsing: Array("{\"hosts\":{\(entry)}}".utf8))
            let verdict = fixed.verdict(for: refusal.host, chain: refusal.seen, now: 0)
            #expect(verdict.isMatch && verdict.refusal == nil)
        }
    }

    @Test func hasNoEntryWithoutAChain() throws {
        let mismatch = try refusal(
            #"{"hosts":{"api.example":{"pins":["\#(a)"]}}}"#, chain: [])
        #expect(mismatch.remedy.kind == .noChain)
        #expect(mismatch.remedy.entry == nil)
        let policy = try PinPolicy(parsing: Array(#"{"hosts":{}}"#.utf8))
        let host = try HostName.canonical("api.example")
        let unlisted = policy.decision(for: host, isSecure: true, now: 0).refusal
        #expect(unlisted?.remedy.kind == .unlisted)
        #expect(unlisted?.remedy.entry == nil)
        #expect(unlisted?.rule == nil)
        // The suggested command checks the host of the call.
        for (port, end) in [(nil, "api.example)"), (443, "api.example)"), (8443, "example:8443)")] {
            let error = policy.decision(for: host, isSecure: true, now: 0, port: port).refusal
            let command = "(signet pins show https://"
            #expect(error?.message.contains(command) == true)
            #expect(error?.message.contains(end) == true, "\(error?.message ?? "")")
            #expect(error?.port == port)
        }
    }

    @Test(arguments: [
        #"{"hosts":{}}"#, #"{"hosts":{},"unlisted":"allow"}"#,
        #"{"hosts":{"A.example.":{"pins":["\#(b)","\#(a)"],"mode":"enforce"}}}"#,
        #"{"hosts":{"*.b":{"exclude":true,"includeSubdomains":true},"::1":{"pins":["\#(a)"]}}}"#,
        #"{"hosts":{"**.b":{"pins":["\#(a)"],"mode":"report","expires":"2027-06-30","afterExpiry":"allow"}}}"#,
    ])
    func writesTheParsedValueUnchanged(_ text: String) throws {
        let policy = try PinPolicy(parsing: Array(text.utf8))
        #expect(try PinPolicy(parsing: policy.serialized()) == policy)
    }
}
