import SignetBase

/// Recognises compressed bytes, in which secrets are found only after they are decompressed.
enum CompressedBytes {
    /// The bytes that formats begin with.
    private static let formats: [(name: String, start: [UInt8])] = [
        ("gzip", [0x1F, 0x8B]), ("compress", [0x1F, 0x9D]), ("lzh", [0x1F, 0xA0]),
        ("zstd", [0x28, 0xB5, 0x2F, 0xFD]), ("xz", [0xFD, 0x37, 0x7A, 0x58, 0x5A, 0]),
        ("lz4", [0x04, 0x22, 0x4D, 0x18]), ("lz4", [0x02, 0x21, 0x4C, 0x18]),
        ("lzip", Array("LZIP".utf8)), ("snappy", [0xFF, 6, 0, 0] + Array("sNaPpY".utf8)),
        ("zip", [0x50, 0x4B, 3, 4]), ("7z", [0x37, 0x7A, 0xBC, 0xAF, 0x27, 0x1C]),
        ("rar", Array("Rar!".utf8) + [0x1A, 7]),
    ]
    /// The second bytes of zlib (RFC 1950, section 2.2) after 0x78.
    private static let zlib: Set<UInt8> = [0x01, 0x5E, 0x9C, 0xDA]

    /// The format; nil for other bytes.
    static func format(of bytes: [UInt8]) -> String? {
        if let format = formats.first(where: { bytes.starts(with: $0.start) }) {
            return format.name
        }
        if bytes.starts(with: "BZh".utf8), bytes.count > 10,
            bytes[4..<10].elementsEqual([0x31, 0x41, 0x59, 0x26, 0x53, 0x59])
        {
            return "bzip2"
        }
        guard bytes.count > 2, bytes[0] == 0x78, zlib.contains(bytes[1]),
            String(validating: bytes, as: UTF8.self) == nil
        else { return nil }
        return "zlib"
    }

    /// Returns the bytes without the compression; nil if it can't be undone.
    static func decoded(
        _ bytes: [UInt8], format: String, limit: Int, from budget: DecodingBudget?
    ) -> [UInt8]? {
        guard let coding = ["gzip": "gzip", "zlib": "deflate"][format] else { return nil }
        return try? BodyDecoding.decoded(bytes, coding: coding, limit: limit, from: budget).get()
    }
}
