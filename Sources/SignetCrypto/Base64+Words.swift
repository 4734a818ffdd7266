internal import CSignetOpenSSL

// Eight letters at a time in one 64-bit word, each in a byte of its own: what stands here computes
// every letter and looks none up, so nothing is told by the time it takes. The long middle goes
// through 256-bit registers where the machine has them.

/// One in each byte of a word.
private let ones: UInt64 = 0x0101_0101_0101_0101

extension Base64.Form {
    /// The letters of 62 and 63.
    fileprivate var last: (plus: UInt8, slash: UInt8) {
        switch self {
        case .standard: (UInt8(ascii: "+"), UInt8(ascii: "/"))
        case .url: (UInt8(ascii: "-"), UInt8(ascii: "_"))
        }
    }
}

/// 1 in each byte that is `bound` or more, else 0; for bytes below 128 and bounds in 1...128.
@inline(__always)
private func atLeast(_ bound: UInt64, _ word: UInt64) -> UInt64 {
    ((word &+ (128 &- bound) &* ones) & (0x80 &* ones)) &>> 7
}

/// `factor` times each byte of `flags`; the bytes of the whole sum must end up in 0...255.
@inline(__always)
private func times(_ factor: Int, _ flags: UInt64) -> UInt64 {
    UInt64(bitPattern: Int64(factor)) &* flags
}

// MARK: - Encoding

extension Base64 {
    /// Writes the text of `source`, for which `target` is long enough; in words only, unless `wide`.
    static func write(
        _ source: Span<UInt8>, _ form: Form, to target: UnsafeMutableBufferPointer<UInt8>,
        wide: Bool = true
    ) {
        guard let out = target.baseAddress else { return }
        let (plus, slash) = form.last
        unsafe source.withUnsafeBytes { input in
            guard let base = input.baseAddress else { return }
            let count = input.count
            var read = unsafe wide ? csignet_base64_encode(base, count, out, plus, slash) : 0
            var written = read / 3 * 4
            // A word of eight bytes is loaded, of which six are used.
            while count - read >= 8 {
                let word = unsafe base.loadUnaligned(fromByteOffset: read, as: UInt64.self)
                let letters = letters(of: word.bigEndian &>> 16, plus: plus, slash: slash)
                unsafe UnsafeMutableRawPointer(out + written)
                    .storeBytes(of: letters.littleEndian, as: UInt64.self)
                read += 6
                written += 8
            }
            while read < count {
                let left = min(count - read, 3)
                var group: UInt64 = 0
                for index in 0..<left {
                    group |= unsafe UInt64(input[read + index]) &<< UInt64(40 - 8 * index)
                }
                let letters = letters(of: group, plus: plus, slash: slash)
                for index in 0..<4 where index <= left || form == .standard {
                    unsafe out[written] =
                        index <= left
                        ? UInt8(truncatingIfNeeded: letters &>> UInt64(8 * index))
                        : UInt8(ascii: "=")
                    written += 1
                }
                read += left
            }
        }
    }

    /// The eight letters of 48 bits, the first in the lowest byte.
    @inline(__always)
    private static func letters(of bits: UInt64, plus: UInt8, slash: UInt8) -> UInt64 {
        // Halves, quarters and eighths change places, so that the first ends up lowest.
        let halves = bits &>> 24 | (bits & 0xff_ffff) &<< 32
        let quarters =
            (halves &>> 12) & 0x0000_0fff_0000_0fff | (halves & 0x0000_0fff_0000_0fff) &<< 16
        let sextets =
            (quarters &>> 6) & 0x003f_003f_003f_003f | (quarters & 0x003f_003f_003f_003f) &<< 8
        // "A" is 65 above its sextet, "a" 71, "0" 4 below.
        let plus = Int(plus) - 62
        let slash = Int(slash) - 63
        return sextets &+ times(65, ones) &+ times(71 - 65, atLeast(26, sextets))
            &+ times(-4 - 71, atLeast(52, sextets)) &+ times(plus + 4, atLeast(62, sextets))
            &+ times(slash - plus, atLeast(63, sextets))
    }
}

// MARK: - Decoding

