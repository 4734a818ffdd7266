/// Base64 (RFC 4648) in the one spelling that each value has.
///
/// Decoding refuses what other decoders forgive: white space, letters of the other alphabet,
/// padding in `url` form, missing padding in `standard` form, and bits set behind the last byte. So
/// two texts are the same bytes exactly when they are the same text.
package enum Base64 {
    package enum Form: Sendable, Hashable {
        /// Section 4: `+` and `/`, padded with `=`.
        case standard
        /// Section 5: `-` and `_`, without padding, as JOSE wants it.
        case url
    }

    /// The text of `bytes`, as a string.
    package static func encode(_ bytes: Span<UInt8>, _ form: Form) -> String {
        let count = encodedCount(bytes.count, form)
        return unsafe String(unsafeUninitializedCapacity: count) { target in
            unsafe write(bytes, form, to: target)
            return count
        }
    }

    /// The text of an array's bytes, as a string.
    package static func encode(_ bytes: [UInt8], _ form: Form) -> String {
        encode(bytes.span, form)
    }

    /// The text of `bytes`, as ASCII.
    package static func encodeBytes(_ bytes: Span<UInt8>, _ form: Form) -> [UInt8] {
        let count = encodedCount(bytes.count, form)
        return unsafe [UInt8](unsafeUninitializedCapacity: count) { target, written in
            unsafe write(bytes, form, to: target)
            written = count
        }
    }

    /// Adds the text of `bytes`, as ASCII, to the end of `text`.
    package static func append(_ bytes: Span<UInt8>, _ form: Form, to text: inout [UInt8]) {
        let count = encodedCount(bytes.count, form)
        text.append(addingCapacity: count) { (target: inout OutputSpan<UInt8>) in
            unsafe target.withUnsafeMutableBufferPointer { target, written in
                unsafe write(
                    bytes, form, to: UnsafeMutableBufferPointer(rebasing: target[written...]))
                written += count
            }
        }
    }

    /// The bytes that `text` stands for, or nil where it is not their one spelling.
    package static func decode(_ text: Span<UInt8>, _ form: Form) -> [UInt8]? {
        var count = text.count
        if form == .standard {
            guard count % 4 == 0 else { return nil }
            if count > 0, text[count - 1] == UInt8(ascii: "=") {
                count -= text[count - 2] == UInt8(ascii: "=") ? 2 : 1
            }
        }
        guard count % 4 != 1 else { return nil }
        let byteCount = count / 4 * 3 + [0, 0, 1, 2][count % 4]
        var isCanonical = false
        let bytes = unsafe [UInt8](unsafeUninitializedCapacity: byteCount) { target, written in
            isCanonical = unsafe read(text.extracting(first: count), form, to: target)
            written = isCanonical ? byteCount : 0
        }
        return isCanonical ? bytes : nil
    }

    /// The bytes that an array's ASCII stands for, or nil.
    package static func decode(_ text: [UInt8], _ form: Form) -> [UInt8]? {
        decode(text.span, form)
    }

    /// The bytes that a string stands for, or nil.
    package static func decode(_ text: String, _ form: Form) -> [UInt8]? {
        decode([UInt8](text.utf8).span, form)
    }

    /// Bytes of text that `byteCount` bytes take.
    package static func encodedCount(_ byteCount: Int, _ form: Form) -> Int {
        switch form {
        case .standard: (byteCount + 2) / 3 * 4
        case .url: byteCount / 3 * 4 + [0, 2, 3][byteCount % 3]
        }
    }
}

// MARK: - Encoding

extension Base64 {
    // Sixteen letters at a time: four groups of three bytes, one in each 32-bit lane, then the
    // letters by comparing all sixteen at once, without a table (which a cache could give away).
    private static func write(
        _ source: Span<UInt8>, _ form: Form, to target: UnsafeMutableBufferPointer<UInt8>
    ) {
        guard let out = target.baseAddress else { return }
        let plus: UInt8 = form == .standard ? 43 : 45
        let slash: UInt8 = form == .standard ? 47 : 95
        unsafe source.withUnsafeBytes { input in
            guard let base = input.baseAddress else { return }
            let count = input.count
            var read = 0
            var written = 0
            // The last lane reads four bytes from offset 9.
            while count - read >= 13 {
                let at = unsafe base + read
                var lanes = SIMD4<UInt32>(
                    unsafe at.loadUnaligned(as: UInt32.self).bigEndian,
                    unsafe at.loadUnaligned(fromByteOffset: 3, as: UInt32.self).bigEndian,
                    unsafe at.loadUnaligned(fromByteOffset: 6, as: UInt32.self).bigEndian,
                    unsafe at.loadUnaligned(fromByteOffset: 9, as: UInt32.self).bigEndian)
                lanes = sextets(lanes)
                let letters = letters(
                    unsafe unsafeBitCast(lanes, to: SIMD16<UInt8>.self), plus: plus, slash: slash)
                unsafe UnsafeMutableRawPointer(out + written)
                    .storeBytes(of: letters, as: SIMD16<UInt8>.self)
                read += 12
                written += 16
            }
            while count - read >= 1 {
                let left = count - read
                let a = UInt32(unsafe input[read])
                let b = left > 1 ? UInt32(unsafe input[read + 1]) : 0
                let c = left > 2 ? UInt32(unsafe input[read + 2]) : 0
                let group = a << 16 | b << 8 | c
                let letters = min(left, 3) + 1
                for index in 0..<4 {
                    if index < letters {
                        let sextet = UInt8(truncatingIfNeeded: group >> UInt32(18 - 6 * index)) & 63
                        unsafe out[written] = letter(sextet, plus: plus, slash: slash)
                    } else if form == .standard {
                        unsafe out[written] = UInt8(ascii: "=")
                    } else {
                        break
                    }
                    written += 1
                }
                read += 3
            }
        }
    }

