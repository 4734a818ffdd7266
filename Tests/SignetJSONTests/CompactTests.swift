import Foundation
import SignetJSON
import TestSupport
import Testing

/// `JSONReader.compact(validated:)` writes the same bytes as the tree, without making one.
@Suite struct CompactTests {
    @Test(arguments: [
        "null", " true\n", "[]", "[ ]", "{ }", " [ 1 , 2 ] ", "1e400", "-0.0", "[1,[2,{}]]",
        "\t{ \"a\" : [ 1 ,\r\n2 ] , \"b\" : { } }", "\" a  b \"", "[\" , \",\" : \"]", "\"\"",
        #""\/""#, #""\u002f""#, #""\b\u0008\f\n\r\t""#, #""\u001F\u001f\u007f""#, #""\\\"\\""#,
        #""\u00e9é\u20AC""#, #""\ud83d\ude00😀""#, #"{"\u0061":1, "b\\" :"\""}"#,
        #"["\u0041","plain", "\u0041"]"#, #" "\"" "#, #"["a\\","b c"]"#,
    ])
    func givesTheBytesOfTheTreesText(_ text: String) throws {
        let bytes = Array(text.utf8)
        let wanted = try JSONValue(parsing: bytes).serialized()
        #expect(JSONReader.compact(validated: bytes) == wanted)
        #expect(JSONReader.compact(validated: wanted) == wanted)
    }

    @Test(.enabled(if: JSONTestSuiteTests.folder != nil), arguments: ["y_", "i_"])
    func givesTheBytesOfTheTreesTextForTheTestSuite(_ prefix: String) throws {
        let folder = try #require(JSONTestSuiteTests.folder)
        var count = 0
        for name in JSONTestSuiteTests.files(prefix) {
            let bytes = [UInt8](try Data(contentsOf: folder.appending(path: name)))
            guard let value = try? JSONValue(parsing: bytes) else { continue }
            #expect(JSONReader.compact(validated: bytes) == value.serialized(), "\(name)")
            count += 1
        }
        #expect(count > (prefix == "y_" ? 90 : 5))
    }
}
