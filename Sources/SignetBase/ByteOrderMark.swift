/// The byte order mark of UTF-8.
package enum ByteOrderMark {
    package static let bytes: [UInt8] = [0xEF, 0xBB, 0xBF]
}

extension Collection<UInt8> {
    /// Whether the bytes begin with the byte order mark of UTF-8.
    package var hasByteOrderMark: Bool { starts(with: ByteOrderMark.bytes) }
}