    /// From three bytes in the upper part of each lane to four sextets, the first lowest.
    @inline(__always)
    private static func sextets(_ lanes: SIMD4<UInt32>) -> SIMD4<UInt32> {
        let mask = SIMD4<UInt32>(repeating: 63)
        let first = lanes &>> 26
        let second = (lanes &>> 12) & (mask &<< 8)
        let third = (lanes &<< 2) & (mask &<< 16)
        let fourth = (lanes &<< 16) & (mask &<< 24)
        return first | second | third | fourth
    }

    @inline(__always)
    private static func letters(
        _ sextets: SIMD16<UInt8>, plus: UInt8, slash: UInt8
    ) -> SIMD16<UInt8> {
        // "A" is 65 above its sextet, "a" 71, "0" 4 below.
        var offset = SIMD16<UInt8>(repeating: 65)
        offset.replace(with: 71, where: sextets .> 25)
        offset.replace(with: 252, where: sextets .> 51)
        offset.replace(with: plus &- 62, where: sextets .== 62)
        offset.replace(with: slash &- 63, where: sextets .== 63)
        return sextets &+ offset
    }

    private static func letter(_ sextet: UInt8, plus: UInt8, slash: UInt8) -> UInt8 {
        switch sextet {
        case 0...25: sextet + 65
        case 26...51: sextet + 71
        case 52...61: sextet - 4
        case 62: plus
        default: slash
        }
    }
}

// MARK: - Decoding

extension Base64 {
    /// Writes the bytes of unpadded `text`; false where a letter is foreign or a last bit is set.
    private static func read(
        _ text: Span<UInt8>, _ form: Form, to target: UnsafeMutableBufferPointer<UInt8>
    ) -> Bool {
        let plus: UInt8 = form == .standard ? 43 : 45
        let slash: UInt8 = form == .standard ? 47 : 95
        return unsafe text.withUnsafeBytes { input in
            guard let base = input.baseAddress, let out = target.baseAddress else {
                return text.isEmpty
            }
            let raw = UnsafeMutableRawPointer(out)
            let count = input.count
            var read = 0
            var written = 0
            var foreign = SIMD16<UInt8>(repeating: 0)
            // Each lane writes four bytes, the last of which the next one overwrites; so the
            // vector stops where a fourth byte would be written behind the end.
            while count - read >= 20 {
                let letters = unsafe (base + read).loadUnaligned(as: SIMD16<UInt8>.self)
                let (sextets, wrong) = sextets(letters, plus: plus, slash: slash)
                foreign |= wrong
                let lanes = unsafe joined(unsafeBitCast(sextets, to: SIMD4<UInt32>.self))
                unsafe (raw + written).storeBytes(of: lanes[0].bigEndian, as: UInt32.self)
                unsafe (raw + written + 3).storeBytes(of: lanes[1].bigEndian, as: UInt32.self)
                unsafe (raw + written + 6).storeBytes(of: lanes[2].bigEndian, as: UInt32.self)
                unsafe (raw + written + 9).storeBytes(of: lanes[3].bigEndian, as: UInt32.self)
                read += 16
                written += 12
            }
            guard foreign == SIMD16<UInt8>(repeating: 0) else { return false }
            while read < count {
                let left = min(count - read, 4)
                var group: UInt32 = 0
                for index in 0..<4 {
                    group <<= 6
                    guard index < left else { continue }
                    guard let value = unsafe sextet(input[read + index], plus: plus, slash: slash)
                    else { return false }
                    group |= UInt32(value)
                }
                for index in 0..<(left - 1) {
                    unsafe out[written] = UInt8(truncatingIfNeeded: group >> UInt32(16 - 8 * index))
                    written += 1
                }
                // What stands behind the last whole byte must be zero.
                if left == 2, group & 0xffff != 0 { return false }
                if left == 3, group & 0xff != 0 { return false }
                read += left
            }
            return true
        }
    }

    /// The value of each letter, and a byte that is not zero for each that is foreign.
    @inline(__always)
    private static func sextets(
        _ letters: SIMD16<UInt8>, plus: UInt8, slash: UInt8
    ) -> (values: SIMD16<UInt8>, foreign: SIMD16<UInt8>) {
        let upper = letters &- 65
        let lower = letters &- 97
        let digit = letters &- 48
        var values = SIMD16<UInt8>(repeating: 255)
        values.replace(with: upper, where: upper .< 26)
        values.replace(with: lower &+ 26, where: lower .< 26)
        values.replace(with: digit &+ 52, where: digit .< 10)
        values.replace(with: 62, where: letters .== plus)
        values.replace(with: 63, where: letters .== slash)
        return (values, values & 192)
    }

    /// From four sextets a lane, the first lowest, to three bytes in its upper part.
    @inline(__always)
    private static func joined(_ lanes: SIMD4<UInt32>) -> SIMD4<UInt32> {
        let mask = SIMD4<UInt32>(repeating: 63)
        let first = (lanes & mask) &<< 26
        let second = (lanes & (mask &<< 8)) &<< 12
        let third = (lanes & (mask &<< 16)) &>> 2
        let fourth = (lanes & (mask &<< 24)) &>> 16
        return first | second | third | fourth
    }

    private static func sextet(_ letter: UInt8, plus: UInt8, slash: UInt8) -> UInt8? {
        switch letter {
        case 65...90: letter - 65
        case 97...122: letter - 71
        case 48...57: letter + 4
        case plus: 62
        case slash: 63
        default: nil
        }
    }
}
