#if Tool
import ArgumentParser
import SignetBase
import SignetJSON
import SignetVault

extension SourceFormat: ExpressibleByArgument {
    /// Reads a configuration, as `object(parsing:)` does.
    ///
    /// - Throws: `malformed-input`, naming the file and the line, never a value.
    func read(
        _ bytes: [UInt8], named file: String
    ) throws(ToolError) -> (object: JSONObject, notes: [String]) {
        do throws(MalformedSource) {
            return try object(parsing: bytes)
        } catch {
            let line = error.line.map { ", line \($0)" } ?? ""
            throw ToolError(
                .malformedInput,
                "\(printable(file))\(line): not \(name): \(error.problem)")
        }
    }
}
#endif
