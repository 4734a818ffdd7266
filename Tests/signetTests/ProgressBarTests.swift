import Foundation
import SignetClient
import TestSupport
import Testing

@testable import signet

/// The line that a command shows on a terminal while it sends or receives much.
@Suite struct ProgressBarTests {
    private func line(
        sent: Int64 = 0, of toSend: Int64? = nil, received: Int64 = 0,
        outOf toReceive: Int64? = nil
    ) -> String? {
        var state = CallProgress.State()
        (state.sent, state.expectedToSend) = (sent, toSend)
        (state.received, state.expectedToReceive) = (received, toReceive)
        return ProgressBar.line(for: state)
    }

    @Test func showsTheKnownNumbers() {
        #expect(line() == nil)
        #expect(line(of: 9, outOf: 9) == nil)
        #expect(line(sent: 5) == "sent 5 bytes")
        #expect(line(sent: 50, of: 100) == "sent [############............] 50 % of 100 bytes")
        #expect(line(received: 1_234_567) == "received 1.2 MB")
        #expect(
            line(sent: 5, of: 5, received: 2_000_000, outOf: 2_000_000)
                == "received [########################] 100 % of 2.0 MB")
        // A total that is wrong is not shown.
        #expect(line(received: 7, outOf: 5) == "received 7 bytes")
        #expect(line(received: 7, outOf: 0) == "received 7 bytes")
        #expect(line(received: .max, outOf: .max)?.contains("100 %") == true)
    }

    @Test(arguments: [
        (Int64(0), "0 bytes"), (999, "999 bytes"), (1000, "1.0 kB"), (999_999, "999.9 kB"),
        (1_000_000, "1.0 MB"), (1_550_000_000, "1.5 GB"), (2_000_000_000_000, "2.0 TB"),
    ])
    func writesASize(_ count: Int64, _ text: String) {
        #expect(ProgressBar.size(count) == text)
    }

    private static let script = "/usr/bin/script"

    /// A call that lasts until its bar was seen, on a terminal that util-linux's `script` makes.
    @Test(
        .timeLimit(.minutes(2)),
        .enabled("util-linux's script is there") {
            FileManager.default.isExecutableFile(atPath: Self.script)
        })
    func standsOnATerminalUntilTheResultIsPrinted() async throws {
        let folder = try TemporaryDirectory()
        let (server, port) = try await SocketServer.start(
            "file-wait", [folder.path("seen")])
        let call = try ChildProcess(
            Self.script,
            [
                "-qec",
                "'\(SignetTool.url.path)' call http://localhost:\(port) 'GET /x' --protocol rest",
                "/dev/null",
            ], environment: ["TERM": "xterm"], directory: folder.url)
        let isSeen = try await eventually {
            String(decoding: call.output.stdout, as: UTF8.self).contains("44 % of 9 bytes")
        }
        #expect(isSeen)
        try folder.write([UInt8](), to: "seen")
        let output = try await call.outcome()
        #expect(output.text.contains("\r\u{1B}[K\"abcdefg\""), "\(output.text.debugDescription)")
        // Without a terminal there is only the result.
        let piped = try await SignetTool.run([
            "call", "http://localhost:\(port)", "GET /x", "--protocol", "rest",
        ])
        #expect(piped.text == "\"abcdefg\"\n" && piped.stderr.isEmpty)
        try await server.stop()
    }
}
