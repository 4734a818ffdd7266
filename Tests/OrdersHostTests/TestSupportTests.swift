import Foundation
import TestSupport
import Testing

/// The helpers of the tests: that they start, stop and report errors.
@Suite struct TestSupportTests {
    @Test func aProgramGetsItsInputAndGivesItsOutcome() async throws {
        let output = try await ChildProcess.run(
            "sh", ["-c", "cat; echo \"$WORD\" >&2; exit 7"], stdin: Array("in".utf8),
            environment: ["WORD": "err"])
        #expect(output.text == "in")
        #expect(output.stderr == "err\n")
        #expect(output.exit == 7)
    }

    @Test func muchOutputBlocksNoProcess() async throws {
        let output = try await ChildProcess.run("sh", ["-c", "head -c 3000000 /dev/zero"])
        #expect(output.stdout.count == 3_000_000)
    }

    @Test func aSignalDiffersFromAnExitCode() async throws {
        let child = try ChildProcess("sleep", ["60"])
        child.send(signal: 15)
        #expect(try await child.outcome().exit == 128 + 15)
    }

    @Test func aProgramThatDoesNotEndIsKilled() async throws {
        let child = try ChildProcess("sleep", ["60"])
        await #expect(throws: TestSupportError.self) { try await child.outcome(timeout: 0.05) }
        #expect(try await eventually { !child.isRunning })
    }

    @Test func aServerThatCannotStartGivesAReason() async throws {
        let error = await #expect(throws: TestSupportError.self) {
            _ = try await ServerProcess.start(
                "sh", ["-c", "echo no such luck >&2; exit 1"], ready: .listening(port: 1))
        }
        #expect(error?.description.contains("no such luck") == true)
    }

    @Test func aServerEndsWithItsLastReference() async throws {
        let port = freePort()
        var server: OpenSSLServer? = try await OpenSSLServer(TestAuthority.trusted.get().identity)
        let used = try #require(server?.port)
        #expect(isListening(on: used))
        #expect(!isListening(on: port))
        #expect(used != port)
        server = nil
        #expect(try await eventually { !isListening(on: used) })
    }

    @Test func aTemporaryFolderIsPrivateAndGoesAway() throws {
        var folder: TemporaryDirectory? = try TemporaryDirectory()
        let path = try #require(try folder?.write("x", to: "a", mode: 0o640))
        let mode = try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions]
        #expect(mode as? Int == 0o640)
        #expect(try folder?.contents() == ["a"])
        folder = nil
        #expect(!FileManager.default.fileExists(atPath: path))
    }

    @Test func theSignetProgramIsNextToTheTests() {
        #expect(FileManager.default.isExecutableFile(atPath: SignetTool.url.path))
    }

    @Test func thePythonPeersAreThere() async throws {
        let output = try await ChildProcess.run(
            PythonPeer.path,
            ["-I", "-c", "import joserfc, http_message_signatures, http_sfv; print('yes')"])
        #expect(output.text == "yes\n", "\(output.stderr)")
    }
}

@Suite struct TestAuthorityTests {
    @Test(arguments: ["-tls1_2", "-tls1_3"])
    func theTrustedLeafIsAccepted(_ version: String) async throws {
        let authority = try TestAuthority.trusted.get()
        let server = try await OpenSSLServer(authority.identity, options: [version])
        let output = try await curl(server.url, caFile: authority.caFile)
        #expect(output.exit == 0, "\(output.stderr)")
        #expect(output.text.contains("Ciphers supported"))
    }

    @Test func aSilentServerRecordsReceivedBytes() async throws {
        let authority = try TestAuthority.trusted.get()
        let server = try await OpenSSLServer(authority.identity, responds: false)
        let output = try await ChildProcess.run(
            "curl", ["-sS", "-m", "1", "--cacert", authority.caFile, server.url + "/heard"])
        #expect(output.exit == 28)
        #expect(try await eventually { server.received.contains("GET /heard HTTP/1.1") })
        #expect(server.server.isRunning)
    }

    @Test func theRogueLeafIsRefused() async throws {
        let server = try await OpenSSLServer(TestAuthority.rogue.get().identity)
        let output = try await curl(server.url, caFile: TestAuthority.trusted.get().caFile)
        #expect(output.exit == 60)
    }

    @Test func anExpiredLeafIsRefused() async throws {
        let authority = try TestAuthority.trusted.get()
        let leaf = try authority.issue(from: "20200101000000Z", to: "20200201000000Z")
        let server = try await OpenSSLServer(
            .init(certificate: leaf.pem, key: leaf.key, chain: leaf.chain))
        let output = try await curl(server.url, caFile: authority.caFile)
        #expect(output.exit == 60)
        #expect(output.stderr.contains("expired"))
    }

    @Test func anotherLeafOfTheRootIsAccepted() async throws {
        let authority = try TestAuthority.trusted.get()
        let leaf = try authority.issue(hosts: ["127.0.0.1"], by: authority.root)
        let server = try await OpenSSLServer(
            .init(certificate: leaf.pem, key: leaf.key, chain: nil))
        #expect(try await curl(server.url, caFile: authority.caFile).exit == 0)
        #expect(leaf.pin != authority.leaf.pin)
    }

    @Test func aLeafForAnotherHostIsRefused() async throws {
        let authority = try TestAuthority.trusted.get()
        let leaf = try authority.issue(hosts: ["other.test"])
        let server = try await OpenSSLServer(
            .init(certificate: leaf.pem, key: leaf.key, chain: leaf.chain))
        #expect(try await curl(server.url, caFile: authority.caFile).exit == 60)
    }

    @Test func aSelfSignedLeafIsRefused() async throws {
        let authority = try TestAuthority.trusted.get()
        let leaf = try authority.selfSigned()
        let server = try await OpenSSLServer(
            .init(certificate: leaf.pem, key: leaf.key, chain: nil))
        #expect(try await curl(server.url, caFile: authority.caFile).exit == 60)
    }

    @Test func pinsAreThoseThatCurlWants() async throws {
        let authority = try TestAuthority.trusted.get()
        let server = try await OpenSSLServer(authority.identity)
        let pin = authority.leaf.pin.replacingOccurrences(of: "sha256/", with: "sha256//")
        let wrong = authority.root.pin.replacingOccurrences(of: "sha256/", with: "sha256//")
        let good = try await curl(
            server.url, "--pinnedpubkey", pin, caFile: authority.caFile)
        let bad = try await curl(
            server.url, "--pinnedpubkey", wrong, caFile: authority.caFile)
        #expect(good.exit == 0)
        #expect(bad.exit == 90)
    }

    private func curl(_ url: String, _ more: String..., caFile: String) async throws
        -> ProcessOutput
    {
        try await ChildProcess.run("curl", ["-sS", "--cacert", caFile, url] + more)
    }
}
