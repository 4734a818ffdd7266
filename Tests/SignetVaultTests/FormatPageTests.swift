import SignetJSON
import SignetVault
import TestSupport
import Testing

/// The examples of Documentation/configuration-schema.md and sealed-dump.md, unchanged.
@Suite struct FormatPageTests {
    @Test func theConfigurationFitsTheSchema() throws {
        let blocks = try Article("Documentation/configuration-schema.md").blocks(in: "json")
            .map { Array($0.joined(separator: "\n").utf8) }
        try #require(blocks.count == 2)
        let configuration = try GlobalConfiguration(
            schema: Schema(parsing: blocks[0]), defaults: .json(blocks[1]))
        #expect(configuration.count == 5)
        #expect(configuration.publicValues.count == 4)
    }

    @Test func thePlaintextIsTheFirstVector() throws {
        let vector = try #require(DumpVector.all("accepted").first)
        let plaintext = try #require(
            Article("Documentation/sealed-dump.md").blocks(in: "json").first)
        #expect(try plaintext.joined() == vector.text("plaintext"))
    }
}
