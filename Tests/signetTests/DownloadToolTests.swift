import Foundation
import SignetCrypto
import SignetJSON
import TestSupport
import Testing

/// `signet send --out`: the file is complete or missing.
@Suite struct DownloadToolTests {
    private let folder: TemporaryDirectory
    private let caFile: String
    private let leaf: TestAuthority.Certificate

    init() throws {
        folder = try TemporaryDirectory()
        let authority = try TestAuthority.trusted.get()
        caFile = authority.caFile
        leaf = authority.leaf
    }

    private func message(_ server: DownloadServer, _ target: String) -> [UInt8] {
        Array("GET \(target) HTTP/1.1\nHost: \(server.url.dropFirst(8))\n\n".utf8)
    }

    private func fetch(
        _ server: DownloadServer, _ target: String, _ options: String...
    ) async throws -> ProcessOutput {
        try await SignetTool.run(
            ["send", "--ca-file", caFile, "--json", "--timeout", "300", "--out"]
                + [folder.path("file")] + options,
            stdin: message(server, target))
    }

    private func error(_ output: ProcessOutput) throws -> String? {
        try JSONValue(parsing: output.stdout)["error"]?["code"]?.string
    }

    private static var sha256: String {
        get throws { hex(try Digest.of(DownloadServer.file)) }
    }

    @Test func reportsTheFileAndChecksItsDigest() async throws {
        let server = try await DownloadServer(["/a": ["/file"]], tls: leaf)
        let plain = try await fetch(server, "/file")
        #expect(plain.exit == 0, "\(plain.text)")
        let said = try JSONValue(parsing: plain.stdout)
        #expect(said["status"]?.number?.int64 == 200)
        #expect(said["bytes"]?.number?.int64 == Int64(DownloadServer.size))
        #expect(said["resumedFrom"]?.number?.int64 == 0)
        #expect(said["digestChecked"]?.bool == false)
        #expect(try folder.read("file") == DownloadServer.file)
        let checked = try await fetch(server, "/a", "--sha256", Self.sha256, "--trace")
        let traced = try JSONValue(parsing: checked.stdout)
        #expect(checked.exit == 0 && traced["digestChecked"]?.bool == true)
        let hops = try #require(traced["trace"]?.array?.first?.array)
        #expect(hops.map { $0["status"]?.number?.int64 } == [302, 200])
        // Another digest: the file that is there stays, and nothing else does.
        try folder.write("old", to: "file")
        let wrong = try await fetch(server, "/file", "--sha256", String(repeating: "0", count: 64))
        #expect(try wrong.exit == 1 && error(wrong) == "wrong-digest")
        #expect(try folder.read("file") == Array("old".utf8))
        #expect(try folder.contents() == ["file"])
    }

    @Test func refusesWrongUsage() async throws {
        let server = try await DownloadServer(tls: leaf)
        for options in [
            ["--sha256", "00"], ["--sha256", String(repeating: "g", count: 64)],
            ["--body", folder.path("file")],
        ] {
            let output = try await SignetTool.run(
                ["send", "--ca-file", caFile, "--json", "--out", folder.path("file")] + options,
                stdin: message(server, "/file"))
            #expect(output.exit == 2, "\(options): \(output.text)")
        }
        for options in [["--resume"], ["--sha256", try Self.sha256]] {
            let output = try await SignetTool.run(
                ["send", "--json"] + options, stdin: message(server, "/file"))
            #expect(output.exit == 2, "\(options): \(output.text)")
        }
        let there = try await fetch(server, "/file", "--out", folder.path("no/file"))
        #expect(try there.exit == 2 && error(there) == "unwritable-file")
        #expect(try folder.contents() == [] && server.requests.isEmpty)
    }

    @Test func continuesACutDownloadOnlyWithResume() async throws {
        let server = try await DownloadServer(tls: leaf)
        for (target, options, from) in [
            ("/file?cut=90000", ["--resume"], 90_000), ("/file?cut=80000", [], 0),
        ] as [(String, [String], Int64)] {
            try folder.write("old", to: "file")
            let cut = try await fetch(server, target)
            #expect(try cut.exit == 3 && error(cut) == "cut-off", "\(cut.text)")
            #expect(try folder.read("file") == Array("old".utf8))
            let whole = try await SignetTool.run(
                ["send", "--ca-file", caFile, "--json", "--out", folder.path("file"), "--sha256"]
                    + [Self.sha256] + options, stdin: message(server, target))
            #expect(whole.exit == 0, "\(whole.text)")
            let said = try JSONValue(parsing: whole.stdout)
            #expect(said["resumedFrom"]?.number?.int64 == from)
            #expect(try folder.read("file") == DownloadServer.file)
            #expect(try folder.contents() == ["file"])
        }
        #expect(
            server.asked == [
                "/file?cut=90000 -", "/file?cut=90000 90000", "/file?cut=80000 -",
                "/file?cut=80000 -",
            ])
    }

    /// Ended while the server holds the second half back.
    @Test(arguments: [SIGKILL, SIGTERM, SIGINT])
    func aKilledRunLeavesNoCompleteFile(signal: Int32) async throws {
        let server = try await DownloadServer(tls: leaf)
        try folder.write("old", to: "file")
        let arguments =
            ["send", "--ca-file", caFile, "--timeout", "300", "--out", folder.path("file")]
        let target = "/file?hold=90000"
        let child = try SignetTool.start(arguments, stdin: message(server, target))
        let part = ".file.signet-\(getuid()).part"
        #expect(
            try await eventually {
                (try? folder.read(part).count) ?? 0 >= 90_000 || !child.isRunning
            })
        #expect(child.isRunning)
        child.send(signal: signal)
        let outcome = try await child.outcome()
        #expect(outcome.exit != 0, "\(outcome.stderr)")
        #expect(try folder.read("file") == Array("old".utf8))
        #expect(try folder.mode(part) == 0o600)
        let again = try await SignetTool.run(
            arguments + ["--resume", "--json"], stdin: message(server, target))
        let said = try JSONValue(parsing: again.stdout)
        #expect(again.exit == 0 && said["resumedFrom"]?.number?.int64 == 90_000, "\(again.text)")
        #expect(try folder.read("file") == DownloadServer.file)
        #expect(try folder.contents() == ["file"])
    }
}
