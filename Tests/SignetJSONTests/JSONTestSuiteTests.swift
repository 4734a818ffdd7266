import Foundation
import SignetJSON
import TestSupport
import Testing

/// The parsing tests of nst/JSONTestSuite: `y_` files are accepted with their values, `n_` files
/// are refused, and each `i_` file has one expected outcome.
struct JSONTestSuiteTests {
    static let folder = SharedVectors.directory?.appending(path: "json-test-suite")

    /// Valid by RFC 8259's grammar, refused here: a duplicate member is an error.
    static let duplicates = [
        "y_object_duplicated_key.json", "y_object_duplicated_key_and_value.json",
    ]

    static func files(_ prefix: String) -> [String] {
        guard let folder,
            let names = try? FileManager.default.contentsOfDirectory(atPath: folder.path)
        else { return [] }
        return names.filter { $0.hasPrefix(prefix) && $0.hasSuffix(".json") }.sorted()
    }

    private func content(_ name: String) throws -> [UInt8] {
        let folder = try #require(Self.folder)
        return [UInt8](try Data(contentsOf: folder.appending(path: name)))
    }

    @Test(.enabled(if: folder != nil))
    func suiteIsWhole() {
        #expect(Self.files("y_").count == 95)
        #expect(Self.files("n_").count >= 187)
        #expect(Self.files("i_").count >= 34)
    }

    struct Value: Decodable, Sendable, CustomTestStringConvertible {
        let name: String
        let value: String
        var testDescription: String { name }
    }

    struct Open: Decodable, Sendable, CustomTestStringConvertible {
        let name: String
        let answer: String
        var testDescription: String { name }
    }

    static let values = Result {
        try VectorFile<Value>.load("json-test-suite-values", in: .module)
    }
    static let open = Result { try VectorFile<Open>.load("json-test-suite-open", in: .module) }

    @Test(.enabled(if: folder != nil)) func everyFileHasTheExpectedResult() throws {
        #expect(
            try Self.values.get().map(\.name)
                == Self.files("y_").filter { !Self.duplicates.contains($0) })
        #expect(try Self.open.get().map(\.name) == Self.files("i_"))
    }

    @Test(.enabled(if: folder != nil), arguments: try values.get())
    func accepts(_ vector: Value) throws {
        let value = try JSONValue(parsing: content(vector.name))
        #expect(value.text == vector.value)
        #expect(try JSONValue(parsing: value.serialized()) == value)
        #expect(try JSONValue(parsing: value.serialized(.pretty)) == value)
    }

    @Test(.enabled(if: folder != nil), arguments: duplicates)
    func refusesDuplicateNames(_ name: String) throws {
        let text = try content(name)
        let error = #expect(throws: JSONError.self) { try JSONValue(parsing: text) }
        #expect(error?.code == .duplicateMember)
    }

    @Test(.enabled(if: folder != nil), arguments: files("n_"))
    func refuses(_ name: String) throws {
        let text = try content(name)
        let error = #expect(throws: JSONError.self) { try JSONValue(parsing: text) }
        let offset = try #require(error?.offset)
        #expect((0...text.count).contains(offset))
    }

    @Test(.enabled(if: folder != nil), arguments: try open.get())
    func decidesTheImplementationDefinedCases(_ vector: Open) throws {
        let text = try content(vector.name)
        do {
            let value = try JSONValue(parsing: text)
            #expect(vector.answer == "accepted")
            #expect(try JSONValue(parsing: value.serialized()) == value)
        } catch {
            #expect(error.code.name == vector.answer)
            #expect((0...text.count).contains(try #require(error.offset)))
        }
    }
}
