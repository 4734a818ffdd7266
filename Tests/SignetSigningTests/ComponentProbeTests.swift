import Foundation
import SignetCrypto
import SignetSigning
import TestSupport
import Testing

/// The line of each component in a signature base, compared by a MAC over the base that RFC 9421
/// gives.
@Suite struct ComponentProbeTests {
    struct Probe: Decodable, Sendable, CustomTestStringConvertible {
        let probe: String
        let message: String
        let covers: String
        let lines: [String]?
        let refused: String?
        let trailers: [[String]]?
        let request: String?
        let types: [String: String]?
        let append: [String]?

        var testDescription: String { probe }

        func read() throws -> SignableMessage {
            var message = try Sample.message(message)
            for trailer in trailers ?? [] {
                message.appendTrailer(
                    try SignableMessage.Field(name: trailer[0], value: Array(trailer[1].utf8)))
            }
            if let request { try message.setRelatedRequest(Sample.message(request)) }
            if let append {
                try message.append(
                    SignableMessage.Field(name: append[0], value: Array(append[1].utf8)))
            }
            return message
        }

        func fieldTypes() -> StructuredFieldTypes {
            var result = StructuredFieldTypes()
            for (name, type) in types ?? [:] { result[name] = StructuredFieldType(rawValue: type) }
            return result
        }

        func sign() throws -> (SignableMessage, MessageSigner.Result) {
            var options = MessageSigner.Options()
            options.coveredComponents = try ComponentIdentifier.list(parsing: covers)
            options.fieldTypes = fieldTypes()
            var message = try read()
            let result = try MessageSigner(
                scheme: .rfc9421, key: Sample.keys.key(id: "orders-2026"), options: options
            ).sign(&message, now: Sample.now)
            return (message, result)
        }
    }

    static let probes = Result { try VectorFile<Probe>.load("rfc9421-components", in: .module) }

    @Test func has25Probes() throws { #expect(try Self.probes.get().count == 25) }

    @Test(arguments: try probes.get())
    func signsTheBaseOfTheRFC(_ probe: Probe) throws {
        guard let lines = probe.lines else {
            #expect(code { _ = try probe.sign() } == probe.refused)
            return
        }
        let (message, result) = try probe.sign()
        let names = probe.covers.split(separator: ",").map { name in
            name.hasPrefix("\"") ? String(name) : "\"\(name)\""
        }
        let parameters =
            "(\(names.joined(separator: " ")));created=\(Sample.now);keyid=\"orders-2026\""
        let base = Array(
            (lines + ["\"@signature-params\": \(parameters)"]).joined(separator: "\n").utf8)
        #expect(text(result.base) == text(base))
        let secret = Sample.secret
        let tag = try HMACKey(.sha256, key: secret.span).tag(of: base)
        #expect(
            result.addedFields.map { "\($0.name): \(text($0.value))" } == [
                "Signature-Input: sig1=\(parameters)",
                "Signature: sig1=:\(Data(tag).base64EncodedString()):",
            ])
        #expect(
            result.parts.map { $0.value }
                == lines.map { line in
                    Array(line.utf8.drop { $0 != 0x3A }.dropFirst(2))
                })

        var policy = try Sample.policy(required: probe.covers)
        policy.fieldTypes = probe.fieldTypes()
        let verified = try Sample.verifier(.rfc9421, policy).verify(message, now: Sample.now)
        #expect(verified.covered == result.parts)
    }
}
