import Foundation
import SignetJSON
import TestSupport
import Testing

/// `signet self-check` on a program's folder that is whole, and on the same with one thing broken.
@Suite struct SelfCheckToolTests {
    /// A program's folder beside a running host.
    private struct Program {
        let folder: TemporaryDirectory
        var project: JSONObject = [:]

        init(for host: OrdersHost) async throws {
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
            try await run([
                "vault", "seal", "--schema", "schema.json", "--defaults", "defaults.json",
                "--fetched", "fetched.json", "--keys", "keys", "--key-id", "root",
                "--app-id", "com.example.shop", "--app-version", "1.4.2", "--out", "shop.dump",
            ])
            project = [
                "schema": "schema.json", "defaults": "defaults.json", "dump": "shop.dump",
                "keys": "keys", "app": ["id": "com.example.shop", "version": "1.4.2"],
                "policy": "policy.json", "caFile": .string(authority.caFile),
            ]
        }

        func write(policy pins: JSONValue, expires: String = "2099-12-31") throws {
            let policy: JSONValue = [
                "hosts": ["localhost": ["pins": pins, "expires": .string(expires)]]
            ]
            try folder.write(policy.text, to: "policy.json")
        }

        private func run(_ arguments: [String]) async throws {
            let output = try await SignetTool.run(arguments, directory: URL(filePath: folder.path))
            #expect(output.exit == 0, "\(output.stderr)")
        }

        func check(_ more: [String] = []) async throws -> ProcessOutput {
            try folder.write(JSONValue.object(project).text, to: "project.json")
            return try await SignetTool.run(
                ["self-check", "--project", "\(folder.path)/project.json"] + more)
        }

        /// Area and subject of each line with a status.
        func lines(_ status: String, _ more: [String] = []) async throws -> [String] {
            let output = try await check(more + ["--json"])
            let report = try JSONValue(parsing: output.stdout)
            #expect(!output.text.contains("ZZZZ"))
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
        #expect(!output.text.contains("bad"))
        #expect(!output.text.contains("\u{1B}"))
        #expect(try await program.lines("good").contains("hosts localhost:\(host.port)"))
        #expect(host.requests.isEmpty)
        #expect(try await program.lines("skipped", ["--offline"]) == ["hosts hosts"])
        try await host.stop()
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

    @Test func withoutAProjectTheProgramItselfIsChecked() async throws {
        let output = try await SignetTool.run(["self-check", "--offline", "--json"])
        #expect(output.exit == 0, "\(output.text)")
        #expect(try JSONValue(parsing: output.stdout)["good"] == true)
    }

    @Test(arguments: [
        "", "[]", "{\"unknown\":1}", "{\"keys\":1}", "{\"app\":{\"id\":\"a\"}}", "{\"keys\":\"\"}",
        "{\"connectTo\":\"x\"}", "{\"keys\":\"a\",\"keys\":\"b\"}",
    ])
    func refusesAProjectThatIsNone(_ text: String) async throws {
        let folder = try TemporaryDirectory()
        let file = try folder.write(text, to: "project.json")
        let output = try await SignetTool.run(["self-check", "--project", file, "--json"])
        #expect(output.exit == 2)
        let error = try JSONValue(parsing: output.stdout)["error"]
        #expect(error?["code"] == "malformed-input")
        #expect(error?["message"]?.string?.contains("project.json") == true)
    }
}
