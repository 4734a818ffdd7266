import Foundation
import SignetJSON
import TestSupport
import Testing

/// The JSON Schemas that the tool prints agree with the readers.
@Suite struct DocumentSchemaToolTests {
    private static func schema(_ command: String) async throws -> JSONValue {
        let output = try await SignetTool.run([command, "schema"])
        #expect(output.exit == 0, "\(output.stderr)")
        return try JSONValue(parsing: output.stdout)
    }

    private static func isValid(
        _ documents: [JSONValue], by command: String
    ) async throws -> [Bool] {
        let task: JSONValue = [
            "schema": try await schema(command), "documents": .array(documents),
        ]
        let output = try await PythonPeer.run("json-schema", stdin: task.serialized())
        #expect(output.exit == 0, "\(output.stderr)")
        return try JSONValue(parsing: output.stdout).array?.compactMap(\.bool) ?? []
    }

    /// The JSON blocks of a page that hold a document of the format.
    private static func examples(in page: String, with member: String) throws -> [JSONValue] {
        let text = try String(
            contentsOf: PackageLayout.url("Documentation/\(page).md"), encoding: .utf8)
        return text.split(separator: "```json\n").dropFirst().compactMap { part in
            let block = part.prefix(upTo: part.firstRange(of: "```")?.lowerBound ?? part.endIndex)
            let value = try? JSONValue(parsing: Array(block.utf8))
            return value?[member] == nil ? nil : value
        }
    }

    @Test(arguments: [
        ("vault", "configuration-schema"), ("pins", "pin-policy"), ("project", "project"),
    ])
    func thePublishedFileMatchesTheTool(_ command: String, _ name: String) async throws {
        let output = try await SignetTool.run([command, "schema"])
        let file = PackageLayout.url("Documentation/schemas/\(name).schema.json")
        #expect(output.stdout == [UInt8](try Data(contentsOf: file)))
        let object = try await SignetTool.run([command, "schema", "--json"])
        #expect(try JSONValue(parsing: object.stdout) == JSONValue(parsing: output.stdout))
    }

