import SignetBase
import SignetCrypto

/// Finds known values in bytes, as they are and in the usual encodings.
struct KnownSecrets: Sendable, CustomStringConvertible, CustomReflectable {
    /// A form of a value.
    private struct Pattern: Sendable {
        let bytes: [UInt8]
        /// The value itself, which all its forms share a mark for.
        let secret: Int
    }

    /// Shorter values are found as whole texts only.
    private static let shortest = 4

    private let secrets: [[UInt8]]
    private let patterns: [Pattern]
    /// The patterns that begin with a byte.
    private let starts: [[Int]]
    private let short: Set<[UInt8]>
    /// Whether a pattern begins with two bytes, by both as a number.
    private let beginnings: [Bool]

    var description: String { "KnownSecrets(\(secrets.count))" }

    /// A mirror without values.
    var customMirror: Mirror { Mirror(self, children: []) }

    var isEmpty: Bool { patterns.isEmpty && short.isEmpty }

    init(_ secrets: [[UInt8]]) {
        self.secrets = secrets
        short = Set(secrets.filter { $0.count < Self.shortest })
        var patterns: [Pattern] = []
        for (index, secret) in secrets.enumerated() where secret.count >= Self.shortest {
            var seen: Set<[UInt8]> = []
            for form in Self.forms(of: secret)
            where form.count >= Self.shortest && seen.insert(form).inserted {
                patterns.append(Pattern(bytes: form, secret: index))
            }
        }
        // The longest first, so that a value isn't left over behind a shorter one.
        patterns.sort { $0.bytes.count > $1.bytes.count }
        var starts = [[Int]](repeating: [], count: 256)
        var beginnings = [Bool](repeating: false, count: patterns.isEmpty ? 0 : 1 << 16)
        for (index, pattern) in patterns.enumerated() {
            starts[Int(pattern.bytes[0])].append(index)
            beginnings[Int(pattern.bytes[0]) << 8 | Int(pattern.bytes[1])] = true
        }
        self.patterns = patterns
        self.starts = starts
        self.beginnings = beginnings
    }

    /// The value, JSON-escaped, percent-encoded, in hexadecimal, and in base64, also as a part of a
    /// longer text that is encoded as a whole.
    private static func forms(of secret: [UInt8]) -> [[UInt8]] {
        var forms = [secret]
        forms.append(escaped(secret, escapingSlash: false))
        forms.append(escaped(secret, escapingSlash: true))
        forms.append(Array(XMLReader.escaped(String(decoding: secret, as: UTF8.self)).utf8))
        for kept in [PercentCoding.unreserved, PercentCoding.form] {
            var encoded: [UInt8] = []
            PercentCoding.append(secret[...], keeping: kept, to: &encoded)
            for form in [encoded, lowercasingEscapes(of: encoded)] {
                forms.append(form)
                let words = form.split(
                    separator: Array("%20".utf8), omittingEmptySubsequences: false)
                forms.append(Array(words.joined(separator: [ASCII.plus])))
            }
        }
        forms.append(secret.hexadecimal())
        forms.append(secret.hexadecimal(ten: 0x41))
        for offset in 0..<3 {
            // The characters that depend on the value alone.
            let padded = [UInt8](repeating: 0, count: offset) + secret
            let first = (offset * 8 + 5) / 6
            let end = padded.count * 8 / 6
            guard end > first else { continue }
            for form in [Base64.Form.standard, .url] {
                let text = Base64.encodeBytes(padded.span, as: form)
                forms.append(Array(text[first..<end]))
            }
        }
        return forms
    }

    private static func escaped(_ bytes: [UInt8], escapingSlash: Bool) -> [UInt8] {
        var text: [UInt8] = []
        for byte in bytes {
            switch byte {
            case ASCII.quote, ASCII.backslash: text += [ASCII.backslash, byte]
            case ASCII.slash where escapingSlash: text += [ASCII.backslash, byte]
            case ASCII.lineFeed: text += [ASCII.backslash, UInt8(ascii: "n")]
            case ASCII.carriageReturn: text += [ASCII.backslash, UInt8(ascii: "r")]
            case ASCII.tab: text += [ASCII.backslash, UInt8(ascii: "t")]
            default: text.append(byte)
            }
        }
        return text
    }

