/// A name that is compared by its UTF-8 bytes. Swift's `==` treats different Unicode forms of a
/// text as equal, which is wrong for identifiers.
struct ByteName: Hashable, Sendable {
    let text: String

    init(_ text: String) { self.text = text }

    static func == (left: ByteName, right: ByteName) -> Bool { sameBytes(left.text, right.text) }

    func hash(into hasher: inout Hasher) {
        for byte in text.utf8 { hasher.combine(byte) }
    }
}

/// Returns whether two strings have the same UTF-8 bytes.
func sameBytes(_ left: String, _ right: String) -> Bool {
    left.utf8.count == right.utf8.count && left.utf8.elementsEqual(right.utf8)
}

/// Returns a name in quotes for a message: truncated after 120 scalars, and with control and format
/// characters, line separators and the like as `\u{…}`.
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
