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
