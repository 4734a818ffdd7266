/// Percent-encoding and percent-decoding (RFC 3986, section 2.1).
package enum PercentCoding {
    /// Letters, digits and `-._~` (RFC 3986, section 2.3).
    package static let unreserved = ASCIISet(lettersDigitsAnd: "-._~")
    /// The characters that a form doesn't encode, without the space (WHATWG URL, section 1.3).
    package static let form = ASCIISet(lettersDigitsAnd: "*-._")

    /// Appends bytes, and encodes those that are not in a set, with upper-case digits.
    package static func append(
        _ bytes: ArraySlice<UInt8>, keeping kept: ASCIISet, to target: inout [UInt8]
    ) {
        // Most texts need no encoding.
        guard !bytes.allSatisfy({ kept.contains($0) }) else {
            return target.append(contentsOf: bytes)
        }
        for byte in bytes {
            if kept.contains(byte) {
                target.append(byte)
            } else {
                target.append(UInt8(ascii: "%"))
                target.append(digit(byte >> 4))
                target.append(digit(byte & 15))
            }
        }
    }

    private static func digit(_ value: UInt8) -> UInt8 { value < 10 ? 0x30 + value : 0x37 + value }

    /// Returns a text in which the bytes that are not in a set are encoded.
    package static func encoded(_ text: String, keeping kept: ASCIISet = unreserved) -> String {
        var bytes: [UInt8] = []
        append(Array(text.utf8)[...], keeping: kept, to: &bytes)
        return String(decoding: bytes, as: UTF8.self)
    }

    /// Returns the bytes with each escape decoded; nil if a percent sign isn't followed by two
    /// hexadecimal digits.
    ///
    /// - Parameters:
    ///   - bytes: The encoded bytes.
    ///   - plusIsSpace: Whether `+` is decoded as a space, as in a form (WHATWG URL, section 5.1).
    package static func decoded(_ bytes: ArraySlice<UInt8>, plusIsSpace: Bool = false) -> [UInt8]? {
        var result: [UInt8] = []
        // Reserved first, because growing would leave copies of a decoded password in memory.
        result.reserveCapacity(bytes.count)
        return appendDecoded(bytes, plusIsSpace: plusIsSpace, to: &result) ? result : nil
    }

    /// Appends the bytes with each escape decoded. A percent sign without two hexadecimal digits
    /// stays.
    ///
    /// - Returns: Whether every percent sign began an escape.
    @discardableResult package static func appendDecoded(
        _ bytes: ArraySlice<UInt8>, plusIsSpace: Bool = false, to target: inout [UInt8]
    ) -> Bool {
        let percent = UInt8(ascii: "%")
        let plus = UInt8(ascii: "+")
        guard bytes.contains(where: { $0 == percent || (plusIsSpace && $0 == plus) }) else {
            target.append(contentsOf: bytes)
            return true
        }
        var isValid = true
        var index = bytes.startIndex
        while index < bytes.endIndex {
            let byte = bytes[index]
            index += 1
            if byte == percent {
                if index + 1 < bytes.endIndex, let high = bytes[index].hexDigitValue,
                    let low = bytes[index + 1].hexDigitValue
                {
                    target.append(high << 4 | low)
                    index += 2
                    continue
                }
                isValid = false
            }
            target.append(plusIsSpace && byte == plus ? 0x20 : byte)
        }
        return isValid
    }
}

extension RandomAccessCollection<UInt8> where Index == Int {
    /// Whether two hexadecimal digits follow the percent sign at an index.
    package func hasPercentEscape(at index: Int) -> Bool {
        index + 2 < endIndex && self[index + 1].isHexDigit && self[index + 2].isHexDigit
    }
}
