#if Inspector
import Foundation
import TestSupport
import Testing

/// The symbols of built programs.
@Suite struct InspectorSymbolTests {
    /// Whether a program next to the tests has symbols of the page or of its server.
    private static func hasPage(_ program: String) async throws -> Bool {
        let path = SignetTool.url.deletingLastPathComponent().appending(path: program).path
        // Only the lines that are wanted: a program has hundreds of thousands.
        let output = try await ChildProcess.run(
            "/bin/sh", ["-c", "nm \"$0\" | grep -Ec 'SignetInspector|FlyingFox|FlyingSocks'", path])
        let text = String(decoding: output.stdout, as: UTF8.self)
        let count = text.split(separator: "\n").first.flatMap { Int($0) }
        return try #require(count, "nm failed: \(output.stderr)") > 0
    }

    /// `shop` doesn't link the product, in a debug build and in a release build; `look` does.
    @Test(.features("000-59")) func aProgramWithoutThePageHasNothingOfIt() async throws {
        #expect(try await Self.hasPage("look"))
        #expect(try await !Self.hasPage("shop"))
    }
}
#endif
