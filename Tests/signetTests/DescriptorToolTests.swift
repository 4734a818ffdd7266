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
            let output = try await ChildProcess.run(
                "/bin/sh",
                [
                    "-c", "ulimit -n $1; shift; exec \"$@\"", "sh", "\(limit)",
                    SignetTool.url.path, "pins", "show", "https://localhost:\(server.port)",
                    "--ca-file", authority.caFile, "--json",
                ], timeout: 300)
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
}
