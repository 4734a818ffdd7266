/// The bytes that JSON's grammar knows by name.
enum ASCII {
    static let backspace: UInt8 = 0x08
    static let tab: UInt8 = 0x09
    static let lineFeed: UInt8 = 0x0a
    static let formFeed: UInt8 = 0x0c
    static let carriageReturn: UInt8 = 0x0d
    static let space: UInt8 = 0x20
    static let quote: UInt8 = 0x22
    static let plus: UInt8 = 0x2b
    static let comma: UInt8 = 0x2c
    static let minus: UInt8 = 0x2d
    static let point: UInt8 = 0x2e
    static let slash: UInt8 = 0x2f
    static let zero: UInt8 = 0x30
    static let nine: UInt8 = 0x39
    static let colon: UInt8 = 0x3a
    static let openBracket: UInt8 = 0x5b
    static let backslash: UInt8 = 0x5c
    static let closeBracket: UInt8 = 0x5d
    static let openBrace: UInt8 = 0x7b
    static let closeBrace: UInt8 = 0x7d

    @inline(__always)
    static func isDigit(_ byte: UInt8) -> Bool { byte &- zero < 10 }

    /// The value of a hexadecimal digit of either case.
    static func hexValue(_ byte: UInt8) -> UInt32? {
        switch byte {
        case 0x30...0x39: UInt32(byte &- 0x30)
        case 0x41...0x46: UInt32(byte &- 0x41 &+ 10)
        case 0x61...0x66: UInt32(byte &- 0x61 &+ 10)
        default: nil
        }
    }

    /// The lower-case hexadecimal digit of a value under 16.
    static func hexDigit(_ value: UInt8) -> UInt8 {
        value < 10 ? 0x30 &+ value : 0x61 &+ value &- 10
    }
}

/// Whether two strings are the same bytes.
///
/// Swift's `==` takes two Unicode forms for one.
@inline(__always)
func sameBytes(_ left: String, _ right: String) -> Bool {
    let left = left.utf8
    let right = right.utf8
    guard left.count == right.count else { return false }
    return left.elementsEqual(right)
}
