import SignetSigning
import TestSupport
import Testing

/// The example of Documentation/signing-scheme.md.
@Suite struct SchemePageTests {
    @Test func exampleHasThePartnersWeaknessesOnly() throws {
        let blocks = try Article("Documentation/signing-scheme.md").blocks(in: "json")
        try #require(blocks.count == 1)
        let document = Array(blocks[0].joined(separator: "\n").utf8)
        let scheme = try SigningScheme(document: document)
        #expect(scheme.name == "tea-trade")
        #expect(scheme.findings.map(\.code) == [.noHost])
    }
}
