extension HostName {
    /// The 4 or 16 bytes of the address in network order; nil for a name.
    package var addressBytes: [UInt8]? {
        switch kind {
        case .name: nil
        case .ipv4: text.split(separator: ".").compactMap { UInt8($0) }
        case .ipv6:
            Self.ipv6Groups(text)?.flatMap { [UInt8($0 >> 8), UInt8(truncatingIfNeeded: $0)] }
        }
    }

    /// Returns whether resolvers read a name that ends in this label as an IPv4 address.
    static func looksNumeric(_ label: String) -> Bool {
        let bytes = Array(label.utf8)
        if bytes.allSatisfy(\.isDigit) { return true }
        return bytes.count >= 2 && bytes[0] == UInt8(ascii: "0") && bytes[1] == UInt8(ascii: "x")
            && bytes[2...].allSatisfy(\.isHexDigit)
    }

    /// Reads one to four numbers, decimal, octal or hexadecimal, as `inet_aton` does.
    static func canonicalIPv4(_ parts: [String]) throws(HostError) -> String {
        let malformed = HostError(
            "the host ends in a number, but isn't an IPv4 address: write four numbers from 0 to 255"
        )
        guard parts.count <= 4 else { throw malformed }
        var address: UInt64 = 0
        for (index, part) in parts.enumerated() {
            // The last number fills the rest of the address.
            let size = index < parts.count - 1 ? 1 : 5 - parts.count
            guard let number = number(part), number < 1 << (8 * size) else { throw malformed }
            address |= number << (8 * (4 - index - size))
        }
        return [24, 16, 8, 0].map { String(address >> $0 & 255) }.joined(separator: ".")
    }

    private static func number(_ text: String) -> UInt64? {
        let (radix, digits) =
            if text.startsWithBytes(of: "0x") {
                (16, text.dropFirst(2))
            } else if text.startsWithBytes(of: "0"), text.utf8.count > 1 {
                (8, text.dropFirst(1))
            } else {
                (10, text[...])
            }
        if radix == 16, digits.isEmpty { return 0 }
        guard digits.utf8.allSatisfy(\.isHexDigit), digits.utf8.count <= 16 else {
            return nil
        }
        return UInt64(digits, radix: radix)
    }

    /// Reads an IPv6 address, with or without brackets (RFC 4291, section 2.2).
    ///
    /// An IPv4-mapped address (section 2.5.5.2) becomes the IPv4 address. Systems connect to that,
    /// so the rules for that address must apply.
    static func canonicalIPv6(_ bytes: [UInt8]) throws(HostError) -> HostName {
        var inside = bytes[...]
        if inside.first == UInt8(ascii: "[") {
            guard inside.last == UInt8(ascii: "]") else {
                throw HostError(
                    "expected \"]\" as the last character after \"[\", without a port or path")
            }
            inside = inside.dropFirst().dropLast()
        } else if bytes.filter({ $0 == UInt8(ascii: ":") }).count == 1 {
            throw HostError("expected a host without a port (found \":\")")
        }
        if inside.contains(UInt8(ascii: "%")) {
            throw HostError("an IPv6 address with a zone (\"%\") isn't allowed")
        }
        guard let groups = ipv6Groups(String(decoding: inside, as: UTF8.self)) else {
            throw HostError("the host has a \":\", but isn't an IPv6 address (RFC 4291)")
        }
        if groups[..<5].allSatisfy({ $0 == 0 }), groups[5] == 0xFFFF {
            let bytes = groups[6...].flatMap { [$0 >> 8, $0 & 0xFF] }
            return HostName(text: bytes.map(String.init).joined(separator: "."), kind: .ipv4)
        }
        return HostName(text: ipv6Text(groups), kind: .ipv6)
    }

    private static func ipv6Groups(_ text: String) -> [UInt16]? {
        let halves = text.utf8.split(separator: "::".utf8, omittingEmptySubsequences: false)
        guard halves.count <= 2 else { return nil }
        guard let start = groups(Substring(halves[0]), mayEndInIPv4: halves.count == 1) else {
            return nil
        }
        guard halves.count == 2 else { return start.count == 8 ? start : nil }
        guard let end = groups(Substring(halves[1]), mayEndInIPv4: true) else { return nil }
        let missing = 8 - start.count - end.count
        return missing >= 1 ? start + [UInt16](repeating: 0, count: missing) + end : nil
    }

    private static func groups(_ text: Substring, mayEndInIPv4: Bool) -> [UInt16]? {
        if text.isEmpty { return [] }
        var result: [UInt16] = []
        let parts = text.split(separator: ":", omittingEmptySubsequences: false)
        for (index, part) in parts.enumerated() {
            if part.contains(".") {
                guard mayEndInIPv4, index == parts.count - 1 else { return nil }
                let numbers = part.split(separator: ".", omittingEmptySubsequences: false)
                guard numbers.count == 4 else { return nil }
                var address: UInt32 = 0
                for number in numbers {
                    // No sign and no leading zero.
                    guard let value = UInt8(number), String(value) == number else { return nil }
                    address = address << 8 | UInt32(value)
                }
                result.append(UInt16(truncatingIfNeeded: address >> 16))
                result.append(UInt16(truncatingIfNeeded: address))
            } else {
                guard (1...4).contains(part.utf8.count),
                    part.utf8.allSatisfy(\.isHexDigit),
                    let value = UInt16(part, radix: 16)
                else { return nil }
                result.append(value)
            }
        }
        return result.count <= 8 ? result : nil
    }

    /// Returns the form of RFC 5952, with the first longest run of zero groups as `::`.
    private static func ipv6Text(_ groups: [UInt16]) -> String {
        var best = 0..<0
        var index = 0
        while index < 8 {
            var end = index
            while end < 8, groups[end] == 0 { end += 1 }
            if end - index > max(best.count, 1) { best = index..<end }
            index = max(end, index + 1)
        }
        let words = groups.map { String($0, radix: 16) }
        if best.isEmpty { return words.joined(separator: ":") }
        return words[..<best.lowerBound].joined(separator: ":") + "::"
            + words[best.upperBound...].joined(separator: ":")
    }
}
