import Foundation
import SignetSigning
import TestSupport
import Testing

/// Signing and verifying in both directions with PyPI's standardwebhooks and stripe, and changed
/// messages, which both sides refuse.
@Suite struct WebhookPeerTests {
    static let ways = ["standard-webhooks", "stripe"]

    private static func events(_ way: String) -> [PartnerRequest] {
        var random = SplitMix(seed: UInt64(way.utf8.count))
        return (0..<20).map { index in
            var event = PartnerRequest()
            event.way = way
            event.target = "/hooks"
            let id = "evt_\(index)" + random.text(of: "abcXYZ019_-", 0...20)
            let note = random.text(of: "abc .,:=\u{e9}\u{2603}\u{1F512}\u{301}/{}[]", 0...80)
            let text =
                #"{"id":"\#(id)","object":"event","type":"t","data":{"object":{"note":"\#(note)"}}}"#
            event.body = Array(text.utf8)
            let bytes = Data(random.bytes(24...64)).base64EncodedString()
            event.other = ["id": id, "secret": "whsec_\(bytes)", "now": "\(Sample.now)"]
            return event
        }
    }

    /// The outcome of a changed event, and our error code for it.
    private static let changes:
        [(String, [String: String], @Sendable (inout PartnerRequest) -> Void)] = [
            ("body", ["": "signature-mismatch"], { $0.body.insert(0x20, at: 1) }),
            ("no body", ["": "signature-mismatch"], { $0.body = [] }),
            (
                "time", ["": "signature-mismatch"],
                { event in
                    for index in event.fields.indices {
                        event.fields[index].value = event.fields[index].value.replacingOccurrences(
                            of: "\(Sample.now)", with: "\(Sample.now - 1)")
                    }
                }
            ),
            (
                "old", ["": "too-old"],
                { event in
                    for index in event.fields.indices {
                        event.fields[index].value = event.fields[index].value.replacingOccurrences(
                            of: "\(Sample.now)", with: "\(Sample.now - 301)")
                    }
                }
            ),
            (
                "id", ["standard-webhooks": "signature-mismatch"],
                { $0["webhook-id"] = ($0["webhook-id"] ?? "") + "x" }
            ),
            (
                "version", ["": "no-signature"],
                { event in
                    for index in event.fields.indices {
                        event.fields[index].value = event.fields[index].value
                            .replacingOccurrences(of: "v1", with: "v0")
                    }
                }
            ),
            (
                "no signature", ["": "no-signature", "stripe": "malformed-signature"],
                {
                    $0["webhook-signature"] = $0["webhook-signature"].map { _ in "" }
                    $0["Stripe-Signature"] = $0["Stripe-Signature"].map { _ in "" }
                }
            ),
        ]

    private struct Judged {
        let way: String
        /// The events that we signed, and the peer's verdicts.
        var sent: [PartnerRequest] = []
        var wanted: [String] = []
        var verdicts: [String] = []
        /// The events, signed by the peer.
        var theirs: [PartnerRequest] = []
    }

    /// One process for all: our signed events, changed or not, to verify; and events to sign.
    private static let answers = Task { () throws -> [Judged] in
        var judged: [Judged] = []
        for way in ways {
            var all = Judged(way: way)
            for event in events(way) {
                var message = try event.message()
                _ = try Partner.signer(way, keys(event)).sign(
                    &message, now: Sample.now,
                    nonce: way == "stripe" ? nil : event.other["id"] ?? "")
                var signed = event
                signed.fields = message.fields.filter { $0.name != "Host" }.map {
                    PartnerRequest.Field(name: $0.name, value: text($0.value))
                }
                all.sent.append(signed)
                all.wanted.append(way == "stripe" ? "ok \(event.other["id"] ?? "")" : "ok")
                for (_, reasons, change) in changes where (reasons[""] ?? reasons[way]) != nil {
                    var changed = signed
                    change(&changed)
                    all.sent.append(changed)
                    all.wanted.append("refused")
                }
                signed.other["secret"] = "whsec_c29tZWJvZHkgZWxzZSdzIHNlY3JldA=="
                all.sent.append(signed)
                all.wanted.append("refused")
            }
            judged.append(all)
        }
        let asked = judged.flatMap(\.sent) + ways.flatMap(events)
        let answers: [String] = try await Partner.ask("webhooks", asked)
        guard answers.count == asked.count else { throw CocoaError(.coderInvalidValue) }
        var position = 0
        for index in judged.indices {
            judged[index].verdicts = Array(
                answers[position..<(position + judged[index].sent.count)])
            position += judged[index].sent.count
        }
        for index in judged.indices {
            for var event in events(judged[index].way) {
                if event.way == "stripe" {
                    event["Stripe-Signature"] = answers[position]
                } else {
                    event["webhook-id"] = event.other["id"]
                    event["webhook-timestamp"] = event.other["now"]
                    event["webhook-signature"] = answers[position]
                }
                judged[index].theirs.append(event)
                position += 1
            }
        }
        return judged
    }

