import Foundation
import SignetJSON
import TestSupport
import Testing

/// `signet self-check` with test calls in the configuration.
@Suite struct ProbeToolTests {
    /// A folder with a schema, defaults, keys and a project file.
    private struct Program {
        let folder: TemporaryDirectory

        init(_ values: JSONObject, policy: JSONValue? = nil) async throws {
            folder = try TemporaryDirectory()
            let keys = values.map { name, value in
                let type =
                    value.number == nil
                    ? value.typeName : value.number?.isInteger == true ? "integer" : "number"
                let rule: JSONObject = ["type": .string(type), "visibility": "public"]
                return (name: name, value: JSONValue.object(rule))
            }
            let schema: JSONValue = ["keys": .object(JSONObject(keys))]
            try folder.write(schema.text, to: "schema.json")
            try folder.write(JSONValue.object(values).text, to: "defaults.json")
            let made = try await SignetTool.run(
                ["keys", "new", "--type", "hmac", "--id", "shop", "--out", "keys"],
                directory: folder.url)
            #expect(made.exit == 0)
            var project: JSONObject = [
                "schema": "schema.json", "defaults": "defaults.json", "keys": "keys",
                "caFile": .string(try TestAuthority.trusted.get().caFile),
            ]
            if let policy {
                try folder.write(policy.text, to: "policy.json")
                project["policy"] = "policy.json"
            }
            try folder.write(JSONValue.object(project).text, to: "project.json")
        }

        func check(_ more: [String] = []) async throws -> ProcessOutput {
            try await SignetTool.run(
                ["self-check", "--project", "\(folder.path)/project.json"] + more)
        }

        /// The lines of the test calls: subject, status, detail and remedy.
        func lines(_ more: [String] = []) async throws -> [[String]] {
            let output = try await check(more + ["--json"])
            let checks = try JSONValue(parsing: output.stdout)["checks"]?.array ?? []
            return checks.filter { $0["area"] == "probes" }.map { line in
                ["subject", "status", "detail", "remedy"].map { line[$0]?.string ?? "" }
            }
        }
    }

    private static func pins(_ authority: TestAuthority) -> JSONValue {
        [.string(authority.root.pin), .string(authority.leaf.pin)]
    }

    @Test(.features("000-62")) func eachCallIsALineWithARemedy() async throws {
        let authority = try TestAuthority.trusted.get()
        let routes = [
            "/state": "200 OK\r\nContent-Type: application/json\r\n\r\n{\"state\":\"up\",\"n\":7}",
            "/broken": "500 No\r\nContent-Type: application/json\r\n\r\n{}",
        ]
        let host = try await RouteServer(routes, tls: authority.leaf)
        let pinned = try await RouteServer(routes, tls: authority.leaf)
        let (slow, port) = try await SocketServer.start([.stall], tls: authority.leaf)
        var values: JSONObject = [:]
        for (name, url, pins) in [
            ("a", host.url, Self.pins(authority)),
            ("slow", "https://localhost:\(port)", Self.pins(authority)),
            (
                "wrong", pinned.url.replacing("localhost", with: "example.com"),
                Self.pins(try TestAuthority.rogue.get())
            ),
        ] {
            values["services.\(name).baseURL"] = .string(url)
            values["services.\(name).protocol"] = "rest"
            values["services.\(name).pins"] = pins
            values["services.\(name).signing.scheme"] = "rfc9421"
            values["services.\(name).signing.key"] = "shop"
        }
        for (name, service, path) in [
            ("good", "a", "/state"), ("late", "slow", "/state"), ("pin", "wrong", "/state"),
            ("refused", "a", "/broken"), ("value", "a", "/state"),
        ] {
            values["probes.\(name).service"] = .string(service)
            values["probes.\(name).path"] = .string(path)
            values["probes.\(name).timeout"] = name == "late" ? 0.2 : 20
        }
        values["probes.good.expect"] = ["state": "up"]
        values["probes.value.expect"] = ["state": "down"]
        let program = try await Program(values)
        // example.com is the server whose pins are wrong.
        var project = try #require(
            try JSONValue(parsing: program.folder.read("project.json")).object)
        project["connectTo"] = [
            .string("example.com:\(pinned.port):127.0.0.1:\(pinned.port)")
        ]
        try program.folder.write(JSONValue.object(project).text, to: "project.json")

