/// A name that equals another where the UTF-8 bytes do. Swift's `==` takes two Unicode forms of one
/// text for the same, which identities must not.
package struct ByteName: Hashable, Sendable {
    package let text: String

    package init(_ text: String) { self.text = text }

    package static func == (left: ByteName, right: ByteName) -> Bool {
        sameBytes(left.text, right.text)
    }

    package func hash(into hasher: inout Hasher) {
        for byte in text.utf8 { hasher.combine(byte) }
    }
}

/// Whether two strings are the same bytes.
package func sameBytes(_ left: String, _ right: String) -> Bool {
    left.utf8.count == right.utf8.count && left.utf8.elementsEqual(right.utf8)
}
