#if Tool
import SignetBase
import SignetVault

/// Finds characters that can stand for something else while a parser reads a text.
enum UnusedCharacters {
    private static let range: ClosedRange<UInt32> = 0xE000...0xF8FF

    /// Returns characters that the text has neither as they are nor as an escape (`\uE000`).
    static func choose(_ count: Int, for text: String) throws(MalformedSource) -> [Unicode.Scalar] {
        var used = Set(text.unicodeScalars.lazy.map(\.value).filter { range.contains($0) })
        for part in text.utf8.split(separator: ASCII.backslash) {
            let digits: Int
            switch part.first {
            case UInt8(ascii: "u"): digits = 4
            case UInt8(ascii: "U"): digits = 8
            default: continue
            }
            let escape = String(decoding: part.dropFirst().prefix(digits), as: UTF8.self)
            if let value = UInt32(escape, radix: 16) { used.insert(value) }
        }
        let free = range.lazy.filter { !used.contains($0) }.compactMap { Unicode.Scalar($0) }
        let chosen = Array(free.prefix(count))
        guard chosen.count == count else {
            throw MalformedSource("it has every character of the private-use area")
        }
        return chosen
    }
}
#endif
