import Foundation
import SignetJSON
import TestSupport
import Testing

/// A configuration of 40 keys in YAML, through every command that reads or writes its values.
@Suite struct YAMLConfigurationToolTests {
    private static let notes = [
        "it's \"quoted\"", "two\nlines\n", "$(touch pwned) `id` ${HOME}", #"back\slash \n"#,
        "é€😀 ﷽", "-n", "  spaces  ", "#no comment", "5", "",
    ]

    /// Ten groups of four keys.
    private static let values: JSONObject = {
        var values = JSONObject()
        for index in 0..<10 {
            values["g\(index).host"] = .string("h\(index).example.com")
            values["g\(index).port"] = .number(JSONNumber(Int64(8000 + index)))
            values["g\(index).flags"] = [.bool(index % 2 == 0), "no", .number(JSONNumber(1))]
            values["g\(index).note"] = .string(notes[index])
        }
        return values
    }()

    private static let yaml = (0..<10).map { index in
        """
        g\(index):
          host: h\(index).example.com   # a comment
          port: \(8000 + index)
          flags: [\(index % 2 == 0), no, 1]
          note: \(JSONValue.string(notes[index]).text)

        """
    }.joined()

    private let folder: TemporaryDirectory

    init() throws { folder = try TemporaryDirectory() }

    private func signet(
        _ arguments: [String], environment: [String: String] = [:]
    ) async throws -> ProcessOutput {
        let output = try await SignetTool.run(
            arguments, environment: environment, directory: folder.url)
        #expect(output.exit == 0, "\(arguments): \(output.stderr)")
        return output
    }

    private func variable(_ key: String) -> String {
        key.uppercased().replacingOccurrences(of: ".", with: "_")
    }

    /// The output of `env -0`.
    private func entries(_ bytes: [UInt8]) -> [String: String] {
        var entries: [String: String] = [:]
        for entry in bytes.split(separator: 0) {
            let text = String(decoding: entry, as: UTF8.self)
            guard let equals = text.firstIndex(of: "=") else { continue }
            entries[String(text[..<equals])] = String(text[text.index(after: equals)...])
        }
        return entries
    }

    @Test func fortyKeysKeepTheirValuesThroughAllCommands() async throws {
        try folder.write(Self.yaml, to: "config.yaml")
        _ = try await signet([
            "vault", "init", "config.yaml", "--out", ".", "--keys", "keys", "--app-id",
            "com.example.shop", "--app-version", "1.0.0",
        ])
        _ = try await signet(["vault", "seal"])
        let names = Self.values.map(\.name)
        #expect(names.count == 40)
        let got = try await signet(["vault", "get", "--show-secrets", "--json"] + names)
        let read = try #require(JSONValue(parsing: got.stdout)["values"]?.object)
        for (name, value) in Self.values { #expect(read[name] == value, "\(name)") }

        var wanted = Self.values
        wanted["g0.port"] = 9000
        wanted["g1.note"] = "it's\n$(id)"
        _ = try await signet(
            ["vault", "set", "g0.port=9000", "--from", "g1.note=env:NOTE"],
            environment: ["NOTE": "it's\n$(id)"])
        let exported = try await signet(["vault", "export", "--show-secrets"])
        let object = try #require(JSONValue(parsing: exported.stdout).object)
        #expect(object.count == 40)
        for (name, value) in wanted { #expect(object[name] == value, "\(name)") }

        let lines = try await signet(["vault", "export", "--show-secrets", "--format", "env"])
        try folder.write(lines.stdout, to: "env.sh")
        let shell = try await ChildProcess.run(
            "sh", ["-c", "set -a; . ./env.sh; exec env -0"], directory: folder.url)
        let executed = try await signet(["exec", "--", "env", "-0"])
        for found in [entries(shell.stdout), entries(executed.stdout)] {
            for (name, value) in wanted {
                #expect(found[variable(name)] == value.string ?? value.text, "\(name)")
            }
        }
        #expect(!(try folder.contents()).contains("pwned"))
    }
}