extension Base64 {
    /// Writes the bytes of unpadded `text`; false where a letter is foreign or a last bit is set.
    static func read(
        _ text: Span<UInt8>, _ form: Form, to target: UnsafeMutableBufferPointer<UInt8>,
        wide: Bool = true
    ) -> Bool {
        let (plus, slash) = form.last
        return unsafe text.withUnsafeBytes { input in
            guard let base = input.baseAddress, let out = target.baseAddress else {
                return text.isEmpty
            }
            let count = input.count
            var read = unsafe wide ? csignet_base64_decode(base, count, out, plus, slash) : 0
            var written = read / 4 * 3
            // A word of eight bytes is stored, of which six stay; three letters behind make room.
            while count - read >= 11 {
                let word = unsafe base.loadUnaligned(fromByteOffset: read, as: UInt64.self)
                guard let bits = bits(of: word.littleEndian, plus: plus, slash: slash) else {
                    return false
                }
                unsafe UnsafeMutableRawPointer(out + written)
                    .storeBytes(of: (bits &<< 16).bigEndian, as: UInt64.self)
                read += 8
                written += 6
            }
            while read < count {
                let left = min(count - read, 4)
                var word = 0x41 &* ones
                for index in 0..<left {
                    let shift = UInt64(8 * index)
                    word &= ~(0xff &<< shift)
                    word |= unsafe UInt64(input[read + index]) &<< shift
                }
                guard let bits = bits(of: word, plus: plus, slash: slash) else { return false }
                for index in 0..<(left - 1) {
                    unsafe out[written] = UInt8(
                        truncatingIfNeeded: bits &>> UInt64(40 - 8 * index))
                    written += 1
                }
                // What stands behind the last whole byte must be zero.
                guard bits & (1 &<< UInt64(48 - 8 * (left - 1)) &- 1) == 0 else { return false }
                read += left
            }
            return true
        }
    }

    /// The 48 bits of eight letters, the first of which is the lowest byte; nil where one is foreign.
    @inline(__always)
    private static func bits(of word: UInt64, plus: UInt8, slash: UInt8) -> UInt64? {
        guard word & (0x80 &* ones) == 0 else { return nil }
        let upper = atLeast(65, word) &- atLeast(91, word)
        let lower = atLeast(97, word) &- atLeast(123, word)
        let digit = atLeast(48, word) &- atLeast(58, word)
        let isPlus = atLeast(UInt64(plus), word) &- atLeast(UInt64(plus) + 1, word)
        let isSlash = atLeast(UInt64(slash), word) &- atLeast(UInt64(slash) + 1, word)
        guard upper &+ lower &+ digit &+ isPlus &+ isSlash == ones else { return nil }
        let sextets =
            word &+ times(-65, upper) &+ times(-71, lower) &+ times(4, digit)
            &+ times(62 - Int(plus), isPlus) &+ times(63 - Int(slash), isSlash)
        let quarters =
            (sextets & 0x003f_003f_003f_003f) &<< 6 | (sextets &>> 8) & 0x003f_003f_003f_003f
        let halves =
            (quarters & 0x0000_0fff_0000_0fff) &<< 12
            | (quarters &>> 16) & 0x0000_0fff_0000_0fff
        return (halves & 0xff_ffff) &<< 24 | halves &>> 32
    }
}

// MARK: - Tests

extension Base64 {
    /// What a machine without wide registers makes of `bytes`.
    static func encodeInWords(_ bytes: [UInt8], _ form: Form) -> [UInt8] {
        var text = [UInt8](repeating: 0, count: encodedCount(bytes.count, form))
        unsafe text.withUnsafeMutableBufferPointer { target in
            unsafe write(bytes.span, form, to: target, wide: false)
        }
        return text
    }

    /// What a machine without wide registers makes of unpadded `text`.
    static func decodeInWords(_ text: [UInt8], _ form: Form) -> [UInt8]? {
        var bytes = [UInt8](repeating: 0, count: text.count * 3 / 4)
        let isCanonical = unsafe bytes.withUnsafeMutableBufferPointer { target in
            unsafe read(text.span, form, to: target, wide: false)
        }
        return isCanonical ? bytes : nil
    }
}
