#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// Estimates whether a token of letters and digits is random, not made of words, names and numbers.
///
/// The thresholds were found by experiment. They detect base64 of 18 random bytes or more in 99 of
/// 100 cases (of 24 bytes or more nearly always), and hexadecimal text of 32 digits or more always.
/// They accept names of programs in camel case or with dashes, underscores or slashes.
enum EntropyEstimate {
    private enum Kind { case lower, upper, digit }

    /// Returns whether a token is more likely a key than a name: false if it's short or clearly
    /// made of words.
    static func looksRandom(_ token: some BidirectionalCollection<UInt8>) -> Bool {
        let text = token.filter { kind($0) != nil }
        let count = text.count
        guard count >= 20, self.count(outsideWords: token) >= 18 else { return false }
        let kinds = text.compactMap(kind)
        let digits = kinds.count { $0 == .digit }
        if digits == count { return false }
        if text.allSatisfy({ kind($0) == .digit || ($0 | 0x20) <= 0x66 }) {
            let differentDigits = Set(text.map { kind($0) == .digit ? $0 : $0 | 0x20 }).count
            return count >= 32 && digits > 0 && differentDigits >= 8
        }
        var frequencies: [UInt8: Double] = [:]
        for byte in text { frequencies[byte, default: 0] += 1 }
        let total = Double(count)
        // Shannon entropy in bits per character.
        let entropy = frequencies.values.reduce(0) { $0 - $1 / total * log2($1 / total) }
        // The share of neighbours of different kinds, except an upper-case letter before a
        // lower-case one.
        let changeCount = zip(kinds, kinds.dropFirst()).count { left, right in
            left != right && !(left == .upper && right == .lower)
        }
        let changeShare = Double(changeCount) / Double(count - 1)
        // The share of vowels among the letters.
        let letters = text.filter { kind($0) != .digit }
        let vowelCount = letters.count { "aeiou".utf8.contains($0 | 0x20) }
        let vowelShare = Double(vowelCount) / Double(letters.count)
        let uppers = kinds.count { $0 == .upper }
        if count >= 40, entropy >= 4.7 { return true }
        if count >= 32, entropy >= 4.5, changeShare >= 0.2 { return true }
        if entropy >= 3.5, digits + uppers >= 4, changeShare >= (digits > 0 ? 0.2 : 0.3) {
            return true
        }
        if count - digits >= 20, vowelShare < 0.22, entropy >= 3.7 { return true }
        return changeShare >= 0.1 && digits > 0 && vowelShare < 0.27 && entropy >= 3.7
    }

    private static func kind(_ byte: UInt8) -> Kind? {
        switch byte {
        case 0x30...0x39: .digit
        case 0x41...0x5a: .upper
        case 0x61...0x7a: .lower
        default: nil
        }
    }

    /// Returns the number of characters outside of words and numbers. A word has one case or is
    /// capitalised, may end with up to four digits, and has at most 16 characters. With this count,
    /// a name with a few random characters (`orders-7d9f8b6c5d-x2x4z`) isn't taken for a key.
    private static func count(outsideWords token: some BidirectionalCollection<UInt8>) -> Int {
        token.split(whereSeparator: { kind($0) == nil }).reduce(0) { sum, word in
            isWord(word) ? sum : sum + word.count
        }
    }

    private static func isWord(_ word: some BidirectionalCollection<UInt8>) -> Bool {
        guard word.count <= 16 else { return false }
        let letters = word.prefix { kind($0) != .digit }
        let rest = word.dropFirst(letters.count)
        guard rest.allSatisfy({ kind($0) == .digit }), letters.isEmpty || rest.count <= 4
        else { return false }
        return letters.dropFirst().allSatisfy { kind($0) == .lower }
            || letters.allSatisfy { kind($0) == .upper }
    }
}
