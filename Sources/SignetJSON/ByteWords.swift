import SignetBase

/// Returns eight bytes as a little-endian number, or nil if fewer are left.
///
/// The optimiser turns this function into one load.
@inline(__always)
func word(_ bytes: borrowing Span<UInt8>, at position: Int) -> UInt64? {
    guard position >= 0, position <= bytes.count &- 8 else { return nil }
    let part = bytes.extracting(position..<(position &+ 8))
    let low =
        UInt64(part[0]) | UInt64(part[1]) << 8 | UInt64(part[2]) << 16 | UInt64(part[3]) << 24
    return low | UInt64(part[4]) << 32 | UInt64(part[5]) << 40 | UInt64(part[6]) << 48
        | UInt64(part[7]) << 56
}

/// Marks the bytes of a word that a JSON string must escape or that are not ASCII, by their top
/// bits.
///
/// Only the lowest marked byte is certain; the marks above it can be wrong.
@inline(__always)
func specialBytes(_ word: UInt64) -> UInt64 { (word | escapes(in: word)) & 0x8080_8080_8080_8080 }

/// Returns whether a JSON string must escape a byte of a word.
@inline(__always)
func mustEscape(_ word: UInt64) -> Bool { escapes(in: word) & 0x8080_8080_8080_8080 != 0 }

/// Marks the bytes that a JSON string must escape, by their top bits; the other bits are undefined.
@inline(__always)
private func escapes(in word: UInt64) -> UInt64 {
    let ones: UInt64 = 0x0101_0101_0101_0101
    let quotes = word ^ (ones &* UInt64(ASCII.quote))
    let backslashes = word ^ (ones &* UInt64(ASCII.backslash))
    let controls = (word &- ones &* 0x20) & ~word
    return controls | (quotes &- ones) & ~quotes | (backslashes &- ones) & ~backslashes
}

/// Returns whether the bytes in a range equal those of `right`.
@inline(__always)
func isEqual(
    _ left: borrowing Span<UInt8>, in range: Range<Int>, to right: borrowing Span<UInt8>
) -> Bool {
    let count = right.count
    guard range.count == count else { return false }
    let left = left.extracting(range)
    if count >= 8 {
        var at = 0
        while at < count &- 8 {
            guard word(left, at: at) == word(right, at: at) else { return false }
            at &+= 8
        }
        return word(left, at: count &- 8) == word(right, at: count &- 8)
    }
    if count >= 4 {
        return halfWord(left, at: 0) == halfWord(right, at: 0)
            && halfWord(left, at: count &- 4) == halfWord(right, at: count &- 4)
    }
    var at = 0
    while at < count {
        guard left[at] == right[at] else { return false }
        at &+= 1
    }
    return true
}

/// Returns four bytes as a little-endian number, or nil if fewer are left.
@inline(__always)
func halfWord(_ bytes: borrowing Span<UInt8>, at position: Int) -> UInt32? {
    guard position >= 0, position <= bytes.count &- 4 else { return nil }
    let part = bytes.extracting(position..<(position &+ 4))
    return UInt32(part[0]) | UInt32(part[1]) << 8 | UInt32(part[2]) << 16 | UInt32(part[3]) << 24
}
