import Foundation
import TestSupport
import Testing

/// The Swift examples of the documentation.
@Suite struct ExampleTests {
    @Test(.enabled(if: !SignetTool.isRelease, "the modules of a debug build are needed"))
    func everyExampleCompiles() async throws {
        let build = SignetTool.url.deletingLastPathComponent().path(percentEncoded: false)
        let check = PackageLayout.url("Scripts/check-examples").path(percentEncoded: false)
        let output = try await ChildProcess.run(check, [build])
        #expect(output.exit == 0, "\(output.stderr)")
    }
}
