/// Percent-encoding and percent-decoding (RFC 3986, section 2.1).
enum PercentCoding {
    /// The bytes that are not encoded.
    enum Keeping: Sendable {
        /// Letters, digits and `-._~` (RFC 3986, section 2.3).
        case unreserved
        /// The unreserved bytes and `/`.
        case unreservedAndSlash
    }

    static func append(
        _ bytes: some Collection<UInt8>, keeping: Keeping, to target: inout [UInt8]
    ) {
        let keepsSlash = keeping == .unreservedAndSlash
        // Most texts need no encoding.
        guard !bytes.allSatisfy({ $0.isUnreserved || (keepsSlash && $0 == ASCII.slash) }) else {
            return target.append(contentsOf: bytes)
        }
        for byte in bytes {
            if byte.isUnreserved || (keepsSlash && byte == ASCII.slash) {
                target.append(byte)
            } else {
                target.append(0x25)
                target.append(digit(byte >> 4))
                target.append(digit(byte & 15))
            }
        }
    }

    private static func digit(_ value: UInt8) -> UInt8 {
        value < 10 ? ASCII.zero + value : 0x41 + value - 10
    }

    /// Returns the bytes with each percent-encoded triplet decoded. A percent sign without two
    /// hexadecimal digits after it is kept.
    ///
    /// - Parameters:
    ///   - bytes: The encoded bytes.
    ///   - plusIsSpace: Whether `+` is decoded as a space, as in a form (WHATWG URL, section 5.1).
    static func decoded(_ bytes: ArraySlice<UInt8>, plusIsSpace: Bool = false) -> [UInt8] {
        var result: [UInt8] = []
        result.reserveCapacity(bytes.count)
        appendDecoded(bytes, plusIsSpace: plusIsSpace, to: &result)
        return result
    }

    /// Appends the result of `decoded`.
    static func appendDecoded(
        _ bytes: ArraySlice<UInt8>, plusIsSpace: Bool, to target: inout [UInt8]
    ) {
        guard bytes.contains(where: { $0 == 0x25 || (plusIsSpace && $0 == 0x2B) }) else {
            return target.append(contentsOf: bytes)
        }
        var index = bytes.startIndex
        while index < bytes.endIndex {
            let byte = bytes[index]
            if byte == 0x25, index + 2 < bytes.endIndex, let high = bytes[index + 1].hexValue,
                let low = bytes[index + 2].hexValue
            {
                target.append(high << 4 | low)
                index += 3
            } else {
                target.append(plusIsSpace && byte == 0x2B ? ASCII.space : byte)
                index += 1
            }
        }
    }

    /// Returns a path without `.`, `..` and empty segments, as AWS's clients sign it. It ends with
    /// a slash only if the given path does: `/a/.` becomes `/a`, although RFC 3986 would give
    /// `/a/`.
    static func normalized(path: ArraySlice<UInt8>) -> [UInt8] {
        var segments: [ArraySlice<UInt8>] = []
        for segment in path.split(separator: ASCII.slash) {
            let isDots = segment.allSatisfy { $0 == ASCII.dot } && segment.count <= 2
            if !isDots {
                segments.append(segment)
            } else if segment.count == 2 {
                _ = segments.popLast()
            }
        }
        var result: [UInt8] = []
        for segment in segments {
            result.append(ASCII.slash)
            result.append(contentsOf: segment)
        }
        if path.last == ASCII.slash || result.isEmpty { result.append(ASCII.slash) }
        return result
    }
}

extension UInt8 {
    /// The value of a hexadecimal digit, or `nil` for any other byte.
    var hexValue: UInt8? {
        if isDigit { return self - ASCII.zero }
        let letter = lowercased
        return letter &- 0x61 < 6 ? letter - 0x61 + 10 : nil
    }
}
