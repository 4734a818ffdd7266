import Foundation
import SignetJSON
import TestSupport
import Testing

/// The tool without free descriptors, and with closed standard descriptors.
@Suite struct DescriptorToolTests {
    /// There are enough at the start: libdispatch ends a process if it finds none.
    @Test(arguments: [4, 5, 7, 10, 20, 50, 80])
    func beginsWithEnoughDescriptors(_ limit: Int) async throws {
        let authority = try TestAuthority.trusted.get()
        let server = try await OpenSSLServer(authority.identity)
        let output = try await ChildProcess.run(
            "/bin/sh",
            [
                "-c", "ulimit -n $1; shift; exec \"$@\"", "sh", "\(limit)", SignetTool.url.path,
                "pins", "show", "https://localhost:\(server.port)", "--ca-file", authority.caFile,
                "--json",
            ], timeout: 300)
        let response = try JSONValue(parsing: output.stdout)
        guard limit < 80 else {
            #expect(response["pins"]?.array?.first?["pin"]?.string == authority.leaf.pin)
            return
        }
        #expect(response["error"]?["code"]?.string == "resources")
        #expect(output.exit == 3)
    }

    /// Each run may open one more descriptor after the start.
    @Test func namesALackOfDescriptors() async throws {
        let authority = try TestAuthority.trusted.get()
        let server = try await OpenSSLServer(authority.identity)
        let folder = try TemporaryDirectory()
        try folder.write(
            #"{"hosts":{"localhost":{"pins":["\#(authority.leaf.pin)"]}}}"#, to: "policy.json")
        // The program waits for the pipe, which is open on this side when it is open on the other.
        try folder.write(
            """
            limit=$1; shift
            mkfifo "pipe$limit"
            "$@" --policy "pipe$limit" & program=$!
            exec 3>"pipe$limit"
            prlimit --pid $program --nofile=$limit || exit
            cat policy.json >&3
            exec 3>&-
            wait $program
            """, to: "run")
        let environment = FaultInjection.environment.merging(["SWIFT_BACKTRACE": "enable=no"]) {
            $1
        }
        var codes: [String] = []
        for limit in 4..<50 {
            let run = {
                try await ChildProcess.run(
                    "/bin/sh",
                    [
                        "run", "\(limit)", SignetTool.url.path, "pins", "check",
                        "https://localhost:\(server.port)", "--ca-file", authority.caFile, "--json",
                    ], environment: environment, directory: folder.url, timeout: 300)
            }
            var output = try await run()
            // libdispatch looks at its threads each second, opens a file for that, and ends the
            // process if it can't (SIGILL, Swift 6.3): a race that isn't lost each time.
            for _ in 0..<9 where output.exit == 132 {
                try FileManager.default.removeItem(atPath: folder.path("pipe\(limit)"))
                output = try await run()
            }
            if output.exit == 0 {
                codes.append("")
                continue
            }
            let code = try? JSONValue(parsing: output.stdout)["error"]?["code"]?.string
            codes.append(code ?? "exit \(output.exit): \(output.stderr)")
            if code == "resources" { #expect(output.exit == 3) }
        }
        // The last 16 are reserved for others: libdispatch ends a process if it finds none.
        #expect(codes.prefix(17).allSatisfy { $0 == "resources" }, "\(codes)")
        #expect(Set(codes) == ["", "resources"], "\(codes)")
        #expect(codes.last == "")
    }

    /// The sockets that a child process would inherit, because they have no close-on-exec flag.
    /// libcurl makes two.
    @Test func keepsItsSocketsFromChildProcesses() async throws {
        let authority = try TestAuthority.trusted.get()
        let (server, port) = try await SocketServer.start(
            [.head, .say("WAITING"), .stall], tls: authority.leaf)
        // Without the descriptors of the tests.
        let alone = "import os, sys; os.closerange(3, 65536); os.execv(sys.argv[1], sys.argv[1:])"
        let tool = try ChildProcess(
            "/usr/bin/env",
            [
                "python3", "-c", alone, SignetTool.url.path, "call", "https://localhost:\(port)/",
                "GET", "--protocol", "rest", "--ca-file", authority.caFile,
            ])
        #expect(try await eventually { server.stdout.contains("WAITING") })
        let process = "/proc/\(tool.processIdentifier)"
        var inherited: [String] = []
        var sockets = 0
        for number in try FileManager.default.contentsOfDirectory(atPath: "\(process)/fd") {
            let target =
                (try? FileManager.default.destinationOfSymbolicLink(
                    atPath: "\(process)/fd/\(number)"))
                ?? ""
            guard let value = Int(number), value > 2, target.hasPrefix("socket:") else { continue }
            sockets += 1
            let information = try String(
                contentsOfFile: "\(process)/fdinfo/\(number)", encoding: .utf8)
            let flags = information.split(separator: "\n").first { $0.hasPrefix("flags:") }
            let bits = Int(flags?.split(separator: "\t").last ?? "", radix: 8) ?? 0
            if bits & 0o2_000_000 == 0 { inherited.append("\(number) \(target)") }
        }
        tool.send(signal: SIGTERM)
        _ = try await tool.outcome()
        #expect(sockets >= 3, "its connection and libcurl's pair")
        #expect(inherited.isEmpty, "\(inherited)")
    }

    /// Standard output never goes into a file or socket that got its number, and is never lost
    /// without an error.
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
