import Foundation
import TestSupport
import Testing

/// Files of the repository that people copy or run.
@Suite struct RepositoryFilesTests {
    @Test func theExampleOfAKeyFileIsNoKeyFile() async throws {
        let folder = try TemporaryDirectory()
        let example = try Data(contentsOf: PackageLayout.url("keys.example"))
        let keys = try folder.write(example, to: "keys")
        let output = try await SignetTool.run(["keys", "public", keys, "--json"])
        #expect(output.exit == 2)
        #expect(output.text.contains(#""code":"malformed-keys""#))
    }

    @Test func makesCertificatesOnceWithPrivateKeys() async throws {
        let folder = try TemporaryDirectory()
        let make = PackageLayout.url("certs/make").path
        #expect(try await ChildProcess.run(make, ["--out", folder.path]).exit == 0)
        #expect(
            try folder.contents() == [
                "host-chain.pem", "host.key", "host.pem", "intermediate.key", "intermediate.pem",
                "root.key", "root.pem",
            ])
        for name in ["root.key", "intermediate.key", "host.key"] {
            let attributes = try FileManager.default.attributesOfItem(atPath: folder.path(name))
            #expect(attributes[.posixPermissions] as? Int == 0o600)
        }
        let first = try folder.read("host.pem")
        #expect(try await ChildProcess.run(make, ["--out", folder.path]).exit == 0)
        #expect(try folder.read("host.pem") == first)
        #expect(try await ChildProcess.run(make, ["--out", folder.path, "--force"]).exit == 0)
        #expect(try folder.read("host.pem") != first)
    }

    @Test func mismatchedCertificatesAreMadeAgain() async throws {
        let folder = try TemporaryDirectory()
        let make = PackageLayout.url("certs/make").path
        #expect(try await ChildProcess.run(make, ["--out", folder.path]).exit == 0)
        let first = try folder.read("host.pem")
        try folder.write(folder.read("root.key"), to: "host.key")
        #expect(try await ChildProcess.run(make, ["--out", folder.path]).exit == 0)
        #expect(try folder.read("host.pem") != first)
        #expect(try await ChildProcess.run(make, ["--nonsense"]).exit == 2)
    }
}
