#if Tool
import SignetBase

/// HTML: its literal parts are tags of the tool's own sources, and what is interpolated is text,
/// which is escaped.
///
///     let cell: HTML = "<td>\(host)</td>"
struct HTML: ExpressibleByStringInterpolation, Sendable {
    private(set) var text: String

    init(stringLiteral value: String) { text = value }

    init(stringInterpolation: Interpolation) { text = stringInterpolation.text }

    /// Joins pieces with newlines.
    init(joining pieces: [HTML]) { text = pieces.map(\.text).joined(separator: "\n") }

    /// The bytes of the page.
    var bytes: [UInt8] { Array(text.utf8) }

    struct Interpolation: StringInterpolationProtocol {
        fileprivate var text = ""

        init(literalCapacity: Int, interpolationCount: Int) {
            text.reserveCapacity(literalCapacity)
        }

        mutating func appendLiteral(_ literal: String) { text += literal }

        mutating func appendInterpolation(_ value: String) { text += HTML.escaped(value) }

        mutating func appendInterpolation(_ value: some BinaryInteger) { text += String(value) }

        mutating func appendInterpolation(_ value: HTML) { text += value.text }
    }

    /// The text for an element or for an attribute in double quotes. Control characters, and those
    /// that change the direction of writing, become `\u{…}`.
    private static func escaped(_ text: String) -> String {
        var escaped = ""
        for scalar in printable(text).unicodeScalars {
            switch scalar {
            case "&": escaped += "&amp;"
            case "<": escaped += "&lt;"
            case ">": escaped += "&gt;"
            case "\"": escaped += "&quot;"
            case "'": escaped += "&#39;"
            default: escaped.unicodeScalars.append(scalar)
            }
        }
        return escaped
    }
}
#endif
