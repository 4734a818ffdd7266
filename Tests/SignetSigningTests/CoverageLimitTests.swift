import SignetCrypto
import SignetSigning
import TestSupport
import Testing

/// The limit of covered components, and messages with many fields.
@Suite struct CoverageLimitTests {
    private let now = Sample.now

    private static func names(_ count: Int) -> [String] { (0..<count).map { "x-\($0)" } }

    /// A request signed by `salted-hmac-v1` whose signature names these fields instead of none.
    private func claiming(_ names: [String]) throws -> SignableMessage {
        try Sample.signed(.saltedHMAC).replacing(
            "fields=\"\"", with: "fields=\"\(names.joined(separator: " "))\"")
    }

    private func refusal(_ body: () throws -> Void) throws -> SigningError {
        try #require(#expect(throws: SigningError.self) { try body() })
    }

    /// By salted-hmac-v1, the verifier reads none of the names.
    @Test func verifierRefusesMoreThan256NamesUnread() throws {
        let verifier = try Sample.verifier(.saltedHMAC)
        // The last name is invalid, and all are missing: neither is noticed.
        for names in [Self.names(257), Self.names(20_000) + ["@method"]] {
            let message = try claiming(names)
            let error = try refusal { _ = try verifier.verify(message, now: now) }
            #expect(error.code == .malformedSignature)
            #expect(error.message.contains("\(names.count) fields: expected at most 256"))
        }
        let message = try claiming(Self.names(256))
        let error = try refusal { _ = try verifier.verify(message, now: now) }
        #expect(error.code == .missingComponent)
    }

    @Test(arguments: [SigningScheme.rfc9421, .saltedHMAC])
    func signerRefusesMoreThan256Names(_ scheme: SigningScheme) throws {
        for count in [256, 257, 1000] {
            var options = MessageSigner.Options()
            // The names are the same, which is noticed only in a list that is short enough.
            let component = try ComponentIdentifier("x-same")
            options.coveredComponents = Array(repeating: component, count: count)
            let error = try refusal {
                _ = try MessageSigner(
                    scheme: scheme, key: Sample.keys.key(id: "orders-2026"), options: options)
            }
            #expect(error.code == (count == 256 ? .duplicateComponent : .malformedComponent))
        }
    }

    @Test(arguments: [255, 256, 257, 5000])
    func listHasAtMost256Names(_ count: Int) {
        let list = Self.names(count).joined(separator: ",")
        let outcome = code { _ = try ComponentIdentifier.list(parsing: list) }
        #expect(outcome == (count <= 256 ? "no error" : "malformed-component"))
    }

    /// A request with many field lines, some names in several spellings and several times.
    private func large(_ lines: Int) throws -> SignableMessage {
        let fields = (0..<lines).map { index in
            "\(index.isMultiple(of: 2) ? "X" : "x")-\(index % 50): \(index)"
        }
        return try Sample.message(
            "GET /a HTTP/1.1\nHost: h\n\(fields.joined(separator: "\n"))\n\n")
    }

    @Test(
        arguments: [40, 100, 1000])
    func valuesAreTheSameInLongMessages(_ lines: Int) throws {
        let covers = "x-7,x-0,x-39,host,\"x-1\";bs,\"x-3\";sf"
        var message = try large(lines)
        var options = MessageSigner.Options()
        options.coveredComponents = try ComponentIdentifier.list(parsing: covers)
        options.fieldTypes["x-3"] = .list
        let signer = try MessageSigner(
            scheme: .rfc9421, key: Sample.keys.key(id: "orders-2026"), options: options)
        let result = try signer.sign(&message, now: now)
        func joined(_ number: Int, _ write: (Int) -> String = { "\($0)" }) -> String {
            stride(from: number, to: lines, by: 50).map(write).joined(separator: ", ")
        }
        let wanted = [
            "\"x-7\": \(joined(7))", "\"x-0\": \(joined(0))", "\"x-39\": \(joined(39))",
            "\"host\": h",
            "\"x-1\";bs: \(joined(1) { ":\(Base64.encode(Array("\($0)".utf8), as: .standard)):" })",
            "\"x-3\";sf: \(joined(3))",
        ]
        let base = text(result.base).split(separator: "\n").dropLast().map(String.init)
        #expect(base == wanted)
        var policy = VerificationPolicy()
        policy.coveredComponents = options.coveredComponents
        policy.fieldTypes = options.fieldTypes
        let verified = try Sample.verifier(.rfc9421, policy).verify(message, now: now)
        #expect(verified["x-7"].map(text) == joined(7))
        for name in ["x-50", "x-"] {
            let missing = try ComponentIdentifier(name)
            var other = options
            other.coveredComponents = [missing]
            var unsigned = try large(lines)
            #expect(
                code {
                    _ = try MessageSigner(
                        scheme: .rfc9421, key: Sample.keys.key(id: "orders-2026"), options: other
                    ).sign(&unsigned, now: now)
                } == "missing-component")
        }
    }

    @Test(
        arguments: [SigningScheme.rfc9421, .saltedHMAC])
    func changeInALongMessageIsNoticed(_ scheme: SigningScheme) throws {
        var message = try large(300)
        var options = MessageSigner.Options()
        options.coveredComponents = try ComponentIdentifier.list(
            parsing: scheme == .rfc9421 ? "@method,@authority,@path,x-7" : "x-7")
        _ = try MessageSigner(
            scheme: scheme, key: Sample.keys.key(id: "orders-2026"), options: options
        ).sign(&message, now: now)
        let verifier = try Sample.verifier(scheme)
        _ = try verifier.verify(message, now: now)
        for (old, new) in [("x-7: 257", "x-7: 258"), ("x-7: 257\r\n", ""), ("x-8: 9", "x-7: 9")] {
            let outcome = code {
                _ = try verifier.verify(
                    try message.replacing(old.replacing("x-8: 9", with: "x-9: 9"), with: new),
                    now: now)
            }
            #expect(outcome == "signature-mismatch")
        }
    }
}
