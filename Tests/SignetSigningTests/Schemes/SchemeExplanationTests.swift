import Foundation
import SignetSigning
import TestSupport
import Testing

/// The explanation of the text that a scheme's document describes.
@Suite struct SchemeExplanationTests {
    private static let keys: KeySet = {
        do { return try Partner.keys([("AKIDEXAMPLE", "a secret that nobody may see")]) } catch {
            preconditionFailure("\(error)")
        }
    }()
    private static let aws = ["region": "eu-central-1", "service": "iam"]

    private func request() throws -> SignableMessage {
        try Sample.message(
            "POST /a%20b?b=2&a=1 HTTP/1.1\nHost: iam.amazonaws.com\nContent-Type: text/plain\n"
                + "X-Note: a  b\n\nbody")
    }

    private func signed(
        _ scheme: String, _ settings: [String: String] = [:]
    ) throws -> (message: SignableMessage, parts: [MessagePart], base: [UInt8]) {
        var message = try request()
        let result = try Partner.signer(scheme, Self.keys, settings).sign(
            &message, now: Sample.now)
        return (message, result.parts, result.base)
    }

    /// With SigV4, each part is shown by its name in the document.
    @Test func showsTheHashedText() throws {
        for placement in ["header", "query"] {
            let settings = Self.aws.merging(["placement": placement]) { $1 }
            let (message, parts, base) = try signed("aws-sigv4", settings)
            let names = parts.map(\.identifier)
            let last = placement == "header" ? ["{header.x-amz-date}"] : []
            for name in [
                "{time.basic}", "{scope}", "{method}", "{canonicalPath}", "{canonicalQuery}",
                "{header.content-type}", "{header.host}", "{header.x-note}", "{headers.names}",
                "{payloadHash}", "{request}", "sha256({request})",
            ] + last { #expect(names.count { $0 == name } == 1, "\(name) in \(names)") }
            func value(_ name: String) -> String? {
                parts.first { $0.identifier == name }.map { text($0.value) }
            }
            #expect(value("{header.x-note}") == "a b")
            #expect(value("{canonicalPath}") == "/a%2520b")
            #expect(value("{canonicalQuery}")?.contains("a=1") == true)
            #expect(value("{canonicalQuery}")?.contains("b=2") == true)
            #expect(value("{canonicalQuery}")?.contains("Signature=") == false)
            #expect(value("{request}")?.hasPrefix("POST\n/a%2520b\n") == true)
            #expect(text(base).hasSuffix(value("sha256({request})") ?? "none"))
            #expect(!names.contains("{body}"))

            let verifier = try Partner.verifier("aws-sigv4", Self.keys, settings)
            let explanation = verifier.explain(message, now: Sample.now)
            #expect(explanation.reason == nil)
            #expect(explanation.base == base)
            #expect(explanation.parts == parts)
            #expect(explanation.lines.contains("  {method}: POST"))
            #expect(explanation.lines.contains("  {request}:"))
            #expect(explanation.lines.contains("      | POST"))
        }
    }

    @Test func showsATextThatIsSignedUnchanged() throws {
        let (message, parts, _) = try signed("stripe")
        #expect(parts.map(\.identifier) == ["{time}", "{body}"])
        #expect(parts.map { text($0.value) } == ["\(Sample.now)", "body"])
        let changed = try message.replacing("body", with: "b0dy")
        let explanation = try Partner.verifier("stripe", Self.keys).explain(
            changed, now: Sample.now)
        #expect(explanation.reason?.code == .signatureMismatch)
        #expect(explanation.parts.map { text($0.value) } == ["\(Sample.now)", "b0dy"])
        #expect(explanation.base.map(text) == "\(Sample.now).b0dy")
    }

    @Test func stopsAtAMissingPart() throws {
        let message = try signed("tencent-tc3", ["service": "cvm"]).message
        let verifier = try Partner.verifier("tencent-tc3", Self.keys, ["service": "cvm"])
        let changed = try message.replacing("Content-Type: text/plain\r\n", with: "")
        let explanation = verifier.explain(changed, now: Sample.now)
        #expect(explanation.reason?.code == .missingComponent)
        #expect(explanation.base == nil)
        #expect(
            explanation.parts.map(\.identifier) == [
                "{time}", "{time.day}", "{set.service}", "{method}", "{path}", "{query}",
            ])
        #expect(explanation.lines.last == "no base could be computed")
    }

    @Test(
        arguments: [
            "aws-sigv4", "tencent-tc3", "alibaba-acs3", "standard-webhooks", "stripe", "github",
        ])
    func showsNoKeyAndNoExpectedMAC(_ scheme: String) throws {
        let settings =
            ["aws-sigv4": Self.aws, "tencent-tc3": ["service": "cvm"]][scheme] ?? [:]
        let (message, parts, _) = try signed(scheme, settings)
        let whole = text(message.serialized())
        // The longest run of the alphabet of hex and base64 at the end of the last field is the
        // MAC.
        let head = whole.components(separatedBy: "\r\n\r\n")[0]
        let mac = String(
            head.reversed().prefix { $0.isLetter || $0.isNumber || "+/=".contains($0) }.reversed()
        ).replacingOccurrences(of: "Signature=", with: "").replacingOccurrences(of: "v1=", with: "")
            .replacingOccurrences(of: "sha256=", with: "")
        #expect(mac.utf8.count == 64 || mac.utf8.count == 44)
        let forged = try message.replacing(
            mac,
            with: String(repeating: "0", count: mac.hasSuffix("=") ? 43 : 64)
                + (mac.hasSuffix("=") ? "=" : ""))
        let explanation = try Partner.verifier(scheme, Self.keys, settings).explain(
            forged, now: Sample.now)
        #expect(explanation.reason?.code == .signatureMismatch)
        #expect(explanation.parts == parts && !parts.isEmpty)
        let shown = explanation.lines.joined(separator: "\n") + "\(explanation)"
        #expect(!shown.contains(mac))
        #expect(!shown.contains("nobody may see"))
    }
}
