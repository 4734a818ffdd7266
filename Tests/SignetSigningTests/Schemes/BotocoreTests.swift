import Foundation
import SignetSigning
import TestSupport
import Testing

/// The same bytes as PyPI's botocore, which signs for AWS's own tools, and as awscrt configured
/// as botocore configures it. Our signer gets region and service only.
@Suite struct BotocoreTests {
    static let ways = [
        "header", "query", "s3-header", "s3-query", "crt-header", "crt-query", "crt-s3-header",
        "crt-s3-query",
    ]
    private static let paths = [
        "/", "", "/a/./b/../c//d/", "/..", "/a%20b/%C3%BC~x", "/%2F/a%252Fb", "/x;y=1,2/:@!$'()*",
        "/-_.~/", "/key%2Bname+plus", "/a/.", "/a/b/..", "/a/./", "/a/b/../", "//", "//a", "/a//",
        "/./", "/.", "/a/..", "/a/../", "/../a/", "/a/...", "/a%20/.", "/%2E/a/%2e%2E/b", "/a/.b",
    ]
    private static let queries = [
        "", "?a=b", "?b=2&a=1&A=3", "?x=%20&y=%2F%3D", "?empty=&z", "?%C3%BC=%E2%98%83",
        "?a1=x&a=1", "?q=~-_.", "?Key=v&key=V",
    ]

    private static func requests(_ way: String) -> [PartnerRequest] {
        var random = SplitMix(seed: UInt64(way.utf8.count))
        return (0..<50).map { index in
            var request = PartnerRequest()
            request.way = way
            let presigned = way.hasSuffix("query")
            request.method = random.pick(["GET", "PUT", "DELETE"])
            request.target =
                paths[index % paths.count] + (index < 9 ? queries[index] : random.pick(queries))
            if request.target.isEmpty { request.target = "/" }
            if request.target.hasPrefix("?") { request.target = "/" + request.target }
            request.host = random.pick([
                "iam.amazonaws.com", "b.s3.eu-central-1.amazonaws.com:8443",
            ])
            request["Content-Type"] = "application/json"
            request["X-Amz-Meta-Note"] = random.text(of: "abc  \u{e9},;=", 1...20) + "."
            request["User-Agent"] = "not signed"
            request["traceparent"] = "not signed either"
            if !presigned {
                request.body = random.bytes(0...200)
                if index.isMultiple(of: 5) { request.body = [] }
            }
            request.other = [
                "service": way.contains("s3") ? "s3" : random.pick(["iam", "execute-api"]),
                "region": random.pick(["eu-central-1", "us-east-1"]),
                "now": "\(Sample.now + Int64(index) * 7919)",
                "lifetime": "\(Int.random(in: 1...604_800, using: &random))",
            ]
            if index.isMultiple(of: 3) { request.other["token"] = "FwoGZXIvYXdzE+/==\(index)" }
            return request
        }
    }

    /// The results of botocore for all requests, in one process.
    private static let answers = Task { () throws -> [PartnerRequest] in
        try await Partner.ask("botocore", ways.flatMap(requests))
    }

    private static func settings(_ request: PartnerRequest) -> [String: String] {
        var settings = [
            "service": request.other["service"] ?? "", "region": request.other["region"] ?? "",
        ]
        if request.way.hasSuffix("query") { settings["placement"] = "query" }
        settings["sessionToken"] = request.other["token"]
        return settings
    }

    private static func keys(_ secret: String = "wJalrXUtnFEMI/K7MDENG") throws -> KeySet {
        try Partner.keys([("AKIDEXAMPLE", secret)])
    }

    private static func now(_ request: PartnerRequest) throws -> Int64 {
        try #require(request.other["now"].flatMap { Int64($0) })
    }

