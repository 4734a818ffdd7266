/// Returns the text with control characters as `\u{…}`, so that it cannot control a terminal.
package func printable(_ text: String) -> String {
    if text.utf8.allSatisfy({ $0 >= 0x20 && $0 < 0x7F }) { return text }
    return escaped(text.unicodeScalars, categories: controls)
}

/// Returns the text for a message: cut after `limit` Unicode scalars, with control characters and
/// characters that may not be visible as `\u{…}`.
package func printable(_ text: String, limit: Int) -> String {
    let scalars = text.unicodeScalars
    let shown = escaped(
        scalars.prefix(limit), categories: controls.union([.privateUse, .unassigned]))
    return scalars.dropFirst(limit).isEmpty ? shown : shown + "…"
}

/// Returns a name for a message: as `printable(_:limit:)`, in quotation marks.
package func quoted(_ name: String, limit: Int = 120) -> String {
    "\"\(printable(name, limit: limit))\""
}

/// Returns JSON for a terminal, in which the characters that could control it or hide are escaped.
/// JSON has them in strings alone, where an escape means the same (RFC 8259, section 7).
package func terminalJSON(_ bytes: [UInt8]) -> [UInt8] {
    if bytes.allSatisfy({ $0 < 0x7F }) { return bytes }
    var result: [UInt8] = []
    for scalar in String(decoding: bytes, as: UTF8.self).unicodeScalars {
        if scalar.value >= 0x7F, controls.contains(scalar.properties.generalCategory) {
            for unit in String(scalar).utf16 {
                let digits = String(unit, radix: 16)
                result += "\\u\(String(repeating: "0", count: 4 - digits.count))\(digits)".utf8
            }
        } else {
            result += String(scalar).utf8
        }
    }
    return result
}

private let controls: Set<Unicode.GeneralCategory> = [
    .control, .format, .lineSeparator, .paragraphSeparator,
]

private func escaped(
    _ scalars: some Sequence<Unicode.Scalar>, categories: Set<Unicode.GeneralCategory>
) -> String {
    var result = ""
    for scalar in scalars {
        if categories.contains(scalar.properties.generalCategory) {
            result += "\\u{\(String(scalar.value, radix: 16))}"
        } else {
            result.unicodeScalars.append(scalar)
        }
    }
    return result
}
