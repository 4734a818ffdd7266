import Foundation
import TestSupport
import Testing

/// `signet sign` and `signet verify`: responses, requested signatures and explanations.
@Suite struct AcceptSignatureToolTests {
    /// The signature covers parts of the request, which asked for it.
    @Test func signsAndExplainsAResponse() async throws {
        let folder = try TemporaryDirectory()
        let keys = folder.path("keys")
        #expect(
            try await SignetTool.run(
                ["keys", "new", "--type", "p256", "--id", "k", "--out", keys]
            ).exit == 0)
        let request = try folder.write(
            "GET /a?q=1 HTTP/1.1\nHost: h\n"
                + "Accept-Signature: s=(\"@status\" \"@path\";req \"x\";sf);tag=\"t\"\n\n",
            to: "request")
        let common = [
            "--scheme", "rfc9421", "--keys", keys, "--request", request, "--set", "sf.x=list",
        ]
        let response = Array("HTTP/1.1 200 OK\nX: a,  b\n\n".utf8)
        let sign = ["sign"] + common + ["--time", "9", "--answer", request]
        let signed = try await SignetTool.run(sign, stdin: response)
        #expect(signed.exit == 0, "\(signed.stderr)")
        #expect(signed.text.contains(#"s=("@status" "@path";req "x";sf);created=9;"#))
        let base = try await SignetTool.run(sign + ["--show", "base"], stdin: response)
        #expect(base.text.hasPrefix("\"@status\": 200\n\"@path\";req: /a\n\"x\";sf: a, b\n"))
        #expect(base.stderr == "part @status: 200\npart \"@path\";req: /a\npart \"x\";sf: a, b\n")

        let verify = ["verify"] + common + ["--now", "9", "--tag", "t"]
        let verified = try await SignetTool.run(verify, stdin: signed.stdout)
        #expect(verified.exit == 0, "\(verified.stderr)")
        let changed = Array(signed.text.replacingOccurrences(of: "X: a", with: "X: c").utf8)
        #expect(try await SignetTool.run(verify, stdin: changed).stderr.contains("\"x\"") == false)
        let why = try await SignetTool.run(verify + ["--explain", "--json"], stdin: changed)
        #expect(why.exit == 1)
        #expect(why.stderr.contains("\n\"@status\": 200\n\"@path\";req: /a\n\"x\";sf: c, b\n"))
        #expect(why.text.contains(#""explanation":{"base":"\"@status\": 200\n"#))
        #expect(
            try await SignetTool.run(verify + ["--algorithm", "ed25519"], stdin: signed.stdout).exit
                == 1)
        #expect(
            try await SignetTool.run(verify + ["--algorithm", "x"], stdin: signed.stdout).exit == 2)
    }
}
