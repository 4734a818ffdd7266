import Foundation
import SignetJSON
import TestSupport
import Testing

/// `signet self-check` on a program's folder, complete and with one defect each.
@Suite struct SelfCheckToolTests {
    /// A program's folder and a running host.
    private struct Program {
        let folder: TemporaryDirectory
        var project: JSONObject = [:]

        init(for host: OrdersHost, launch: [String] = []) async throws {
            folder = try TemporaryDirectory()
            let authority = try TestAuthority.trusted.get()
            for name in ["schema.json", "defaults.json"] {
                try folder.write(
                    Data(contentsOf: PackageLayout.url("Examples/shop/\(name)")), to: name)
            }
            let pins: JSONValue = [.string(authority.root.pin), .string(authority.leaf.pin)]
            let fetched: JSONValue = [
                "services.orders.baseURL": .string("\(host.url)/rpc"),
                "services.catalog.baseURL": .string(host.url), "services.orders.pins": pins,
                "services.catalog.pins": pins, "partner.token": "ZZZZZZZZZZZZZZZZZZZZZZZZ",
            ]
            try folder.write(fetched.text, to: "fetched.json")
            try write(policy: pins)
            try await run(["keys", "new", "--type", "vault", "--id", "root", "--out", "keys"])
            try await run(
                [
                    "vault", "seal", "--schema", "schema.json", "--defaults", "defaults.json",
                    "--fetched", "fetched.json", "--keys", "keys", "--key-id", "root",
                    "--app-id", "com.example.shop", "--app-version", "1.4.2", "--out", "shop.dump",
                    "--state", "state",
                ] + launch.flatMap { ["--launch", $0] })
            project = [
                "schema": "schema.json", "defaults": "defaults.json", "dump": "shop.dump",
                "keys": "keys", "app": ["id": "com.example.shop", "version": "1.4.2"],
                "policy": "policy.json", "caFile": .string(authority.caFile), "state": "state",
            ]
        }

        func write(policy pins: JSONValue, expires: String = "2099-12-31") throws {
            let policy: JSONValue = [
                "hosts": ["localhost": ["pins": pins, "expires": .string(expires)]]
            ]
            try folder.write(policy.text, to: "policy.json")
        }

        func run(_ arguments: [String]) async throws {
            let output = try await SignetTool.run(arguments, directory: URL(filePath: folder.path))
            #expect(output.exit == 0, "\(output.stderr)")
        }

        func check(
            _ more: [String] = [], with tool: URL = SignetTool.url,
            environment: [String: String] = [:]
        ) async throws -> ProcessOutput {
            try folder.write(JSONValue.object(project).text, to: "project.json")
            return try await ChildProcess.run(
                tool.path, ["self-check", "--project", "\(folder.path)/project.json"] + more,
                environment: environment)
        }

        /// Area and subject of each line with a status.
        func lines(
            _ status: String, _ more: [String] = [], with tool: URL = SignetTool.url,
            environment: [String: String] = [:]
        ) async throws -> [String] {
            let output = try await check(more + ["--json"], with: tool, environment: environment)
            let report = try JSONValue(parsing: output.stdout)
            #expect(!output.text.contains("ZZZZZZ"))
            return (report["checks"]?.array ?? []).compactMap { line in
                guard line["status"]?.string == status else { return nil }
                return "\(line["area"]?.string ?? "") \(line["subject"]?.string ?? "")"
            }
        }
    }

    @Test func aWholeProgramIsGood() async throws {
        let host = try await OrdersHost.start()
        let program = try await Program(for: host)
        let output = try await program.check()
        #expect(output.exit == 0, "\(output.text)")
        #expect(try await program.lines("bad").isEmpty)
        #expect(!output.text.contains("\u{1B}"))
        #expect(try await program.lines("good").contains("hosts localhost:\(host.port)"))
        let good = try await program.lines("good")
        for line in ["dump state", "configuration services", "mode run mode"] {
            #expect(good.contains(line), "\(line)")
        }
        #expect(host.requests.isEmpty)
        #expect(try await program.lines("skipped", ["--offline"]) == ["hosts hosts"])
        try await host.stop()
    }

