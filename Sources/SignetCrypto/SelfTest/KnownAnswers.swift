import SignetBase

/// Published test vectors, in hexadecimal.
enum KnownAnswers {
    /// FIPS 180-4 examples: the digests of "abc".
    static let sha256 = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
    static let sha384 =
        "cb00753f45a35e8bb5a03d699ac65007272c32ab0eded1631a8b605a43ff5bed"
        + "8086072ba1e7cc2358baeca134c825a7"
    static let sha512 =
        "ddaf35a193617abacc417349ae20413112e6fa4e89a97ea20a9eeee64b55d39a"
        + "2192992a274fc1a836ba3c23a3feebbd454d4423643ce80e2a9ac94fa54ca49f"

    /// RFC 4231, test case 2.
    static let hmacSHA256 = "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843"
    static let hmacSHA384 =
        "af45d2e376484031617f78d2b58a6b1b9c7ef464f5a01b47e42ec3736322445e"
        + "8e2240ca5e69e2c78b3239ecfab21649"
    static let hmacSHA512 =
        "164b7a7bfcf819e2e395fbe73b56e0a387bd64222e831fd610270cd7ea250554"
        + "9758bf75c05a994a6d034f65f8f0e6fdcaeab1a34d4a6b4b636e070a38bce737"

    /// RFC 5869, test case 1.
    static let hkdfPRK = "077709362c2e32df0ddc3f0dc47bba6390b6c73bb50f9c3122ec844ad7c2b3e5"
    static let hkdfOKM =
        "3cb25f25faacd57a90434f64d0362f2a2d2d0a90cf1a5a4c5db02d56ecc4c5bf34007208d5b887185865"

    /// RFC 7914, section 12: the empty passphrase and salt, N 16, r 1, p 1.
    static let scrypt =
        "77d6576238657b203b19ca42c18a0497f16b4844e3074ae8dfdffa3fede21442"
        + "fcd0069ded0948f8326a753a0fc81f17e8d3e0fb2e0d3628cf35e20c38d18906"

    /// McGrew and Viega, "The Galois/Counter Mode of Operation", test case 14.
    static let gcmCiphertext = "cea7403d4d606b6e074ec5d3baf39d18"
    static let gcmTag = "d0d1c8a799996bf0265b98b5d48ab919"

    static func bytes(_ hexadecimal: String) -> [UInt8] {
        hexadecimal.utf8.decodingHexadecimal() ?? []
    }
}