    @Test(arguments: ways)
    func signsTheBytesThatBotocoreSigns(_ way: String) async throws {
        let own = Self.requests(way)
        let theirs = try await Self.answers.value.filter { $0.way == way }
        #expect(theirs.count == own.count)
        for (request, answer) in zip(own, theirs) {
            let now = try Self.now(request)
            var message = try request.message()
            let lifetime = try #require(request.other["lifetime"].flatMap { Int64($0) })
            _ = try Partner.signer("aws-sigv4", Self.keys(), Self.settings(request)).sign(
                &message, now: now, expiration: way.hasSuffix("query") ? now + lifetime : nil)
            for name in [
                "Authorization", "X-Amz-Date", "X-Amz-Security-Token", "X-Amz-Content-SHA256",
            ] {
                #expect(message.field(name) == answer[name], "\(request.summary)")
            }
            guard way.hasSuffix("query") else { continue }
            // Botocore encodes the existing query in its own way.
            func added(_ target: String) -> [Substring] {
                target.split { $0 == "?" || $0 == "&" }.filter { $0.hasPrefix("X-Amz-") }.sorted()
            }
            let target = text(try #require(message.request).target)
            #expect(added(target) == added(answer.target), "\(request.summary)")
        }
    }

    @Test(arguments: ways)
    func verifiesBotocoresSignatures(_ way: String) async throws {
        for var answer in try await Self.answers.value.filter({ $0.way == way }) {
            // awscrt adds the host that `message()` adds too.
            answer["Host"] = nil
            let now = try Self.now(answer)
            let settings = Self.settings(answer)
            let verifier = try Partner.verifier("aws-sigv4", Self.keys(), settings)
            let message = try answer.message()
            let proof = try await verifier.verify(message, now: now)
            #expect(proof.keyID == "AKIDEXAMPLE" && proof.created == now)
            #expect((proof["body"] == nil) == way.hasSuffix("s3-query"))

            func refused(
                _ wanted: String, _ change: (inout PartnerRequest) -> Void,
                line: SourceLocation = #_sourceLocation
            ) throws {
                var changed = answer
                change(&changed)
                let message = try changed.message()
                #expect(
                    Partner.reason(verifier, message, at: now) == wanted, "\(answer.summary)",
                    sourceLocation: line)
            }
            try refused("signature-mismatch") { $0.method = "PATCH" }
            try refused("signature-mismatch") { $0.target = "/other/x" + $0.target }
            try refused("signature-mismatch") {
                $0.target += ($0.target.contains("?") ? "&" : "?") + "more=1"
            }
            try refused("signature-mismatch") { $0.host = "evil.example" }
            try refused("signature-mismatch") { $0["Content-Type"] = "text/plain" }
            try refused("missing-component") { $0["Content-Type"] = nil }
            if !way.hasSuffix("s3-query") {
                try refused("signature-mismatch") { $0.body.append(0) }
            }
            let other = try Partner.verifier("aws-sigv4", Self.keys("another"), settings)
            #expect(Partner.reason(other, message, at: now) == "signature-mismatch")
            let strangers = try Partner.keys([("AKIDOTHER", "wJalrXUtnFEMI/K7MDENG")])
            let unknown = try Partner.verifier("aws-sigv4", strangers, settings)
            #expect(Partner.reason(unknown, message, at: now) == "unknown-key")
            let elsewhere = try Partner.verifier(
                "aws-sigv4", Self.keys(), settings.merging(["region": "mars-1"]) { $1 })
            #expect(Partner.reason(elsewhere, message, at: now) == "signature-mismatch")
            #expect(Partner.reason(verifier, message, at: now - 61) == "created-in-future")
            if way.hasSuffix("query") {
                let lifetime = try #require(answer.other["lifetime"].flatMap { Int64($0) })
                #expect(Partner.reason(verifier, message, at: now + lifetime) == "expired")
                try refused("malformed-signature") { $0.target += "&X-Amz-Signature=00" }
            } else {
                #expect(Partner.reason(verifier, message, at: now + 301) == "too-old")
                try refused("malformed-signature") {
                    $0.fields.append(.init(name: "authorization", value: "AWS4-HMAC-SHA256 x"))
                }
                try refused("no-signature") { $0["Authorization"] = nil }
                try refused("signature-mismatch") {
                    // Some seconds earlier or later.
                    let date = $0["X-Amz-Date"] ?? ""
                    $0["X-Amz-Date"] =
                        date.dropLast(2) + (date.hasSuffix("0Z") ? "1Z" : "0Z")
                }
            }
        }
    }
}
