import Foundation
import SignetJSON
import TestSupport
import Testing

@testable import SignetSigning

/// Documents of the scheme language: the documents that the reader refuses, and whether the JSON
/// Schema agrees.
@Suite struct SchemeDocumentTests {
    /// A document, made of a good one by a patch (RFC 7396).
    struct Case: CustomTestStringConvertible, Sendable {
        let about: String
        let document: JSONValue
        /// The place at which the reader refuses it, and the message.
        let place: String
        let words: String
        let isSeenBySchema: Bool
        var testDescription: String { about }
    }

    static let (good, broken): ([Case], [Case]) = {
        do { return try load() } catch { preconditionFailure("\(error)") }
    }()

    private static func load() throws -> ([Case], [Case]) {
        guard
            let url = Bundle.module.url(
                forResource: "Vectors/scheme-documents", withExtension: "json")
        else { throw CocoaError(.fileNoSuchFile) }
        // Read with our own reader: the order of the members counts.
        let file = try JSONValue(parsing: [UInt8](Data(contentsOf: url)))
        guard let base = file["base"] else { throw CocoaError(.coderReadCorrupt) }
        func cases(_ name: String) -> [Case] {
            (file[name]?.array ?? []).map { item in
                Case(
                    about: item["about"]?.string ?? "",
                    document: base.patched(by: item["patch"] ?? .null),
                    place: item["at"]?.string ?? "", words: item["says"]?.string ?? "",
                    isSeenBySchema: item["schema"] == true)
            }
        }
        return (cases("good"), cases("broken"))
    }

    @Test(arguments: good)
    func readsGoodDocuments(_ test: Case) throws {
        _ = try SigningScheme.Insecure.scheme(document: test.document.serialized())
    }