    private static func lowercasingEscapes(of bytes: [UInt8]) -> [UInt8] {
        var bytes = bytes
        for index in bytes.indices where bytes[index] == UInt8(ascii: "%") {
            for digit in [index + 1, index + 2] where digit < bytes.count {
                bytes[digit] = bytes[digit].lowercased
            }
        }
        return bytes
    }

    /// A place of a known value.
    struct Place {
        let range: Range<Int>
        /// The value, whatever its form there.
        let secret: [UInt8]
    }

    /// Returns the places of values in bytes, in their order, outside of marks.
    ///
    /// A value that is a part of a word takes the word with it: a letter or a digit beside a mark
    /// would make it another text, and the rest of an escape isn't one.
    func places(in bytes: [UInt8]) -> [Place] {
        guard !isEmpty else { return [] }
        if short.contains(bytes) { return [Place(range: 0..<bytes.count, secret: bytes)] }
        guard !patterns.isEmpty else { return [] }
        var places: [Place] = []
        var kept = 0
        for mark in RedactionMark.all(in: bytes) + [(bytes.count..<bytes.count, 0)] {
            find(in: bytes, from: kept, to: mark.range.lowerBound, adding: &places)
            kept = mark.range.upperBound
        }
        return places
    }

    private func find(in bytes: [UInt8], from start: Int, to end: Int, adding places: inout [Place])
    {
        let span = bytes.span
        let beginnings = beginnings.span
        var at = start
        scan: while at + 1 < end {
            guard beginnings[Int(span[at]) << 8 | Int(span[at + 1])] else {
                at += 1
                continue
            }
            for index in starts[Int(span[at])] {
                let pattern = patterns[index]
                guard at + pattern.bytes.count <= end,
                    Self.matches(span, at: at, pattern.bytes.span)
                else { continue }
                let exact = at..<at + pattern.bytes.count
                let range = Self.word(around: exact, in: bytes, within: start..<end)
                at = range.upperBound
                var secret = range == exact ? secrets[pattern.secret] : Array(bytes[range])
                if let last = places.last, last.range.upperBound >= range.lowerBound {
                    places.removeLast()
                    let whole = last.range.lowerBound..<range.upperBound
                    secret = Array(bytes[whole])
                    places.append(Place(range: whole, secret: secret))
                } else {
                    places.append(Place(range: range, secret: secret))
                }
                continue scan
            }
            at += 1
        }
    }

    private static func word(
        around range: Range<Int>, in bytes: [UInt8], within whole: Range<Int>
    ) -> Range<Int> {
        var (start, end) = (range.lowerBound, range.upperBound)
        while start > whole.lowerBound, isWord(bytes[start - 1], orEscape: true) { start -= 1 }
        while end < whole.upperBound, isWord(bytes[end], orEscape: false) { end += 1 }
        return start..<end
    }

    private static func isWord(_ byte: UInt8, orEscape: Bool) -> Bool {
        byte.isLetterOrDigit
            || orEscape && (byte == UInt8(ascii: "%") || byte == ASCII.backslash)
    }

    /// Whether bytes have a value in any form.
    func occur(in bytes: [UInt8]) -> Bool { !places(in: bytes).isEmpty }

    /// Whether a part of bytes, judged alone, may have a value.
    func mayOccur(inPartsOf bytes: [UInt8]) -> Bool { !short.isEmpty || occur(in: bytes) }

    private static func matches(
        _ bytes: borrowing Span<UInt8>, at start: Int, _ pattern: borrowing Span<UInt8>
    ) -> Bool {
        guard bytes.count - start >= pattern.count else { return false }
        for index in pattern.indices where bytes[start + index] != pattern[index] { return false }
        return true
    }
}