        let lines = try await program.lines()
        #expect(
            lines.map { "\($0[0]) \($0[1])" } == [
                "good good", "late bad", "pin bad", "refused bad", "value bad",
            ])
        let expected = [
            ("a GET: as expected, in ", ""),
            ("slow GET: no response within 200 ms", "find out why the service is slow"),
            ("wrong GET: ", "if the host's owner changed its keys"),
            ("a GET: http-status, status ", "look at the service's log"),
            ("a GET: the result isn't as expected at $.state", "fix the service"),
        ]
        for (line, (detail, remedy)) in zip(lines, expected) {
            #expect(line[2].hasPrefix(detail), "\(line)")
            #expect(line[3].hasPrefix(remedy), "\(line)")
        }
        #expect(lines[2][2].contains("example.com"))
        // Signed, and no byte to the host with other pins.
        #expect(host.requests.count == 3)
        #expect(host.requests.allSatisfy { $0.lowercased().contains("\r\nsignature: ") })
        #expect(pinned.requests.isEmpty)

        // People see them first.
        let table = try await program.check(["--html", program.folder.path("check.html")])
        #expect(table.exit == 1)
        #expect(table.text.contains("as expected, in "))
        let page = text(try program.folder.read("check.html"))
        #expect(page.contains("Test calls") && page.contains("no response within 200 ms"))
        // Nothing is sent offline.
        let count = host.requests.count
        let offline = try await program.lines(["--offline"])
        #expect(offline.map { $0[1] } == Array(repeating: "skipped", count: 5))
        #expect(host.requests.count == count)
        try await slow.stop()
    }

    /// The project's policy holds, and not only the pins of the configuration.
    @Test func theProjectsPolicyHolds() async throws {
        let authority = try TestAuthority.trusted.get()
        let host = try await RouteServer(["/state": "200 OK\r\n\r\n"], tls: authority.leaf)
        let values: JSONObject = [
            "services.a.baseURL": .string(host.url), "services.a.protocol": "rest",
            "probes.up.service": "a", "probes.up.path": "/state",
        ]
        func policy(_ pins: JSONValue) -> JSONValue {
            ["hosts": ["localhost": ["pins": pins, "expires": "2099-12-31"]]]
        }
        let good = try await Program(values, policy: policy(Self.pins(authority)))
        #expect(try await good.lines().map { $0[1] } == ["good"])
        #expect(host.requests.count == 1)
        let rogue = try TestAuthority.rogue.get()
        let bad = try await Program(values, policy: policy(Self.pins(rogue)))
        #expect(try await bad.lines().map { $0[1] } == ["bad"])
        // Without a policy and pins nothing is sent.
        let none = try await Program(values)
        let lines = try await none.lines()
        #expect(lines.map { "\($0[0]) \($0[1])" } == ["network system bad"])
        #expect(lines[0][2].contains("services.a.pins"))
        #expect(host.requests.count == 1)
    }

    @Test func aWrongKeyIsALine() async throws {
        let authority = try TestAuthority.trusted.get()
        let host = try await RouteServer(["/state": "200 OK\r\n\r\n"], tls: authority.leaf)
        let program = try await Program([
            "services.a.baseURL": .string(host.url), "services.a.protocol": "rest",
            "services.a.pins": Self.pins(authority), "probes.up.service": "a",
            "probes.up.method": "DELETE", "probes.up.path": "/state",
        ])
        let lines = try await program.lines()
        #expect(lines.map { $0[1] } == ["bad"])
        #expect(lines[0][2].hasPrefix("probes.up.method isn't GET, HEAD or OPTIONS"))
        #expect(host.requests.isEmpty)
    }
}