    @Test func hostsAreReachedThroughTheProxy() async throws {
        let host = try await OrdersHost.start()
        let program = try await Program(for: host)
        let proxy = try await ProxyServer(login: "u:s3cr3t")
        let url = "http://u:s3cr3t@127.0.0.1:\(proxy.port)"
        let line = "hosts localhost:\(host.port)"
        for (options, environment, asked) in [
            ([], ["https_proxy": url], 1), (["--proxy", ""], ["https_proxy": url], 1),
            ([], ["https_proxy": url, "no_proxy": "localhost"], 1),
            (
                [
                    "--proxy", "http://127.0.0.1:\(proxy.port)", "--proxy-credentials", "env:LOGIN",
                ], ["LOGIN": "u:s3cr3t"], 2
            ),
        ] as [([String], [String: String], Int)] {
            let good = try await program.lines("good", options, environment: environment)
            #expect(good.contains(line), "\(options) \(environment)")
            #expect(proxy.asked.count == asked)
        }
        let dead = ["--proxy", "http://127.0.0.1:\(freePort())"]
        #expect(try await program.lines("bad", dead) == [line])
        try await host.stop()
    }

    @Test func aDumpThatWasPutBackIsNamed() async throws {
        let host = try await OrdersHost.start()
        let program = try await Program(for: host)
        let first = try program.folder.read("shop.dump")
        try await program.run([
            "vault", "seal", "--schema", "schema.json", "--defaults", "defaults.json",
            "--keys", "keys", "--app-id", "com.example.shop", "--app-version", "1.4.2",
            "--out", "shop.dump", "--state", "state", "--fetched", "fetched.json",
        ])
        #expect(try await program.lines("bad", ["--offline"]) == [])
        try program.folder.write(first, to: "shop.dump")
        let state = try program.folder.read("state")
        #expect(try await program.lines("bad", ["--offline"]) == ["dump state"])
        #expect(try program.folder.read("state") == state)
        try program.folder.write("{}", to: "state")
        #expect(try await program.lines("bad", ["--offline"]) == ["dump state"])
        try await host.stop()
    }

    @Test func lastGoodValuesOfTheProjectAreOpened() async throws {
        let host = try await OrdersHost.start()
        var program = try await Program(for: host)
        program.project["lastGood"] = "fetched.dump"
        #expect(try await program.lines("warning", ["--offline"]) == ["fetch last good"])
        try program.folder.write("{}", to: "none.json")
        try await program.run([
            "vault", "seal", "--schema", "schema.json", "--defaults", "none.json",
            "--fetched", "fetched.json", "--keys", "keys", "--app-id", "com.example.shop",
            "--app-version", "1.4.2", "--out", "fetched.dump",
        ])
        #expect(try await program.lines("good", ["--offline"]).contains("fetch last good"))
        // A dump of the whole configuration isn't accepted as a dump of fetched values.
        try program.folder.write(program.folder.read("shop.dump"), to: "fetched.dump")
        #expect(try await program.lines("warning", ["--offline"]) == ["fetch last good"])
        try await host.stop()
    }

    @Test func invalidConfigurationsAreNamed() async throws {
        let host = try await OrdersHost.start()
        var program = try await Program(for: host)
        program.project["dump"] = nil
        let defaults = String(decoding: try program.folder.read("defaults.json"), as: UTF8.self)
        try program.folder.write(
            defaults.replacingOccurrences(of: "[429, 502, 503, 504]", with: "[987654]"),
            to: "defaults.json")
        let output = try await program.check(["--offline"])
        #expect(output.exit == 1)
        #expect(output.text.contains("retry.statusCodes"))
        #expect(!output.text.contains("987654"))
        try program.folder.write(
            defaults.replacingOccurrences(
                of: #"  "services.orders.protocol": "jsonrpc-2.0","#, with: ""),
            to: "defaults.json")
        let missing = try await program.lines("bad", ["--offline"])
        #expect(missing == ["configuration services"])
        #expect(
            try await program.check(["--offline", "--json"]).text.contains(
                "services.orders.protocol has no value, expected one of jsonrpc-1.0, "))
        try await host.stop()
    }

    // MARK: The build decides about the mode

    private static let switches = [
        "app.runMode=development", "simulation.offline=true", "simulation.failureRate=1",
    ]

