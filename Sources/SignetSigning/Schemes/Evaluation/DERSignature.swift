/// The DER form of an ECDSA signature: a SEQUENCE of the INTEGERs r and s (RFC 3279, section
/// 2.2.3).
struct DERSignature {
    /// The numbers r and s, big-endian without leading zeros.
    private let numbers: [ArraySlice<UInt8>]

    /// Parses a signature.
    ///
    /// - Returns: `nil` if the text is not exactly the DER of two positive numbers: if a length or
    ///   a number is longer than necessary, or if bytes follow.
    init?(_ der: [UInt8]) {
        var rest = der[...]
        guard let pair = Self.content(of: 0x30, in: &rest), rest.isEmpty else { return nil }
        rest = pair
        var numbers: [ArraySlice<UInt8>] = []
        while !rest.isEmpty {
            guard let number = Self.content(of: 0x02, in: &rest), let first = number.first
            else { return nil }
            // A first bit of 1 means a negative number. A zero byte comes first only to avoid it.
            let digits = first == 0 ? number.dropFirst() : number
            guard let next = digits.first, (next >= 0x80) == (first == 0) else { return nil }
            numbers.append(digits)
        }
        guard numbers.count == 2 else { return nil }
        self.numbers = numbers
    }

    /// Returns r and s at a fixed length each, or `nil` if one is too long.
    func raw(byteCount: Int) -> [UInt8]? {
        let half = byteCount / 2
        guard numbers.allSatisfy({ $0.count <= half }) else { return nil }
        return numbers.flatMap { [UInt8](repeating: 0, count: half - $0.count) + $0 }
    }

    /// Returns the DER of r followed by s, which are equally long.
    static func der(ofRaw raw: [UInt8]) -> [UInt8] {
        let half = raw.count / 2
        let integers = [raw[..<half], raw[half...]].flatMap { number in
            let digits = number.drop { $0 == 0 }
            let isPadded = digits.first.map { $0 >= 0x80 } ?? true
            return element(0x02, content: (isPadded ? [0] : []) + digits)
        }
        return element(0x30, content: integers)
    }

    /// The lengths of P-256 and P-384 need one byte each.
    private static func element(_ tag: UInt8, content: [UInt8]) -> [UInt8] {
        [tag, UInt8(content.count)] + content
    }

    /// Removes an element with a length of one byte, and returns its content.
    private static func content(
        of tag: UInt8, in text: inout ArraySlice<UInt8>
    ) -> ArraySlice<UInt8>? {
        let head = text.prefix(2)
        guard head.count == 2, head.first == tag, let length = head.last, length < 0x80 else {
            return nil
        }
        let content = text.dropFirst(2).prefix(Int(length))
        guard content.count == length else { return nil }
        text = text.dropFirst(2 + content.count)
        return content
    }
}
