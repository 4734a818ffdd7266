import SignetBase
import SignetJSON
import SignetSystem

/// A foreign JWK with its numbers in the form of RFC 7518.
///
/// Other programs write a coordinate without its leading zero bytes or with one more, a modulus
/// with a zero byte before it, padding, and base64 with `+` and `/`. Each has one meaning.
enum RepairedJWK {
    /// Returns the text of a JWK or a JWK Set, and a note if a number was changed. What can't be
    /// repaired stays as it is.
    ///
    /// - Returns: The text, which the caller wipes.
    /// - Throws: `KeyError` with `malformedKeys` for text that isn't strict JSON.
    static func text(of bytes: [UInt8]) throws(KeyError) -> (text: [UInt8], notes: [String]) {
        let reader = try KeySet.reader(of: bytes)
        var text: [UInt8] = []
        // An array that grows leaves its old bytes in memory.
        let keys = keys(in: reader)
        text.reserveCapacity(bytes.count + 256 * keys.count)
        var copied = 0
        var changed: [String] = []
        for jwk in keys {
            let length = length(in: jwk, of: reader)
            for (name, value) in reader.members(of: jwk) where value.kind == .string {
                guard let name = reader.string(name), numbers.contains(name) else { continue }
                var old = reader.contents(of: value)
                var new = repaired(old, to: length)
                defer {
                    wipe(&old)
                    wipe(&new)
                }
                guard new != old else { continue }
                text += bytes[copied..<value.range.lowerBound]
                text.append(ASCII.quote)
                text += new
                text.append(ASCII.quote)
                copied = value.range.upperBound
                if !changed.contains(name) { changed.append(name) }
            }
        }
        text += bytes[copied...]
        guard !changed.isEmpty else { return (text, []) }
        return (
            text,
            [
                "rewrote \(changed.joined(separator: ", ")) of the JWK by RFC 7518: found padding, "
                    + "characters of another base64, or too many or too few zero bytes"
            ]
        )
    }

    private static let numbers: Set<String> = [
        "x", "y", "d", "k", "n", "e", "p", "q", "dp", "dq", "qi",
    ]

    /// The number of bytes of a key's numbers.
    private enum Length { case exactly(Int), fewest, asFound }

    private static func keys(in reader: JSONReader) -> [JSONReader.Element] {
        let set = JWKMembers(of: reader.root, in: reader)["keys"]
        return (set.map { reader.elements(of: $0) } ?? [reader.root]).filter { $0.kind == .object }
    }

    private static func length(in jwk: JSONReader.Element, of reader: JSONReader) -> Length {
        let members = JWKMembers(of: jwk, in: reader)
        let (kty, crv) = (members["kty"], members["crv"])
        switch (kty.flatMap { reader.string($0) }, crv.flatMap { reader.string($0) }) {
        case ("EC", "P-256"): return .exactly(32)
        case ("EC", "P-384"): return .exactly(48)
        case ("RSA", _): return .fewest
        default: return .asFound
        }
    }

    /// Returns a number's text in base64url; the same text if it isn't base64.
    private static func repaired(_ text: [UInt8], to length: Length) -> [UInt8] {
        var digits: [UInt8] = []
        defer { wipe(&digits) }
        digits.reserveCapacity(text.count)
        for byte in text {
            switch byte {
            case UInt8(ascii: "+"): digits.append(ASCII.minus)
            case UInt8(ascii: "/"): digits.append(UInt8(ascii: "_"))
            default: digits.append(byte)
            }
        }
        while digits.last == UInt8(ascii: "="), text.count - digits.count < 2 {
            digits.removeLast()
        }
        guard var bytes = Base64.decode(digits.span, from: .url) else { return text }
        defer { wipe(&bytes) }
        let zeros = bytes.prefix { $0 == 0 }.count
        switch length {
        case .asFound: return Base64.encodeBytes(bytes.span, as: .url)
        case .fewest:
            let number = bytes.span.extracting(droppingFirst: min(zeros, max(bytes.count - 1, 0)))
            return Base64.encodeBytes(number, as: .url)
        case .exactly(let count):
            guard !bytes.isEmpty, bytes.count - zeros <= count else { return text }
            var number = [UInt8](repeating: 0, count: count)
            defer { wipe(&number) }
            for (index, byte) in bytes.reversed().prefix(count).enumerated() {
                number[count - 1 - index] = byte
            }
            return Base64.encodeBytes(number.span, as: .url)
        }
    }
}
