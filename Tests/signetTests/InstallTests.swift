import Foundation
import SignetJSON
import TestSupport
import Testing

/// `make install`, `uninstall` and `dist`, with the built program in place of a release build.
@Suite struct InstallTests {
    private let folder: TemporaryDirectory

    init() throws { folder = try TemporaryDirectory() }

    private func make(_ target: String, _ more: String...) async throws -> ProcessOutput {
        try await ChildProcess.run(
            "make",
            [
                "-s", "-C", PackageLayout.root.path, target, "PROGRAM=\(SignetTool.url.path)",
                "PREFIX=/opt/signet", "DESTDIR=\(folder.path)",
            ] + more,
            // The symbols of a debug build take seconds to remove.
            environment: ["STRIP": "true"])
    }

    /// The files below the prefix, each with its mode.
    private func installed() throws -> [String: Int] {
        let root = folder.url.appending(path: "opt/signet")
        let paths = try FileManager.default.subpathsOfDirectory(atPath: root.path)
        var files: [String: Int] = [:]
        for path in paths {
            let file = root.appending(path: path).path
            let attributes = try FileManager.default.attributesOfItem(atPath: file)
            guard attributes[.type] as? FileAttributeType == .typeRegular else { continue }
            files[path] = (attributes[.posixPermissions] as? NSNumber)?.intValue
        }
        return files
    }

    @Test func installsAndUninstalls() async throws {
        let output = try await make("install")
        #expect(output.exit == 0, "\(output.stderr)")
        let files = try installed()
        for (path, mode) in [
            ("bin/signet", 0o755), ("share/man/man1/signet.1", 0o644),
            ("share/man/man1/signet-vault-seal.1", 0o644),
            ("share/man/man1/signet-keys-import.1", 0o644),
            ("share/bash-completion/completions/signet", 0o644),
            ("share/zsh/site-functions/_signet", 0o644),
            ("share/fish/vendor_completions.d/signet.fish", 0o644),
            ("share/doc/signet/README.md", 0o644),
            ("share/doc/signet/Documentation/tool.md", 0o644),
            ("share/doc/signet/Documentation/sealed-dump.md", 0o644),
            ("share/doc/signet/Documentation/schemas/project.schema.json", 0o644),
            (
                "share/doc/signet/Sources/SignetVault/SignetVault.docc/Seal-your-configuration.md",
                0o644
            ),
        ] {
            #expect(files[path] == mode, "\(path)")
        }
        let links = try await ChildProcess.run(
            PackageLayout.url("Scripts/links").path,
            ["check", folder.path("opt/signet/share/doc/signet")])
        #expect(links.exit == 0, "\(links.stderr)")
        #expect(!files.keys.contains { $0.contains("manual") || $0.hasSuffix(".tmp") })
        let version = try await ChildProcess.run(
            folder.path("opt/signet/bin/signet"), ["--version"])
        #expect(version.exit == 0 && version.text.hasPrefix("signet "))
        // Pages of others stay.
        try folder.write(".TH X 1\n", to: "opt/signet/share/man/man1/signet-other.1")
        #expect(try await make("install").exit == 0)
        #expect(try installed().count == files.count + 1)
        let removed = try await make("uninstall")
        #expect(removed.exit == 0, "\(removed.stderr)")
        #expect(try Array(installed().keys) == ["share/man/man1/signet-other.1"])
    }

    @Test func anEmptyNameIsNotTheRootFolder() async throws {
        #expect(try await SignetTool.run(["manual", ""]).exit == 2)
    }

