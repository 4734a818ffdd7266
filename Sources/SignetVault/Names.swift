/// A name that equals another where the UTF-8 bytes do. Swift's `==` takes two Unicode forms of one
/// text for the same, which identities must not.
struct ByteName: Hashable, Sendable {
    let text: String

    init(_ text: String) { self.text = text }

    static func == (left: ByteName, right: ByteName) -> Bool { sameBytes(left.text, right.text) }

    func hash(into hasher: inout Hasher) {
        for byte in text.utf8 { hasher.combine(byte) }
    }
}

/// Whether two strings are the same bytes.
func sameBytes(_ left: String, _ right: String) -> Bool {
    left.utf8.count == right.utf8.count && left.utf8.elementsEqual(right.utf8)
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
