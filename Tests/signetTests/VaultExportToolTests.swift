import SignetJSON
import TestSupport
import Testing

/// `vault list` and `vault export`.
@Suite struct VaultExportToolTests {
    private let vault: EditableVault

    init() async throws { vault = try await EditableVault() }

    private func export(_ more: [String]) async throws -> ProcessOutput {
        try await vault.run(["vault", "export", "dump"] + EditableVault.keys + more)
    }

    @Test func listShowsEverythingButSecrets() async throws {
        _ = try await vault.set(["orders.attempts=4"])
        let output = try await vault.vault(
            ["list", "dump", "--json"] + EditableVault.schemaAndKeys)
        #expect(output.exit == 0 && !output.text.contains("ZZZZZZ"), "\(output.stderr)")
        let entries = try JSONValue(parsing: output.stdout)["entries"]?.array ?? []
        #expect(
            entries.map(\.text) == [
                #"{"key":"orders.host","type":"string","visibility":"public","origin":"defaults","changed":false,"value":"orders.example.com"}"#,
                #"{"key":"orders.timeout","type":"duration","visibility":"public","origin":"defaults","changed":false,"value":"5s"}"#,
                #"{"key":"orders.attempts","type":"integer","visibility":"public","origin":"defaults","changed":true,"value":4}"#,
                #"{"key":"partner.token","type":"string","visibility":"secret","origin":"defaults","changed":false}"#,
                #"{"key":"orders.note","type":"string","visibility":"public","origin":null,"changed":false}"#,
                #"{"key":"partner.limits","type":"object","visibility":"secret","origin":null,"changed":false}"#,
            ])
        let words = try await vault.vault(["list", "dump"] + EditableVault.schemaAndKeys)
        #expect(words.text.contains("orders.example.com") && !words.text.contains("ZZZZZZ"))
    }

    @Test func withoutASchemaEveryKeyIsSecret() async throws {
        let output = try await vault.vault(["list", "dump"] + EditableVault.keys)
        #expect(output.text.contains("orders.host") && !output.text.contains("orders.example.com"))
        #expect(!output.text.contains("public"))
    }

    @Test func publicValuesNeedASchemaAndHoldNoSecret() async throws {
        let output = try await export(["--public", "--schema", "schema.json"])
        #expect(
            try JSONValue(parsing: output.stdout) == [
                "orders.host": "orders.example.com", "orders.timeout": "5s", "orders.attempts": 3,
            ])
        try expect(try await export(["--public", "--json"]), exit: 2, code: "usage")
    }

    @Test(arguments: [
        (
            "json",
            #"{"orders.host":"orders.example.com","orders.timeout":"5s","orders.attempts":3}"#
        ),
        (
            "nested-json",
            #"{"orders":{"host":"orders.example.com","timeout":"5s","attempts":3}}"#
        ),
        (
            "yaml",
            #"{"text":"orders:\n  host: \"orders.example.com\"\n  timeout: \"5s\"\n  attempts: 3\n"}"#
        ),
        (
            "env",
            #"{"text":"ORDERS_HOST='orders.example.com'\nORDERS_TIMEOUT='5s'\nORDERS_ATTEMPTS=3\n"}"#
        ),
    ])
    func eachFormatHasItsForm(_ format: String, _ wanted: String) async throws {
        let output = try await export(
            ["--public", "--schema", "schema.json", "--format", format, "--json"])
        #expect(output.text == wanted + "\n", "\(output.stderr)")
    }

    @Test(arguments: [
        [], ["--public", "--show-secrets"], ["--show-secrets", "--format", "xml"],
        ["--show-secrets", "--prefix", "P_"],
    ])
    func wrongUsageIsExit2(_ arguments: [String]) async throws {
        let output = try await export(arguments + ["--json"])
        try expect(output, exit: 2, code: "usage")
    }

    @Test func namesThatCannotBeNestedAreRefused() async throws {
        try vault.folder.write(
            #"{"keys":{"a":{"type":"integer"},"a.b":{"type":"integer"}}}"#, to: "schema.json")
        try vault.folder.write(#"{"a":1,"a.b":2}"#, to: "defaults.json")
        try await vault.seal("dump", ["--replace"])
        for format in ["nested-json", "yaml"] {
            try expect(
                try await export(["--show-secrets", "--format", format, "--json"]), exit: 2,
                code: "name-collision")
        }
        #expect(try await export(["--show-secrets"]).exit == 0)
    }

    @Test func otherReadersOfYAMLReadTheSame() async throws {
        let texts = [
            "no", "5", "", "a: b", "- a", "#a", "é€😀", "\u{7f}\u{85}\u{feff}\u{2028}",
            "a\nb\t\"\\'",
            "{{x}}", "<<", "~", "null", " x ", "%", "@", "`", "0x10", "2026-01-01", "12:30",
        ]
        let keys = texts.indices.map { #""t.k\#($0)":{"type":"string"}"# }.joined(separator: ",")
        try vault.folder.write(#"{"keys":{\#(keys)}}"#, to: "schema.json")
        let values = JSONObject(
            texts.enumerated().map { ("t.k\($0.offset)", .string($0.element)) })
        try vault.folder.write(JSONValue.object(values).text, to: "defaults.json")
        try await vault.seal("dump", ["--replace"])
        let yaml = try await export(["--show-secrets", "--format", "yaml"])
        try vault.folder.write(yaml.stdout, to: "values.yaml")
        let script =
            "import json,sys,yaml; json.dump(yaml.safe_load(open(sys.argv[1],'rb')),sys.stdout)"
        let read = try await ChildProcess.run(
            PythonPeer.path, ["-I", "-c", script, vault.folder.path("values.yaml")])
        #expect(read.exit == 0, "\(read.stderr)")
        let found = try JSONValue(parsing: read.stdout)["t"]
        for (index, text) in texts.enumerated() {
            #expect(found?["k\(index)"]?.string == text, "\(index)")
        }
    }
}
