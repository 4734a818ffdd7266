import Foundation
import SignetJSON
import TestSupport
import Testing

/// A process that may open only so many descriptors, one more each time.
@Suite struct DescriptorToolTests {
    @Test func namesALackOfDescriptors() async throws {
        let authority = try TestAuthority.trusted.get()
        let server = try await OpenSSLServer(authority.identity)
        var codes: [String] = []
        for limit in 7..<24 {
            let run = {
                try await ChildProcess.run(
                    "/bin/sh",
                    [
                        "-c", "ulimit -n $1; shift; exec \"$@\"", "sh", "\(limit)",
                        SignetTool.url.path, "pins", "show", "https://localhost:\(server.port)",
                        "--ca-file", authority.caFile, "--json",
                    ], timeout: 300)
            }
            var output = try await run()
            // Swift ends the first thread of an asynchronous program while it is at work. libdispatch
            // opens a descriptor for that, and ends the process where none is left at that moment
            // (SIGILL, Swift 6.3): a race that is not lost each time.
            for _ in 0..<9 where output.exit == 132 { output = try await run() }
            if output.exit == 0 {
                codes.append("")
                continue
            }
            let code = try? JSONValue(parsing: output.stdout)["error"]?["code"]?.string
            codes.append(code ?? "exit \(output.exit)")
            if code == "resources" { #expect(output.exit == 3) }
        }
        #expect(codes.contains("resources"), "\(codes)")
        #expect(Set(codes).subtracting(["", "resources"]).isEmpty, "\(codes)")
        #expect(codes.last == "")
    }

    /// What is meant for standard output never goes into a file or a socket that got its number, and is
    /// never lost in silence.
    @Test(arguments: [">&-", "<&- >&-", ">/dev/full"], [[], ["--json"]])
    func aResultThatCannotBeWrittenIsAnError(_ streams: String, _ more: [String]) async throws {
        let authority = try TestAuthority.trusted.get()
        let server = try await OpenSSLServer(authority.identity)
        let url = "https://localhost:\(server.port)"
        let folder = try TemporaryDirectory()
        let policy = try folder.write(
            #"{"hosts":{"localhost":{"pins":["\#(authority.leaf.pin)"]}}}"#, to: "policy.json")
        for arguments in [
            ["pins", "show", url, "--ca-file", authority.caFile],
            ["pins", "check", url, "--ca-file", authority.caFile, "--policy", policy],
            ["pins", "convert", "--from", "signet", "--to", "curl", policy],
        ] {
            let output = try await ChildProcess.run(
                "/bin/sh",
                ["-c", "exec \"$@\" \(streams)", "sh", SignetTool.url.path] + arguments + more,
                timeout: 300)
            #expect(output.exit == 2)
            let wanted = streams.contains("full") ? "No space left" : "Bad file descriptor"
            #expect(output.stderr.contains(wanted), "\(output.stderr)")
        }
    }
}
