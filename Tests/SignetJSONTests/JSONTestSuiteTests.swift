import Foundation
import SignetJSON
import TestSupport
import Testing

/// The parsing tests of nst/JSONTestSuite: `y_` accepted, `n_` refused, `i_` either.
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

    @Test(.enabled(if: folder != nil), arguments: files("y_"))
    func accepts(_ name: String) throws {
        let text = try content(name)
        if Self.duplicates.contains(name) {
            let error = #expect(throws: JSONError.self) { try JSONValue(parsing: text) }
            #expect(error?.code == .duplicateMember)
            return
        }
        let value = try JSONValue(parsing: text)
        #expect(try JSONValue(parsing: value.serialized()) == value)
        #expect(try JSONValue(parsing: value.serialized(.pretty)) == value)
    }

    @Test(.enabled(if: folder != nil), arguments: files("n_"))
    func refuses(_ name: String) throws {
        let text = try content(name)
        let error = #expect(throws: JSONError.self) { try JSONValue(parsing: text) }
        let offset = try #require(error?.offset)
        #expect((0...text.count).contains(offset))
    }

    @Test(.enabled(if: folder != nil), arguments: files("i_"))
    func takesOrRefusesWithoutHarm(_ name: String) throws {
        let text = try content(name)
        if let value = try? JSONValue(parsing: text) {
            #expect(try JSONValue(parsing: value.serialized()) == value)
        }
    }
}
