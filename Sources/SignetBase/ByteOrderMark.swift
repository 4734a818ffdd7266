/// The byte order mark of UTF-8.
package enum ByteOrderMark {
    package static let bytes: [UInt8] = [0xEF, 0xBB, 0xBF]
}

extension Collection<UInt8> {
    /// Whether the bytes begin with the byte order mark of UTF-8.
    package var hasByteOrderMark: Bool { starts(with: ByteOrderMark.bytes) }
}

extension [UInt8] {
    /// Whether the bytes begin with the byte order mark of UTF-8; without generic code, for the
    /// body of each response.
    package var hasByteOrderMark: Bool {
        count >= 3 && self[0] == 0xEF && self[1] == 0xBB && self[2] == 0xBF
    }
}