    @Test func theExamplesOfThePagesAreValid() async throws {
        for (command, page, member) in [
            ("vault", "configuration-schema", "keys"), ("pins", "pin-policy", "hosts"),
            ("project", "project-file", "app"),
        ] {
            let examples = try Self.examples(in: page, with: member)
            #expect(!examples.isEmpty, "\(page)")
            #expect(
                try await Self.isValid(examples, by: command).allSatisfy { $0 }, "\(page)")
        }
        for (command, file) in [
            ("vault", "Examples/shop/schema.json"), ("project", "Examples/shop/project.json"),
        ] {
            let bytes = [UInt8](try Data(contentsOf: PackageLayout.url(file)))
            #expect(try await Self.isValid([JSONValue(parsing: bytes)], by: command) == [true])
        }
    }

    static let rules = [
        #"{"type":"string"}"#, #"{"type":"duration","minimum":"1s","maximum":60}"#,
        #"{"type":"array","items":{"type":"object","items":{"type":"integer","minimum":1}}}"#,
        #"{"type":"url","visibility":"public","notSecret":true,"pattern":"https.*"}"#,
        #"{"type":"bytes","minLength":1,"setBy":["launch"],"meaning":"x"}"#,
        #"{"type":"number","minimum":0.5,"enum":[1,2]}"#,
        #"{}"#, #"{"type":"text"}"#, #"{"type":"string","x":1}"#, #"{"type":"string","minimum":1}"#,
        #"{"type":"integer","minimum":"1"}"#, #"{"type":"integer","minimum":1.5}"#,
        #"{"type":"duration","minimum":"soon"}"#, #"{"type":"boolean","minLength":1}"#,
        #"{"type":"string","minLength":-1}"#, #"{"type":"integer","pattern":"a"}"#,
        #"{"type":"string","minItems":1}"#, #"{"type":"array","minProperties":1}"#,
        #"{"type":"string","items":{"type":"string"}}"#, #"{"type":"array","items":1}"#,
        #"{"type":"array","items":{"type":"string","visibility":"public"}}"#,
        #"{"type":"array","items":{"type":"string","minimum":1}}"#,
        #"{"type":"string","visibility":"open"}"#, #"{"type":"string","setBy":[]}"#,
        #"{"type":"string","setBy":["launch","launch"]}"#, #"{"type":"string","setBy":["me"]}"#,
        #"{"type":"string","notSecret":true}"#, #"{"type":"string","meaning":1}"#,
        #"{"type":"string","visibility":"public","notSecret":false}"#,
        #"{"type":"string","enum":[]}"#, #"{"type":"string","enum":["a","a"]}"#, "[]", "null",
    ]

    @Test func rulesAreValidIfTheReaderAcceptsThem() async throws {
        let folder = try TemporaryDirectory()
        try folder.write("{}", to: "defaults.json")
        let documents = try Self.rules.map { rule in
            try JSONValue(parsing: Array(#"{"keys":{"a":\#(rule)}}"#.utf8))
        }
        let valid = try await Self.isValid(documents, by: "vault")
        #expect(valid.count == Self.rules.count)
        for (document, isValid) in zip(documents, valid) {
            try folder.write(document.text, to: "schema.json")
            let read = try await SignetTool.run(
                ["vault", "public", "--schema", "schema.json", "--defaults", "defaults.json"],
                directory: folder.url)
            #expect((read.exit == 0) == isValid, "\(document.text): \(read.stderr)")
        }
    }

    static let policies = [
        #"{"hosts":{}}"#, #"{"hosts":{"a.example":{"exclude":true}},"unlisted":"allow"}"#,
        #"{"hosts":{"**.a.example":{"pins":["sha256/d6qzRu9zOECb90Uez27xWltNsj0e1Md7GkYYkVoZWmM="],"expires":"2027-06-30"}}}"#,
        #"{}"#, #"{"hosts":[]}"#, #"{"hosts":{},"x":1}"#, #"{"hosts":{},"unlisted":"maybe"}"#,
        #"{"hosts":{"a.example":{}}}"#, #"{"hosts":{"a.example":{"pins":[]}}}"#,
        #"{"hosts":{"a.example":{"pins":["sha256/AAAA"]}}}"#,
        #"{"hosts":{"a.example":{"pins":["sha256/d6qzRu9zOECb90Uez27xWltNsj0e1Md7GkYYkVoZWmN="]}}}"#,
        #"{"hosts":{"a.example":{"exclude":true,"mode":"report"}}}"#,
        #"{"hosts":{"a.example":{"exclude":true,"x":1}}}"#,
        #"{"hosts":{"https://a.example":{"exclude":true}}}"#,
        #"{"hosts":{"u@a.example":{"exclude":true}}}"#, #"{"hosts":{"a.*":{"exclude":true}}}"#,
        #"{"hosts":{"a.example":{"exclude":true,"caMode":"add"}}}"#,
        #"{"hosts":{"a.example":{"exclude":1}}}"#,
    ]

    @Test func policiesAreValidIfTheReaderAcceptsThem() async throws {
        let folder = try TemporaryDirectory()
        let documents = try Self.policies.map { try JSONValue(parsing: Array($0.utf8)) }
        let valid = try await Self.isValid(documents, by: "pins")
        #expect(valid.count == Self.policies.count)
        for (document, isValid) in zip(documents, valid) {
            try folder.write(document.text, to: "policy.json")
            let read = try await SignetTool.run(
                ["pins", "check", "https://127.0.0.1:1", "--policy", "policy.json", "--json"],
                directory: folder.url)
            let isRead = !read.text.contains("malformed-policy")
            #expect(isRead == isValid, "\(document.text): \(read.text)")
        }
    }

    static let projects = [
        "{}", #"{"app":{"id":"a","version":"1"},"system":{"version":"1"},"keys":"env:A"}"#,
        #"{"systemVersion":"1","connectTo":["a:1:b:2"],"scheme":"rfc9421"}"#,
        #"{"x":1}"#, #"{"app":{"id":"a"}}"#, #"{"app":{"id":"a","version":"1","x":1}}"#,
        #"{"keys":"command:x"}"#, #"{"passphrase":"fd:3"}"#, #"{"keys":""}"#, #"{"dump":1}"#,
        #"{"system":{"version":"1"},"systemVersion":"1"}"#, #"{"connectTo":"a"}"#, "[]",
        #"{"connectTo":[1]}"#, #"{"system":{}}"#,
    ]

    @Test func projectsAreValidIfTheReaderAcceptsThem() async throws {
        let folder = try TemporaryDirectory()
        let documents = try Self.projects.map { try JSONValue(parsing: Array($0.utf8)) }
        let valid = try await Self.isValid(documents, by: "project")
        #expect(valid.count == Self.projects.count)
        for (document, isValid) in zip(documents, valid) {
            try folder.write(document.text, to: "signet.json")
            let read = try await SignetTool.run(
                ["vault", "merge", "a", "b", "c", "--project", "signet.json", "--json"],
                directory: folder.url)
            let isRead = !read.text.contains("malformed-input")
            #expect(isRead == isValid, "\(document.text): \(read.text)")
        }
    }
}