    @Test(arguments: broken)
    func namesFoundExpectedAndPlace(_ test: Case) throws {
        let error = #expect(throws: SigningError.self) {
            try SigningScheme.Insecure.scheme(document: test.document.serialized())
        }
        let message = try #require(error?.message)
        #expect(error?.code == .malformedScheme)
        #expect(message.hasPrefix(test.place), "\(message)")
        #expect(message.contains(test.words), "\(message)")
        #expect(!message.contains("\n"))
    }

    @Test(
        arguments: [
            "", " ", "null", "[]", "7", "\"acme\"", "{", "{\"signet-scheme\":1,}", "{'name':1}",
            "{\"signet-scheme\":1} x", "\u{FEFF}{\"signet-scheme\":1}", "{\"a\":1,\"a\":2}",
            "{\"name\":\"\\ud800\"}", "{\"name\":\"a\nb\"}", "// a comment\n{}",
            "{\"a\":" + String(repeating: "[", count: 40) + String(repeating: "]", count: 40) + "}",
        ])
    func refusesNonObjects(_ text: String) {
        #expect(code { _ = try SigningScheme(document: Array(text.utf8)) } == "malformed-scheme")
    }

    @Test func refusesInvalidUTF8AndLongText() throws {
        let good = try #require(Self.good.first).document.serialized()
        #expect(code { _ = try SigningScheme(document: good) } == "no error")
        let name = try #require(good.firstRange(of: Array("acme".utf8)))
        for bytes in [[0xFF], [0xC3], [0xED, 0xA0, 0x80], [0xC0, 0x80], [0]] as [[UInt8]] {
            var broken = good
            broken.replaceSubrange(name, with: bytes)
            #expect(code { _ = try SigningScheme(document: broken) } == "malformed-scheme")
        }
        let padding = [UInt8](repeating: 0x20, count: (256 << 10) - good.count)
        #expect(code { _ = try SigningScheme(document: good + padding) } == "no error")
        #expect(
            code { _ = try SigningScheme(document: good + padding + [0x20]) } == "malformed-scheme")
    }

    @Test func refusalNamesHowToAllowAWeakScheme() throws {
        let error = #expect(throws: SigningError.self) {
            try SigningScheme(named: "wechat-v2")
        }
        #expect(error?.code == .insecureScheme)
        #expect(error?.message.contains("--insecure-scheme-ok") == true)
        #expect(error?.message.contains("SigningScheme.Insecure") == true)
    }

    @Test func refusesAWeakSchemeUnlessAllowed() throws {
        let weak = Self.good.filter { $0.document["sign"]?["hash"] != nil }
        #expect(!weak.isEmpty)
        for (hash, wanted) in [
            ("md5", "insecure-scheme"), ("sha1", "insecure-scheme"), ("sha256", "no error"),
        ] {
            let patch: JSONValue = ["sign": ["hash": .string(hash)]]
            let document = weak[0].document.patched(by: patch).serialized()
            #expect(code { _ = try SigningScheme(document: document) } == wanted)
            #expect(
                code { _ = try SigningScheme.Insecure.scheme(document: document) } == "no error")
        }
    }

    // MARK: The JSON Schema

    /// The patterns of the JSON Schema know each format of a time that the reader knows.
    @Test func schemaKnowsTheFormatsOfTimes() async throws {
        let names =
            ["time"]
            + ["ms", "date", "day", "basic", "iso", "rfc3339", "http"].map {
                "time.\($0)"
            }
        let document = Self.good[0].document
        let task: JSONValue = [
            "schema": try JSONValue(parsing: SigningScheme.documentSchema),
            "documents": .array(
                (names + ["time.none"]).map {
                    document.patched(by: ["text": .string("{method}{\($0)}")])
                }),
        ]
        let output = try await PythonPeer.run("json-schema", stdin: task.serialized())
        let valid = try JSONDecoder().decode([Bool].self, from: Data(output.stdout))
        #expect(valid == names.map { _ in true } + [false])
    }

    /// The JSON Schema accepts the built-in documents, and refuses the documents that the reader
    /// refuses.
    @Test func schemaAgreesWithTheReader() async throws {
        let builtIn = try SigningScheme.names.map { name in
            JSONValue.object(try SigningScheme.Insecure.scheme(named: name).document)
        }
        let all = Self.good + Self.broken
        let task: JSONValue = [
            "schema": try JSONValue(parsing: SigningScheme.documentSchema),
            "documents": .array(builtIn + all.map(\.document)),
        ]
        let output = try await PythonPeer.run("json-schema", stdin: task.serialized())
        #expect(output.exit == 0, "\(output.stderr)")
        let valid = try JSONDecoder().decode([Bool].self, from: Data(output.stdout))
        #expect(valid.count == builtIn.count + all.count)
        for (name, isValid) in zip(SigningScheme.names, valid) { #expect(isValid, "\(name)") }
        for (test, isValid) in zip(all, valid.dropFirst(builtIn.count)) {
            #expect(isValid == !test.isSeenBySchema, "\(test.about)")
        }
        #expect(Self.broken.count { $0.isSeenBySchema } > 100)
    }

    /// A document names an engine only if it is that engine's own.
    @Test func readsTheEnginesOwnDocumentsOnly() throws {
        for name in ["rfc9421", "salted-hmac-v1"] {
            let document = try SigningScheme(named: name).document
            let own = JSONValue.object(document)
            #expect(try SigningScheme(document: own.serialized()).name == name)
            for patch: JSONValue in [["name": "acme"], ["about": "x"], ["engine": "x"], ["x": 1]] {
                #expect(
                    code {
                        _ = try SigningScheme(document: own.patched(by: patch).serialized())
                    } == "malformed-scheme")
            }
        }
    }
}

extension JSONValue {
    /// RFC 7396: null removes a member, an object is patched member by member, all else replaces.
    func patched(by patch: JSONValue) -> JSONValue {
        guard let changes = patch.object else { return patch }
        var result = object ?? [:]
        for (name, value) in changes {
            let patched = (result[name] ?? .object([:])).patched(by: value)
            result[name] = value == .null ? JSONValue?.none : patched
        }
        return .object(result)
    }
}
