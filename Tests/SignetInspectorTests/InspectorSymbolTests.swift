#if Inspector
import TestSupport
import Testing

/// The symbols of built programs.
@Suite struct InspectorSymbolTests {
    /// Those of the page and of its server.
    private static let page = "SignetInspector|FlyingFox|FlyingSocks"

    /// `shop` doesn't link the product; `look` does. A release build: `Scripts/check-readme`.
    @Test(.features("000-59")) func aProgramWithoutThePageHasNothingOfIt() async throws {
        #expect(try await SignetTool.hasSymbols(Self.page, in: "look"))
        #expect(try await !SignetTool.hasSymbols(Self.page, in: "shop"))
    }
}
#endif
