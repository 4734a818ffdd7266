import Foundation
import SignetJSON
import TestSupport
import Testing

/// A machine without a route to other networks: a network namespace with nothing but its loopback.
@Suite struct OfflineToolTests {
    private static func canUnshare() async -> Bool {
        let output = try? await ChildProcess.run("unshare", ["-r", "-n", "true"])
        return output?.exit == 0
    }

    /// An address that needs no look-up, and a name: both say that the machine is offline. A name
    /// that never exists (RFC 6761, 6.4) is wrong in every network.
    @Test(
        .features("002-10"), .enabled("namespaces aren't allowed here", canUnshare),
        arguments: [
            ("https://192.0.2.1/rpc", "offline"), ("https://api.example.com/rpc", "offline"),
            ("https://nowhere.invalid/rpc", "name"),
        ])
    func aMachineWithoutARouteIsOffline(_ url: String, _ expected: String) async throws {
        let output = try await ChildProcess.run(
            "unshare",
            ["-r", "-n", SignetTool.url.path, "call", url, "m", "--json", "--timeout", "20"],
            environment: ["SIGNET_PROJECT": "none"])
        #expect(output.exit == 3, "\(output.stdout) \(output.stderr)")
        let code = try JSONValue(parsing: output.stdout)["error"]?["code"]?.string
        #expect(code == expected)
    }
}
