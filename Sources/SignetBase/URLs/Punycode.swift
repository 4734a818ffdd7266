/// Encodes IDN labels as A-labels, for the letters on which IDNA2003, IDNA2008 and UTS 46 agree.
enum Punycode {
    /// Returns the A-label of a label with letters outside ASCII.
    ///
    /// - Throws: `HostError` with code `bad-host` for letters outside the set, because with a wrong
    ///   mapping the rule of one host would be applied to another.
    static func aLabel(of label: some Collection<Unicode.Scalar>) throws(HostError) -> String {
        var scalars: [Unicode.Scalar] = []
        for scalar in label {
            guard let mapped = mapped(scalar) else {
                throw HostError(
                    "the host has a label with U+\(hex(scalar)), whose mapping is ambiguous:"
                        + " write the label in ASCII (as an A-label, \"xn--…\")")
            }
            scalars.append(mapped)
        }
        if scalars.first == "-" || scalars.last == "-"
            || (scalars.count >= 4 && scalars[2] == "-" && scalars[3] == "-")
            || scalars.contains("_")
        {
            throw HostError(
                "the host has an internationalised label with a hyphen or underscore in a place"
                    + " that RFC 5891 forbids: write it in ASCII (as an A-label, \"xn--…\")")
        }
        return "xn--" + encode(scalars.map(\.value))
    }

    private static func hex(_ scalar: Unicode.Scalar) -> String {
        let digits = String(scalar.value, radix: 16, uppercase: true)
        return String(repeating: "0", count: max(0, 4 - digits.count)) + digits
    }

    /// Returns the letter in lower case, or nil if it isn't in the set. The set has precomposed
    /// letters only. It leaves out those that a later standard maps in another way (ß, ς, joiners),
    /// and scripts that are written from right to left.
    private static func mapped(_ scalar: Unicode.Scalar) -> Unicode.Scalar? {
        switch scalar.value {
        case 0x2D, 0x30...0x39, 0x5F, 0x61...0x7A: return scalar
        case 0x130, 0x132, 0x133, 0x13F, 0x140, 0x149, 0x17F: return nil
        case 0xC0...0xD6, 0xD8...0xDE, 0xE0...0xF6, 0xF8...0x17E: break
        case 0x386, 0x388...0x38A, 0x38C, 0x38E...0x3A1, 0x3A3...0x3C1, 0x3C3...0x3CE: break
        case 0x400...0x45F: break
        case 0x3041...0x3096, 0x30A1...0x30FA, 0x30FC, 0x4E00...0x9FA5, 0xAC00...0xD7A3:
            return scalar
        default: return nil
        }
        let lower = scalar.properties.lowercaseMapping.unicodeScalars
        return lower.count == 1 ? lower.first : nil
    }

    /// Encodes as in RFC 3492, section 6.3, with the parameters of section 5.
    static func encode(_ input: [UInt32]) -> String {
        var output = input.filter { $0 < 0x80 }.map { UInt8(truncatingIfNeeded: $0) }
        let basicCount = output.count
        if basicCount > 0 { output.append(UInt8(ascii: "-")) }
        var handled = basicCount
        var next: UInt32 = 0x80
        var delta = 0
        var bias = 72
        while handled < input.count, let smallest = input.lazy.filter({ $0 >= next }).min() {
            delta += Int(smallest - next) * (handled + 1)
            next = smallest
            for value in input {
                if value < next { delta += 1 }
                guard value == next else { continue }
                var quotient = delta
                var position = 36
                while true {
                    let threshold = min(max(position - bias, 1), 26)
                    if quotient < threshold { break }
                    output.append(digit(threshold + (quotient - threshold) % (36 - threshold)))
                    quotient = (quotient - threshold) / (36 - threshold)
                    position += 36
                }
                output.append(digit(quotient))
                bias = adapt(delta, count: handled + 1, isFirst: handled == basicCount)
                delta = 0
                handled += 1
            }
            delta += 1
            next += 1
        }
        return String(decoding: output, as: UTF8.self)
    }

    private static func digit(_ value: Int) -> UInt8 {
        UInt8(truncatingIfNeeded: value < 26 ? value + 0x61 : value - 26 + 0x30)
    }

    private static func adapt(_ delta: Int, count: Int, isFirst: Bool) -> Int {
        var delta = isFirst ? delta / 700 : delta / 2
        delta += delta / count
        var position = 0
        while delta > 455 {
            delta /= 35
            position += 36
        }
        return position + 36 * delta / (delta + 38)
    }
}
