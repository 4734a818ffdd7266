import SignetJSON
import SignetVault
internal import TOMLKit

/// Reads a TOML file. Dates and times become text, and so do `inf` and `nan`.
enum TOMLFile {
    /// Reads a document. Its keys come in alphabetical order.
    static func object(parsing text: String) throws(MalformedSource) -> JSONObject {
        try TOMLNesting.requireUsable(text)
        let json: String
        do {
            json = try TOMLTable(string: text).convert(
                to: .json, options: [.quoteDateAndTimes, .quoteInfinitesAndNaNs])
        } catch {
            // The error's own text may repeat what it found.
            let line = (error as? TOMLParseError)?.source.begin.line
            throw MalformedSource("invalid text", line: line)
        }
        guard let object = try? JSONValue(parsing: Array(json.utf8)).object else {
            throw MalformedSource("a value that JSON cannot hold")
        }
        return object
    }
}
