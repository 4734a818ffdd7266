/// A set of ASCII characters.
package struct ASCIISet: Sendable {
    private var bits: UInt128 = 0

    /// Creates a set of the letters, the digits and some other characters.
    package init(lettersDigitsAnd others: String) {
        for byte in 0..<128 as Range<UInt8>
        where byte.isDigit || byte.isLetter || others.utf8.contains(byte) {
            insert(byte)
        }
    }

    /// Creates a set of all characters except some.
    package init(allExcept others: String) {
        for byte in 0..<128 as Range<UInt8> where !others.utf8.contains(byte) { insert(byte) }
    }

    private mutating func insert(_ byte: UInt8) { bits |= 1 << UInt128(byte) }

    /// Returns whether a byte is a character of the set; false for a byte outside ASCII.
    package func contains(_ byte: UInt8) -> Bool {
        byte < 128 && bits &>> UInt128(byte) & 1 == 1
    }
}
