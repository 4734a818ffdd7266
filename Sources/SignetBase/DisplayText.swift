/// Returns the text with control characters as `\u{…}`, so that it cannot control a terminal.
package func printable(_ text: String) -> String {
    // Most texts are plain.
    if text.utf8.allSatisfy({ $0 >= 0x20 && $0 < 0x7F }) { return text }
    var result = ""
    for scalar in text.unicodeScalars {
        switch scalar.properties.generalCategory {
        case .control, .format, .lineSeparator, .paragraphSeparator, .surrogate:
            result += "\\u{\(String(scalar.value, radix: 16))}"
        default: result.unicodeScalars.append(scalar)
        }
    }
    return result
}

/// A name for a message: in quotes, cut after 120 scalars, and with what a terminal would obey or
/// hide (control and format characters, line separators) as `\u{…}`.
package func quoted(_ name: String) -> String {
    var text = "\""
    for (position, scalar) in name.unicodeScalars.enumerated() {
        guard position < 120 else {
            text += "…"
            break
        }
        switch scalar.properties.generalCategory {
        case .control, .format, .lineSeparator, .paragraphSeparator, .privateUse, .unassigned,
            .surrogate:
            text += "\\u{\(String(scalar.value, radix: 16))}"
        default: text.unicodeScalars.append(scalar)
        }
    }
    return text + "\""
}
