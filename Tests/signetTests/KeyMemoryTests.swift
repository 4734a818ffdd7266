import Foundation
import SignetCrypto
import TestSupport
import Testing

/// A program that loaded a key keeps none of the key's text in its memory.
@Suite struct KeyMemoryTests {
    /// Whether a child process may read this one's memory.
    private static let mayScan =
        (try? ChildProcess.runBlocking(
            "python3",
            [
                "-I", "-c", "open('/proc/\(ProcessInfo.processInfo.processIdentifier)/mem', 'rb')",
            ]))?.exit == 0

    @Test(.enabled(if: mayScan), arguments: ["PATH", "command:cat PATH"])
    func noTextOfALoadedKeyIsLeft(_ source: String) async throws {
        let folder = try TemporaryDirectory()
        let path = folder.path("keys")
        for type in ["rsa", "p256", "p384", "ed25519", "hmac", "vault", "aes"] {
            let made = try await SignetTool.run(
                ["keys", "new", "--type", type, "--id", type, "--out", path, "--append"])
            #expect(made.exit == 0)
        }
        let set = try KeySource(source.replacing("PATH", with: path)).load()
        let control = Array(UUID().uuidString.utf8)
        let output = try await ChildProcess.run(
            "python3",
            [
                // This process never holds the text itself.
                "-I", PythonPeer.script("memory"),
                "\(ProcessInfo.processInfo.processIdentifier)", path,
                String(decoding: control, as: UTF8.self),
            ])
        #expect(output.exit == 0, "\(output.stderr)")
        #expect(output.text == "control\n")
        #expect(set.keys.count == 7 && control.count == 36)
    }
}