    /// The set with one secret; Standard Webhooks accepts its bytes too, without `whsec_`.
    private static func keys(_ event: PartnerRequest, raw: Bool = false) throws -> KeySet {
        let secret = try #require(event.other["secret"])
        guard raw, event.way != "stripe" else { return try Partner.keys([("hooks", secret)]) }
        let bytes = try #require(Data(base64Encoded: String(secret.dropFirst(6))))
        return try Sample.keySet([Sample.jwk("hooks", #""use":"sig""#, [UInt8](bytes))])
    }

    private static func judged(_ way: String) async throws -> Judged {
        try #require(try await answers.value.first { $0.way == way })
    }

    /// The peer's library refuses every change.
    @Test(arguments: ways)
    func peerVerifiesOurSignatures(_ way: String) async throws {
        let judged = try await Self.judged(way)
        #expect(judged.verdicts.count > 120)
        for (index, verdict) in judged.verdicts.enumerated() {
            #expect(verdict == judged.wanted[index], "\(judged.sent[index].summary)")
        }
    }

    @Test(arguments: ways)
    func signsTheBytesThatThePeerSigns(_ way: String) async throws {
        let judged = try await Self.judged(way)
        let own = zip(judged.sent, judged.wanted).filter { $0.1.hasPrefix("ok") }.map(\.0)
        #expect(own.count == judged.theirs.count)
        for (left, right) in zip(own, judged.theirs) {
            for name in [
                "webhook-id", "webhook-timestamp", "webhook-signature", "stripe-signature",
            ] { #expect(left[name] == right[name]) }
        }
    }

    /// Every change is refused.
    @Test(arguments: ways)
    func verifiesThePeersSignatures(_ way: String) async throws {
        for event in try await Self.judged(way).theirs {
            let verifier = try Partner.verifier(way, Self.keys(event))
            let message = try event.message()
            #expect(
                try await verifier.verify(message, now: Sample.now)["body"] == event.body)
            let raw = try Partner.verifier(way, Self.keys(event, raw: true))
            #expect(Partner.reason(raw, message) == "no error")
            for (name, reasons, change) in Self.changes {
                guard let wanted = reasons[way] ?? reasons[""] else { continue }
                var changed = event
                change(&changed)
                #expect(try Partner.reason(verifier, changed.message()) == wanted, "\(name)")
            }
            #expect(Partner.reason(verifier, message, at: Sample.now + 300) == "no error")
            #expect(Partner.reason(verifier, message, at: Sample.now + 301) == "too-old")
            #expect(Partner.reason(verifier, message, at: Sample.now - 61) == "created-in-future")
            var stranger = event
            stranger.other["secret"] = "whsec_c29tZWJvZHkgZWxzZSdzIHNlY3JldA=="
            let other = try Partner.verifier(way, Self.keys(stranger))
            #expect(Partner.reason(other, message) == "signature-mismatch")
        }
    }

    /// While a secret is rotated, a list has two signatures.
    @Test func acceptsEitherOfTwoSignatures() async throws {
        for way in Self.ways {
            let events = try await Self.judged(way).theirs
            var both = events[0]
            let name = way == "stripe" ? "Stripe-Signature" : "webhook-signature"
            let separator = way == "stripe" ? "," : " "
            let value = try #require(both[name])
            let other =
                way == "stripe"
                ? "v1=" + String(repeating: "0", count: 64)
                : "v1,AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA="
            let foreign = way == "stripe" ? "v0=00" : "v1a,AAAA"
            both[name] = [value, other, foreign].joined(separator: separator)
            let verifier = try Partner.verifier(way, Self.keys(events[0]))
            #expect(try Partner.reason(verifier, both.message()) == "no error")
            both[name] = both[name].map { text in
                text.replacingOccurrences(
                    of: value, with: way == "stripe" ? "t=\(Sample.now)" : foreign)
            }
            #expect(try Partner.reason(verifier, both.message()) == "signature-mismatch")
        }
    }
}
