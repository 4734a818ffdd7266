import Foundation
import SignetJSON
import TestSupport
import Testing

/// `signet self-check` on files without a dump.
@Suite struct SelfCheckFilesToolTests {
    private let folder: TemporaryDirectory

    init() throws { folder = try TemporaryDirectory() }

    /// Writes a project with a schema for the values, which are its defaults.
    private func write(_ values: JSONObject, project: JSONObject = [:]) throws {
        let keys = values.map { name, value in
            let type: JSONValue = value.array == nil ? "string" : "array"
            return (name: name, value: JSONValue.object(["type": type, "visibility": "public"]))
        }
        let schema: JSONValue = ["keys": .object(JSONObject(keys))]
        try folder.write(schema.text, to: "schema.json")
        try folder.write(JSONValue.object(values).text, to: "defaults.json")
        var project = project
        project["schema"] = "schema.json"
        project["defaults"] = "defaults.json"
        try folder.write(JSONValue.object(project).text, to: "project.json")
    }

    /// Returns the only line of an area.
    private func line(
        _ area: String, _ more: [String], environment: [String: String] = [:]
    ) async throws -> JSONValue {
        let output = try await SignetTool.run(
            ["self-check", "--project", folder.path("project.json"), "--json"] + more,
            environment: environment)
        let lines = try JSONValue(parsing: output.stdout)["checks"]?.array ?? []
        let found = lines.filter { $0["area"]?.string == area }
        #expect(found.count == 1, "\(output.text)")
        return try #require(found.first)
    }

    @Test func findsASetOfParametersThatIsMissing() async throws {
        try write([
            "services.a.baseURL": "https://api.example.com", "services.a.protocol": "rest",
            "services.a.defaultSets": ["php"],
        ])
        let line = try await line("configuration", ["--offline"])
        #expect(line["status"] == "bad" && line["detail"]?.string?.contains("php") == true)
    }

    @Test func checksHostsThroughTheProxyThatIsNamed() async throws {
        let authority = try TestAuthority.trusted.get()
        let host = try await OrdersHost.start()
        let (named, given, other) = (
            try await ProxyServer(), try await ProxyServer(), try await ProxyServer()
        )
        func url(_ proxy: ProxyServer) -> String { "http://127.0.0.1:\(proxy.port)" }
        try folder.write(
            #"{"hosts":{"localhost":{"pins":["\#(authority.root.pin)","\#(authority.leaf.pin)"]}}}"#,
            to: "policy.json")
        let project: JSONObject = [
            "caFile": .string(authority.caFile), "policy": "policy.json",
            "connectTo": [.string("localhost:443:localhost:\(host.port)")],
        ]
        for isNamed in [true, false] {
            try write(isNamed ? ["proxy.url": .string(url(named))] : [:], project: project)
            for isGiven in [false, true] {
                let line = try await line(
                    "hosts", ["--timeout", "300"] + (isGiven ? ["--proxy", url(given)] : []),
                    environment: ["https_proxy": url(other)])
                let proxy = isGiven ? given : isNamed ? named : other
                #expect(line["status"] == "good", "\(line.text)")
                let detail = line["detail"]?.string ?? ""
                #expect(detail.hasSuffix("through the proxy \(url(proxy))"), "\(detail)")
            }
        }
        #expect(named.asked.count == 1 && given.asked.count == 2 && other.asked.count == 1)
    }
}
