import Foundation
import SignetSigning
import TestSupport
import Testing

/// The same bytes as PyPI's tencentcloud-sdk-python-common, the signing part of Tencent Cloud's
/// SDK.
@Suite struct TencentPeerTests {
    private static let requests: [PartnerRequest] = {
        var random = SplitMix(seed: 3)
        return (0..<45).map { index in
            var request = PartnerRequest()
            request.way = ["json", "get", "bytes"][index % 3]
            request.method = request.way == "get" ? "GET" : "POST"
            request.host = random.pick(["cvm.tencentcloudapi.com", "sts.tencentcloudapi.com"])
            if request.way == "bytes" {
                request.body = random.bytes(0...300)
            } else {
                let note = random.text(of: "abc &=+%/?\u{e9}\u{4f60}\u{1F512}*~", 0...40)
                request.body = Array(#"{"Limit":\#(index),"Note":"\#(note)","None":""}"#.utf8)
            }
            request.other = [
                "now": "\(Sample.now + Int64(index) * 40_009)",
                "secret": random.text(of: "abcXYZ019", 16...40),
                "service": random.pick(["cvm", "sts"]),
            ]
            if index.isMultiple(of: 4) { request.other["token"] = "token-\(index)" }
            return request
        }
    }()

    private static let answers = Task { () throws -> [PartnerRequest] in
        try await Partner.ask("tencent", requests)
    }

    private static func keys(_ request: PartnerRequest) throws -> KeySet {
        try Partner.keys([("AKIDEXAMPLE", request.other["secret"] ?? "")])
    }

    @Test func signsTheBytesThatTheSDKSigns() async throws {
        let answers = try await Self.answers.value
        #expect(answers.count == Self.requests.count)
        for answer in answers {
            var unsigned = answer
            unsigned["Authorization"] = nil
            unsigned["X-TC-Timestamp"] = nil
            var message = try unsigned.message()
            let now = try #require(answer.other["now"].flatMap { Int64($0) })
            let service = answer.other["service"] ?? ""
            _ = try Partner.signer("tencent-tc3", Self.keys(answer), ["service": service]).sign(
                &message, now: now)
            #expect(message.field("Authorization") == answer["Authorization"], "\(answer.summary)")
            #expect(message.field("X-TC-Timestamp") == answer["X-TC-Timestamp"])
        }
    }

    @Test func verifiesTheSDKsSignatures() async throws {
        for answer in try await Self.answers.value {
            let now = try #require(answer.other["now"].flatMap { Int64($0) })
            let settings = ["service": answer.other["service"] ?? ""]
            let verifier = try Partner.verifier("tencent-tc3", Self.keys(answer), settings)
            let message = try answer.message()
            let proof = try await verifier.verify(message, now: now)
            #expect(proof.keyID == "AKIDEXAMPLE" && proof.created == now)
            #expect(proof["body"] == answer.body)

            let changes: [(String, (inout PartnerRequest) -> Void)] = [
                ("signature-mismatch", { $0.body.append(0) }),
                ("signature-mismatch", { $0.method = "PUT" }),
                ("signature-mismatch", { $0.target = "/x" + $0.target.dropFirst() }),
                (
                    "signature-mismatch",
                    { $0.target += ($0.target.contains("?") ? "&" : "?") + "More=1" }
                ),
                ("signature-mismatch", { $0.host = "cvm.evil.example" }),
                ("signature-mismatch", { $0["Content-Type"] = "text/plain" }),
                ("missing-component", { $0["Content-Type"] = nil }),
                ("signature-mismatch", { $0["X-TC-Timestamp"] = "\(now - 1)" }),
                ("missing-component", { $0["X-TC-Timestamp"] = nil }),
                ("malformed-signature", { $0["X-TC-Timestamp"] = "0\(now)" }),
                ("malformed-signature", { $0["X-TC-Timestamp"] = "-1" }),
                ("malformed-signature", { $0["X-TC-Timestamp"] = "99999999999999999999" }),
                ("no-signature", { $0["Authorization"] = nil }),
                ("malformed-signature", { $0["Authorization"] = "TC3-HMAC-SHA256 nothing" }),
                (
                    "malformed-signature",
                    { $0.fields.append(.init(name: "AUTHORIZATION", value: "Basic AA==")) }
                ),
                (
                    "not-covered",
                    {
                        $0["Authorization"] = $0["Authorization"]?
                            .replacingOccurrences(of: "content-type;host", with: "host")
                    }
                ),
                (
                    "malformed-signature",
                    {
                        $0["Authorization"] = $0["Authorization"]?
                            .replacingOccurrences(
                                of: "content-type;host", with: "host;content-type")
                    }
                ),
                (
                    "signature-mismatch",
                    {
                        $0["Authorization"] = $0["Authorization"]?
                            .replacingOccurrences(of: "tc3_request,", with: "tc3_request,")
                            .replacingOccurrences(
                                of: "/\(settings["service"] ?? "")/", with: "/vod/")
                    }
                ),
            ]
            for (index, (wanted, change)) in changes.enumerated() {
                var changed = answer
                change(&changed)
                #expect(
                    try Partner.reason(verifier, changed.message(), at: now) == wanted,
                    "change \(index) of \(answer.summary)")
            }
            #expect(Partner.reason(verifier, message, at: now + 301) == "too-old")
            #expect(Partner.reason(verifier, message, at: now - 61) == "created-in-future")
            let stranger = try Partner.keys([("AKIDEXAMPLE", "another")])
            let other = try Partner.verifier("tencent-tc3", stranger, settings)
            #expect(Partner.reason(other, message, at: now) == "signature-mismatch")
        }
    }
}
