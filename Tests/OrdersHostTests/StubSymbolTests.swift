import TestSupport
import Testing

/// The symbols of programs that use the system without its module of stubs.
@Suite struct StubSymbolTests {
    /// `shop` is built and runs without SignetTesting, which the tests link.
    @Test(.features("000-54")) func aProgramHasNothingOfTheStubs() async throws {
        #expect(try await SignetTool.hasSymbols("SignetTesting", in: "signetPackageTests.xctest"))
        #expect(try await !SignetTool.hasSymbols("SignetTesting", in: "shop"))
        #expect(try await SignetTool.hasSymbols("SignetClient", in: "shop"))
    }
}
