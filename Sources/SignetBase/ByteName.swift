/// A name that is compared by its UTF-8 bytes. Swift's `==` treats two Unicode forms of a text as
/// equal, which is wrong for identities.
package struct ByteName: Hashable, Sendable {
    package let text: String

    package init(_ text: String) { self.text = text }

    package static func == (left: ByteName, right: ByteName) -> Bool {
        sameBytes(left.text, right.text)
    }

    package func hash(into hasher: inout Hasher) { hasher.combine(text.utf8.span) }
}

extension Hasher {
    /// Adds bytes and their number.
    package mutating func combine(_ bytes: borrowing Span<UInt8>) {
        var word: UInt64 = 0
        for index in bytes.indices {
            word = word << 8 | UInt64(bytes[index])
            if index & 7 == 7 {
                combine(word)
                word = 0
            }
        }
        combine(word)
        combine(bytes.count)
    }
}

/// Returns whether two strings have the same UTF-8 bytes.
package func sameBytes(_ left: String, _ right: String) -> Bool {
    let (left, right) = (left.utf8.span, right.utf8.span)
    guard left.count == right.count else { return false }
    for index in left.indices where left[index] != right[index] { return false }
    return true
}

extension StringProtocol {
    /// Returns whether the text begins with the UTF-8 bytes of another one.
    ///
    /// Unlike `hasPrefix`, which compares characters: `"env:\u{301}"` begins with the bytes of
    /// `"env:"` but not with its characters.
    @inlinable package func startsWithBytes(of prefix: some StringProtocol) -> Bool {
        utf8.starts(with: prefix.utf8)
    }

    /// Returns whether the text ends with the UTF-8 bytes of another one.
    @inlinable package func endsWithBytes(of suffix: some StringProtocol) -> Bool {
        utf8.reversed().starts(with: suffix.utf8.reversed())
    }
}