    @Test func manualPagesAreWellFormedAndWhole() async throws {
        try FileManager.default.createDirectory(
            atPath: folder.path("man"), withIntermediateDirectories: false)
        let written = try await SignetTool.run(["manual", folder.path("man")])
        #expect(written.exit == 0, "\(written.stderr)")
        let pages = try folder.contents(of: "man")
        #expect(pages.count > 30)
        for page in pages {
            let text = String(decoding: try folder.read("man/\(page)"), as: UTF8.self)
            for section in ["NAME", "SYNOPSIS", "DESCRIPTION", "EXAMPLES", "EXIT STATUS"] {
                #expect(text.contains(".SH \(section)\n"), "\(page): \(section)")
            }
            // A line that begins with a dot or an apostrophe is a request.
            let requests = Set(
                text.split(separator: "\n").filter { $0.hasPrefix(".") || $0.hasPrefix("'") }
                    .map { String($0.prefix { $0 != " " }) })
            #expect(
                requests.isSubset(of: [#".\""#, ".TH", ".SH", ".TP", ".PP", ".B", ".nf", ".fi"]))
        }
        guard FileManager.default.isExecutableFile(atPath: "/usr/bin/groff") else { return }
        let checked = try await ChildProcess.run(
            "groff", ["-man", "-ww", "-z", "-K", "utf8"] + pages.map { folder.path("man/\($0)") })
        #expect(checked.exit == 0 && checked.stderr.isEmpty, "\(checked.stderr.prefix(2000))")
    }

    @Test func completionsNameCommandsOptionsAndValues() async throws {
        for shell in ["bash", "zsh", "fish"] {
            let output = try await SignetTool.run(["completions", shell])
            #expect(output.exit == 0)
            for word in [
                "import", "vault", "connect-to", "ed25519", "aws-sigv4", "okhttp", "base64url",
                "jsonrpc-1.0",
            ] {
                #expect(output.text.contains(word), "\(shell): \(word)")
            }
            let json = try await SignetTool.run(["completions", shell, "--json"])
            #expect(try JSONValue(parsing: json.stdout)["script"]?.string == output.text)
        }
        let script = try await SignetTool.run(["completions", "bash"])
        try folder.write(script.stdout, to: "signet.bash")
        let parsed = try await ChildProcess.run("bash", ["-n", folder.path("signet.bash")])
        #expect(parsed.exit == 0, "\(parsed.stderr)")
        let unknown = try await SignetTool.run(["completions", "zhs"])
        #expect(unknown.exit == 2)
        let missing = try await SignetTool.run(["completions"])
        #expect(missing.exit == 2)
    }

    /// A value that is a file or a source of secrets, which a file may be, is completed by names of
    /// files.
    @Test func filesAreCompleted() async throws {
        let described = try await SignetTool.run(["--experimental-dump-help"])
        var commands = [try #require(JSONValue(parsing: described.stdout)["command"])]
        var files = 0
        while let command = commands.popLast() {
            commands += command["subcommands"]?.array ?? []
            for argument in command["arguments"]?.array ?? [] {
                let name = argument["valueName"]?.string ?? ""
                guard
                    ["file", "source", "config", "base", "ours", "theirs", "file|none"].contains(
                        name.lowercased())
                else { continue }
                files += 1
                #expect(
                    argument["completionKind"] != nil,
                    "\(command["commandName"]?.string ?? "") \(argument["preferredName"]?.text ?? name)"
                )
            }
        }
        #expect(files > 60, "\(files)")
    }

    @Test(
        .enabled(if: SignetTool.release != nil, "a release build is needed"),
        .enabled("dpkg-deb is there") {
            FileManager.default.isExecutableFile(atPath: "/usr/bin/dpkg-deb")
        })
    func packsAnArchiveAndADebianPackage() async throws {
        let program = try #require(SignetTool.release).path
        let out = folder.path("dist")
        let output = try await ChildProcess.run(
            PackageLayout.url("Scripts/dist").path, [program, out], timeout: 600)
        #expect(output.exit == 0, "\(output.stderr)")
        let names = try folder.contents(of: "dist")
        #expect(names.count == 3 && names.contains("SHA256SUMS"))
        let archive = try #require(names.first { $0.hasSuffix(".tar.gz") })
        let package = try #require(names.first { $0.hasSuffix(".deb") })
        let sums = try await ChildProcess.run(
            "sha256sum", ["--check", "--strict", "SHA256SUMS"],
            directory: URL(filePath: out, directoryHint: .isDirectory))
        #expect(sums.exit == 0, "\(sums.stderr)")
        let listed = try await ChildProcess.run("tar", ["tzf", "\(out)/\(archive)"])
        #expect(listed.text.contains("/bin/signet\n") && listed.text.contains("/man1/signet.1\n"))
        let unpacked = try await ChildProcess.run("tar", ["xzf", "\(out)/\(archive)", "-C", out])
        #expect(unpacked.exit == 0, "\(unpacked.stderr)")
        let links = try await ChildProcess.run(
            PackageLayout.url("Scripts/links").path, ["check", out])
        #expect(links.exit == 0, "\(links.stderr)")
        let control = try await ChildProcess.run("dpkg-deb", ["--info", "\(out)/\(package)"])
        for library in ["libcurl4", "libssl3", "libstdc++6", "libc6 (>= "] {
            #expect(control.text.contains(library), "\(control.text)")
        }
        let content = try await ChildProcess.run("dpkg-deb", ["--contents", "\(out)/\(package)"])
        for path in [
            "./usr/bin/signet", "./usr/share/man/man1/signet-keys-new.1.gz",
            "./usr/share/zsh/vendor-completions/_signet", "./usr/share/doc/signet/copyright",
            "./usr/share/doc/signet/Documentation/tool.md",
        ] {
            #expect(content.text.contains(path), "\(path)")
        }
        #expect(!content.text.contains("/usr/local"))
    }
}
