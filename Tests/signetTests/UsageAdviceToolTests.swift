import Foundation
import SignetJSON
import TestSupport
import Testing

/// The tool's messages for people: suggestions, versions, and a note before it waits.
@Suite struct UsageAdviceToolTests {
    @Test(
        arguments: [
            (["vualt"], #"unknown command "vualt"; did you mean "vault"?"#),
            (["keys", "lits"], #"did you mean "list"?"#),
            (["vault", "inspct"], #"did you mean "inspect"?"#),
            (["schemes", "lst"], #"did you mean "list"?"#),
            (["impossible"], "signet --help lists the commands"),
            (["keys", "impossible"], "signet keys --help lists the commands"),
            (["help", "vualt"], #"did you mean "vault"?"#),
            (["help", "keys", "nwe"], #"did you mean "new"?"#),
            (["help", "impossible"], "signet --help lists the commands"),
            // An unknown option comes before the missing ones.
            (["keys", "new", "--typ", "hmac"], #"unknown option "--typ"; did you mean "--type"?"#),
            (["sign", "--shceme", "x"], #"did you mean "--scheme"?"#),
            (["verify", "--impossible"], "signet verify --help lists the options"),
            (["vault", "seal", "--impossible=1"], #"unknown option "--impossible""#),
            (["keys", "new", "-x"], #"unknown option "-x""#),
            // Values.
            (["keys", "new", "--type", "ed2551", "--id", "a"], #"did you mean "ed25519"?"#),
            (["keys", "new", "--type=hmca"], #"did you mean "hmac"?"#),
            (["keys", "new", "--type", "des"], "expected one of hmac, ed25519"),
            (["call", "http://localhost:1", "m", "--protocol", "rset"], #"did you mean "rest"?"#),
            (["pins", "convert", "--from", "singet", "--to", "okhttp"], #"mean "signet"?"#),
            (["sign", "--scheme", "rfc9412", "--keys", "k", "m"], #"did you mean "rfc9421"?"#),
            (["schemes", "show", "githbu"], #"did you mean "github"?"#),
            (["exec", "--only", "a", "env"], "write signet exec -- COMMAND"),
        ])
    func suggestsTheIntendedWord(_ arguments: [String], _ words: String) async throws {
        let output = try await SignetTool.run(arguments)
        #expect(output.exit == 2 && output.stdout.isEmpty)
        #expect(output.stderr.contains(words), "\(output.stderr)")
        #expect(output.stderr.hasPrefix("signet: "))
        let json = try await SignetTool.run(arguments + ["--json"])
        let error = try JSONValue(parsing: json.stdout)["error"]
        #expect(json.exit == 2 && error?["code"]?.string?.isEmpty == false)
    }

    @Test(arguments: [
        ("encrypt a.yaml", "signet vault init FILE"), ("decrypt a", "signet vault get KEY"),
        ("init", "signet vault init"), ("rotate", "signet vault rekey"),
        ("version", "signet --version"), ("vault ls", "signet vault list"),
        ("keys generate", "signet keys new"), ("vault delete a", "signet vault unset KEY"),
        ("vault add a", "signet vault set --add"),
        ("lint", "signet schemes lint or signet pins lint"), ("allow", ""),
        ("project allow", "signet project trust"),
    ])
    func pointsFromOtherToolsWordsToOurs(_ line: String, _ words: String) async throws {
        let output = try await SignetTool.run(line.split(separator: " ").map(String.init))
        #expect(output.exit == 2 && output.stdout.isEmpty)
        #expect(output.stderr.hasPrefix(#"signet: unknown command "#))
        #expect(
            words.isEmpty
                ? !output.stderr.contains("; use ") : output.stderr.contains("; use \(words)"),
            "\(output.stderr)")
    }

    /// `rebind VERSION` names the option; all other errors are the parser's.
    @Test(arguments: [
        ("2.4.0", true), ("2", true), ("v2.4.0-rc.1 --json", true), ("1.0+b7 --state s", true),
        ("shop.dump", false), ("2.4.0.dump", false), ("-", false), ("./2.4.0", false),
        ("shop.dump --from-app-version 2.4.0", false), ("2.4.0\u{1B}", false), ("", false),
    ])
    func aVersionInPlaceOfTheDumpIsNamed(_ words: String, _ isNamed: Bool) async throws {
        let arguments = ["vault", "rebind"] + words.split(separator: " ").map(String.init)
        let output = try await SignetTool.run(arguments)
        #expect(output.exit == 2)
        let text = output.stderr + output.text
        let advice =
            "write signet vault rebind --to-app-version \(arguments.dropFirst(2).first ?? "")"
        #expect(text.contains(advice) == isNamed, "\(text)")
        #expect(isNamed || text.contains("--to-app-version <V>"), "\(text)")
        // With the option, the word is the name of a file.
        let named = try await SignetTool.run(
            arguments + ["--to-app-version", "2.4.0", "--project", "none", "--app-id", "a"])
        #expect(named.exit == 2 && !named.stderr.contains("in place of the dump"))
    }

    @Test func namesTheReasonWhyHelpWasCutShort() async throws {
        let output = try await ChildProcess.run(
            "/bin/sh",
            ["-c", "exec \"$@\" >/dev/full", "sh", SignetTool.url.path, "vault", "--help"])
        #expect(output.exit == 2)
        #expect(output.stderr.contains("standard output was cut short"), "\(output.stderr)")
    }

    @Test func suggestsNothingForValuesThatAreRight() async throws {
        let missing = try await SignetTool.run(["keys", "new", "--type", "hmac"])
        #expect(missing.exit == 2 && missing.stderr.contains("--id"))
        #expect(!missing.stderr.contains("did you mean"))
        // Behind the terminator every word is a value.
        let file = try await SignetTool.run(["keys", "list", "--", "--lits"])
        #expect(file.exit == 2 && file.stderr.contains("cannot open --lits"), "\(file.stderr)")
        for arguments in [["help", "vault", "seal"], ["help"], ["keys"], []] {
            let help = try await SignetTool.run(arguments)
            #expect(help.exit == 0 && help.text.contains("USAGE: signet"), "\(arguments)")
        }
    }

    @Test func printsItsVersions() async throws {
        let plain = try await SignetTool.run(["--version"])
        #expect(plain.exit == 0)
        #expect(plain.text.wholeMatch(of: /signet [0-9]+\.[0-9]+\.[0-9]+\n/) != nil)
        let json = try await SignetTool.run(["--version", "--json"])
        let object = try JSONValue(parsing: json.stdout)
        #expect(json.exit == 0 && plain.text == "signet \(object["version"]?.string ?? "")\n")
        for (name, program) in [("openssl", "openssl"), ("libcurl", "curl")] {
            let other = try await ChildProcess.run(
                "/usr/bin/env", [program, program == "curl" ? "--version" : "version"])
            let version = try #require(object[name]?.string)
            #expect(other.text.contains(version), "\(name) \(version)")
        }
        #expect(object["systemID"] == "signet")
        #expect(object["systemVersion"]?.string?.isEmpty == false)
    }

    @Test func describesSchemesOnATerminalAlone() async throws {
        let piped = try await SignetTool.run(["schemes"])
        #expect(piped.text.split(separator: "\n").contains("rfc9421"))
        #expect(!piped.text.contains(" "))
        guard let shown = try await Terminals.run("schemes list") else { return }
        #expect(shown.contains("SCHEME") && shown.contains("AWS Signature Version 4"))
    }

    @Test func listsKeysAsATableOnATerminalAlone() async throws {
        let folder = try TemporaryDirectory()
        let made = try await SignetTool.run(
            ["keys", "new", "--type", "hmac", "--id", "a", "-o", "keys"], directory: folder.url)
        #expect(made.exit == 0)
        let piped = try await SignetTool.run(["keys", "list", "keys"], directory: folder.url)
        #expect(piped.text == "a hmac HS256 -\n")
        guard let shown = try await Terminals.run("keys list keys", in: folder) else { return }
        #expect(shown.contains("ALGORITHM") && shown.contains("usable"))
    }

    @Test(
        arguments: [
            ("keys list", "a JWK Set"), ("pins show", "certificates or keys"),
            ("pins lint", "a pin policy"), ("pins lint -", "a pin policy"),
            ("sign --scheme rfc9421 --keys keys", "a message"),
            ("keys import - --id b --encoding raw --out other", "a key"),
            ("vault inspect", "a sealed dump"), ("vault export-key -k keys", "a sealed dump"),
            ("vault open -k keys --app-id a --app-version 1", "a sealed dump"),
            ("vault list - -k keys --app-id a --app-version 1", "a sealed dump"),
            (
                "vault init - --format json --out . --app-id a --app-version 1 --keys keys",
                "a configuration"
            ),
        ])
    func announcesItsWaitForInput(_ arguments: String, _ subject: String) async throws {
        let folder = try TemporaryDirectory()
        let made = try await SignetTool.run(
            ["keys", "new", "--type", "hmac", "--id", "a", "--out", "keys"],
            directory: folder.url)
        #expect(made.exit == 0)
        guard let shown = try await Terminals.run(arguments, in: folder) else { return }
        #expect(shown.contains("reading \(subject) from standard input"), "\(shown)")
        let quiet = try await Terminals.run("\(arguments) --quiet", in: folder) ?? ""
        #expect(!quiet.contains("reading"))
        let words = arguments.split(separator: " ").map { String($0) }
        let piped = try await SignetTool.run(words, directory: folder.url)
        #expect(!piped.stderr.contains("reading"))
    }

    @Test func pointsToTheExplanation() async throws {
        let folder = try TemporaryDirectory()
        let made = try await SignetTool.run(
            ["keys", "new", "--type", "hmac", "--id", "a", "-o", "keys"], directory: folder.url)
        #expect(made.exit == 0)
        let signed = try await SignetTool.run(
            ["sign", "--scheme", "rfc9421", "-k", "keys"],
            stdin: Array("GET /a HTTP/1.1\nHost: a.test\n\n".utf8), directory: folder.url)
        let changed = Array(signed.text.replacing("GET /a", with: "GET /b").utf8)
        let verify = ["verify", "--scheme", "rfc9421", "-k", "keys"]
        let refused = try await SignetTool.run(verify, stdin: changed, directory: folder.url)
        #expect(refused.exit == 1 && refused.stderr.contains("--explain"))
        let explained = try await SignetTool.run(
            verify + ["-v"], stdin: changed, directory: folder.url)
        #expect(explained.exit == 1 && !explained.stderr.contains("--explain"))
        #expect(explained.stderr.contains("does not fit the message"))
    }
}

/// Runs the tool on a terminal of util-linux's `script`, with an empty standard input.
enum Terminals {
    private static let script = "/usr/bin/script"

    /// Returns everything that the terminal shows, or nil without `script`.
    static func run(_ arguments: String, in folder: TemporaryDirectory? = nil) async throws
        -> String?
    {
        guard FileManager.default.isExecutableFile(atPath: script) else { return nil }
        return try await ChildProcess.run(
            script, ["-qec", "'\(SignetTool.url.path)' \(arguments)", "/dev/null"],
            environment: ["TERM": "dumb"], directory: folder?.url
        ).text
    }
}
