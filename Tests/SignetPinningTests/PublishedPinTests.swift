import Foundation
import SignetPinFormats
import SignetPinning
import TestSupport
import Testing

/// The pin tests that OkHttp, TrustKit and curl publish, read in those programs' formats.
@Suite struct PublishedPinTests {
    struct Row: Decodable, Sendable, CustomTestStringConvertible {
        let source: String
        let format: String
        let text: String
        /// The host for a text whose format names none.
        let given: String?
        let host: String?
        /// The verified chain's keys.
        let chain: [String]?
        let accepted: Bool?
        let code: String?
        /// The expected findings of the linter for the converted policy.
        let findings: [String]?

        var testDescription: String { "\(source) \(host ?? "")" }
    }

    private static let now: Int64 = 1_795_228_551

    @Test(arguments: try VectorFile<Row>.load("published", in: Bundle.module))
    func judgesAsPublished(_ row: Row) throws {
        let format = try #require(PinFormat(name: row.format))
        if let wanted = row.findings {
            let read = try PinConversion.read(Array(row.text.utf8), as: format, host: row.given)
            let found = try PinLint.findings(of: read.policy.serialized(), now: Self.now)
            #expect(Set(wanted).isSubset(of: found.map(\.code)), "\(found)")
        }
        guard let name = row.host, let keys = row.chain else {
            if row.findings != nil { return }
            let error = #expect(throws: PinError.self) {
                try PinConversion.read(Array(row.text.utf8), as: format, host: row.given)
            }
            #expect(error?.code.name == row.code)
            return
        }
        let read = try PinConversion.read(Array(row.text.utf8), as: format, host: row.given)
        // Those programs leave hosts that they do not know open.
        let policy = try PinPolicy(rules: read.policy.rules, unlisted: .allow)
        let chain = try keys.map {
            SeenCertificate(subject: "CN=x", pin: try Pin(parsing: Pin.prefix + $0))
        }
        let host = try HostName.canonical(name)
        let verdict = policy.verdict(for: host, chain: chain, now: Self.now)
        #expect((verdict.refusal == nil) == row.accepted, "\(verdict)")
        let closed = read.policy.verdict(for: host, chain: chain, now: Self.now)
        #expect(closed.rule != nil || closed.refusal?.code == .unlistedHost)
    }
}