    @Test(.enabled(if: !SignetTool.isRelease))
    func aDebugBuildRunsInTheModeThatIsSet() async throws {
        let host = try await OrdersHost.start()
        let program = try await Program(for: host, launch: Self.switches)
        let output = try await program.check()
        #expect(output.text.contains("development; a debug build, which may switch"))
        #expect(try await program.lines("skipped") == ["hosts hosts"])
        #expect(
            try await program.lines("warning")
                == ["mode simulation.offline", "mode simulation.failure"])
        try await host.stop()
    }

    @Test(
        .enabled(if: SignetTool.release != nil, "swift build -c release --product signet"),
        arguments: [
            [:], ["DEBUG": "1", "SIGNET_RUN_MODE": "development", "APP_RUNMODE": "development"],
        ] as [[String: String]])
    func aReleaseBuildIsAlwaysProduction(_ environment: [String: String]) async throws {
        let release = try #require(SignetTool.release)
        let host = try await OrdersHost.start()
        let program = try await Program(for: host, launch: Self.switches)
        let output = try await program.check(with: release, environment: environment)
        #expect(output.exit == 0, "\(output.text)")
        #expect(output.text.contains("production; a release build, which cannot switch"))
        #expect(
            try await program.lines("warning", with: release, environment: environment)
                == [
                    "mode app.runMode", "mode simulation.offline", "mode simulation.failureRate",
                ])
        #expect(
            try await program.lines("good", with: release, environment: environment)
                .contains("hosts localhost:\(host.port)"))
        // With the host gone, the check fails: it was really asked.
        try await host.stop()
        #expect(
            try await program.lines("bad", with: release, environment: environment)
                == ["hosts localhost:\(host.port)"])
    }

    @Test func eachThingThatIsBrokenIsNamed() async throws {
        let host = try await OrdersHost.start()
        var program = try await Program(for: host)
        let path = program.folder.path

        program.project["app"] = ["id": "com.example.shop", "version": "1.5.0"]
        let upgraded = try await program.check()
        #expect(upgraded.exit == 1)
        #expect(upgraded.text.contains("1.4.2") && upgraded.text.contains("1.5.0"))
        #expect(upgraded.text.contains("rebind"))
        program.project["app"] = ["id": "com.example.shop", "version": "1.4.2"]

        try FileManager.default.setAttributes(
            [.posixPermissions: 0o644], ofItemAtPath: "\(path)/keys")
        let readable = try await program.check(["--offline"])
        #expect(readable.exit == 1)
        #expect(readable.text.contains("chmod 600"))
        try FileManager.default.setAttributes(
            [.posixPermissions: 0o600], ofItemAtPath: "\(path)/keys")

        let rogue = try TestAuthority.rogue.get()
        try program.write(policy: [.string(rogue.root.pin), .string(rogue.leaf.pin)])
        #expect(try await program.lines("bad") == ["hosts localhost:\(host.port)"])

        try program.write(policy: [.string(rogue.root.pin)], expires: "2020-01-31")
        #expect(try await program.lines("bad", ["--offline"]) == ["pins localhost"])
        try program.write(policy: [.string(rogue.root.pin)])
        #expect(try await program.lines("warning", ["--offline"]) == ["pins localhost"])

        try program.folder.write("{", to: "schema.json")
        #expect(try await program.lines("bad", ["--offline"]) == ["schema schema"])
        try program.folder.write("a.b.c.d.e", to: "shop.dump")
        #expect(
            try await program.lines("bad", ["--offline"]) == ["schema schema", "dump form"])
        #expect(host.requests.isEmpty)
        try await host.stop()
    }

    @Test func anHMACKeyThatIsTooShortIsNamed() async throws {
        let host = try await OrdersHost.start()
        let program = try await Program(for: host)
        var keys = try JSONValue(parsing: program.folder.read("keys"))["keys"]?.array ?? []
        for (id, secret) in [("short", "AAECAwQFBgcICQoLDA0O"), ("long", "AAECAwQFBgcICQoLDA0ODw")]
        {
            keys.append([
                "kty": "oct", "kid": .string(id), "use": "sig", "alg": "HS256",
                "k": .string(secret),
            ])
        }
        let set: JSONValue = ["keys": .array(keys)]
        try program.folder.write(set.text, to: "keys")
        #expect(try await program.lines("warning", ["--offline"]) == ["keys short"])
        try await host.stop()
    }

    // MARK: What ends soon

    /// A certificate, a rule and a key that end in 20 days: warnings within 30 days and by default.
    @Test func whatEndsSoonIsAWarning() async throws {
        let authority = try TestAuthority.trusted.get()
        let end = Date(timeIntervalSinceNow: 20 * 86_400)
        let day = end.formatted(.iso8601.year().month().day())
        let leaf = try authority.issue(to: day.replacing("-", with: "") + "235959Z")
        let host = try await OpenSSLServer(
            .init(certificate: leaf.pem, key: leaf.key, chain: authority.intermediate.pem))
        let folder = try TemporaryDirectory()
        try folder.write(
            #"{"hosts":{"localhost":{"pins":["\#(leaf.pin)","\#(authority.root.pin)"],"expires":"\#(day)"}}}"#,
            to: "policy.json")
        let made = try await SignetTool.run(
            ["keys", "new", "--type", "hmac", "--id", "orders", "--out", "keys"],
            directory: folder.url)
        #expect(made.exit == 0)
        var keys = try #require(try JSONValue(parsing: folder.read("keys")).object)
        var key = try #require(keys["keys"]?.array?.first?.object)
        key["exp"] = .number(JSONNumber(Int(end.timeIntervalSince1970)))
        keys["keys"] = [.object(key)]
        try folder.write(JSONValue.object(keys).text, to: "keys")
        try folder.write(
            #"{"keys":"keys","policy":"policy.json","caFile":"\#(authority.caFile)","connectTo":["localhost:443:localhost:\#(host.port)"]}"#,
            to: "project.json")
        let words = ["self-check", "--project", "\(folder.path)/project.json"]
        let all = ["keys orders", "pins localhost", "hosts localhost"]
        for (more, expected) in [
            ([], all), (["--within", "30"], all), (["--within", "36500"], all),
            (["--within", "10"], []), (["--within", "0"], []),
        ] {
            let output = try await SignetTool.run(words + more + ["--json"])
            #expect(output.exit == 0, "\(output.text)")
            let checks = try JSONValue(parsing: output.stdout)["checks"]?.array ?? []
            let warnings = checks.filter { $0["status"] == "warning" }.map {
                "\($0["area"]?.string ?? "") \($0["subject"]?.string ?? "")"
            }
            #expect(warnings == expected, "\(more)")
        }
        for value in ["-1", "36501", "10d", "1e3"] {
            let refused = try await SignetTool.run(words + ["--within", value, "--json"])
            #expect(refused.exit == 2, "\(value)")
        }
        // People see the host first, and no known answer.
        let table = try await SignetTool.run(words)
        let lines = table.text.split(separator: "\n")
        #expect(lines.first?.hasPrefix("warning  hosts    localhost") == true)
        #expect(table.text.contains("the certificate CN=localhost ends \(day)T23:59:59Z"))
        #expect(lines.count { $0.contains("  crypto  ") } == 1)
        #expect(table.text.contains(/crypto +known answers +(\d+) of \1 are right/))
        // The page says the same, and draws that lead time.
        let page = try await SignetTool.run(words + ["--within", "60", "--html", "-"])
        #expect(page.text.contains("<title>Lead time: 60 days</title>"))
        #expect(page.text.contains("No check is bad; 3 warnings."))
        try await host.stop()
    }

    /// A mismatch has its pins below its line, as in the errors of other commands.
    @Test func aMismatchHasItsPinsOnLines() async throws {
        let host = try await OrdersHost.start()
        let program = try await Program(for: host)
        let rogue = try TestAuthority.rogue.get()
        try program.write(policy: [.string(rogue.root.pin), .string(rogue.leaf.pin)])
        let output = try await program.check()
        #expect(output.exit == 1)
        let lines = output.text.split(separator: "\n")
        for line in lines { #expect(line.count <= 100, "\(line)") }
        for pin in [rogue.root.pin, rogue.leaf.pin] {
            #expect(lines.contains("             \(pin)"), "\(output.text)")
        }
        try await host.stop()
    }

    @Test func withoutAProjectTheProgramItselfIsChecked() async throws {
        let output = try await SignetTool.run(["self-check", "--offline", "--json"])
        #expect(output.exit == 0, "\(output.text)")
        #expect(try JSONValue(parsing: output.stdout)["good"] == true)
    }

    @Test(arguments: [
        "", "[]", "{\"unknown\":1}", "{\"keys\":1}", "{\"app\":{\"id\":\"a\"}}", "{\"keys\":\"\"}",
        "{\"connectTo\":\"x\"}", "{\"state\":1}", "{\"lastGood\":\"\"}",
        "{\"mode\":\"development\"}",
        "{\"runMode\":\"development\"}", "{\"keys\":\"a\",\"keys\":\"b\"}",
    ])
    func refusesAnInvalidProject(_ text: String) async throws {
        let folder = try TemporaryDirectory()
        let file = try folder.write(text, to: "project.json")
        let output = try await SignetTool.run(["self-check", "--project", file, "--json"])
        #expect(output.exit == 2)
        let error = try JSONValue(parsing: output.stdout)["error"]
        #expect(error?["code"] == "malformed-input")
        #expect(error?["message"]?.string?.contains("project.json") == true)
    }
}
