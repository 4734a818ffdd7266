internal import SignetBase
import SignetCrypto
import SignetJSON

extension SealedDump {
    /// Reads a dump from a file.
    ///
    /// - Parameter path: A file or a pipe; nil or `-` is standard input.
    /// - Throws: `unreadable-file`, or `malformed-dump`.
    public init(contentsOf path: String?) throws(VaultError) {
        let bytes = try VaultError.reading(path, limit: Self.sizeLimit)
        do {
            try self.init(parsing: bytes)
        } catch {
            throw error.naming(path)
        }
    }

    /// Reads a compact string and checks its whole format: five parts, an empty encrypted key, a
    /// nonce of 12 bytes, a tag of 16 bytes, canonical base64url, and a header of exactly five
    /// members.
    ///
    /// - Parameter bytes: The compact string and nothing else; a final newline is refused.
    /// - Throws: `malformed-dump`.
    public init(parsing bytes: [UInt8]) throws(VaultError) {
        guard !bytes.isEmpty else { throw Self.malformed("it is empty") }
        guard bytes.count <= Self.sizeLimit else {
            throw Self.malformed(
                "found \(bytes.count) bytes, expected at most \(Self.sizeLimit)")
        }
        guard !bytes.starts(with: "<<<<<<< ".utf8) else {
            throw Self.malformed(
                "found the marks of a merge conflict; take one side with git checkout --ours or "
                    + "--theirs, or merge the values with signet vault merge")
        }
        let dots = try Self.dots(in: bytes)
        let encodedHeader = Array(bytes[..<dots[0]])
        let header = try Self.header(decoding: encodedHeader)
        let nonce = try Self.decode(dots[1] + 1..<dots[2], of: bytes, named: "the nonce")
        guard nonce.count == AES256GCM.nonceByteCount else {
            throw Self.malformed("found a nonce of \(nonce.count) bytes, expected 12")
        }
        let tag = try Self.decode(dots[3] + 1..<bytes.count, of: bytes, named: "the tag")
        guard tag.count == AES256GCM.tagByteCount else {
            throw Self.malformed("found a tag of \(tag.count) bytes, expected 16")
        }
        let encodedCount = dots[3] - dots[2] - 1
        guard encodedCount <= Base64.encodedCount(of: Self.plaintextLimit, as: .url) else {
            throw Self.malformed("more than 16 MiB of plaintext")
        }
        let ciphertext = try Self.decode(dots[2] + 1..<dots[3], of: bytes, named: "the ciphertext")
        self.init(
            bytes: bytes, header: header, encodedHeader: encodedHeader, nonce: nonce,
            ciphertext: ciphertext, tag: tag)
    }

    /// Returns the positions of the four dots. Finds the last one by the tag's length, so that the
    /// ciphertext is read only once, by the decoder.
    private static func dots(in bytes: [UInt8]) throws(VaultError) -> [Int] {
        let dot = UInt8(ascii: ".")
        var dots: [Int] = []
        for index in 0..<min(bytes.count, headerLimit + 64) where bytes[index] == dot {
            dots.append(index)
            if dots.count == 3 { break }
        }
        guard dots.count == 3 else {
            throw malformed("expected a JWE compact string of five parts with a short header")
        }
        guard dots[0] <= headerLimit else { throw malformed("the header is too long") }
        guard dots[1] == dots[0] + 1 else { throw malformed("the encrypted key is not empty") }
        let last = bytes.count - Base64.encodedCount(of: AES256GCM.tagByteCount, as: .url) - 1
        guard last > dots[2], bytes[last] == dot else {
            throw malformed("expected a tag of 16 bytes at the end")
        }
        return dots + [last]
    }

    /// The header's members except `kid`; their values are the same in every dump.
    private static let fixedMembers: [(name: String, value: String)] = [
        ("alg", "dir"), ("enc", "A256GCM"), ("typ", "signet-dump"), ("cty", "application/json"),
    ]

    /// Reads the header from the first bytes of a file. Returns nil if they aren't a dump's.
    static func header(beginning bytes: [UInt8]) -> DumpHeader? {
        let encoded = bytes.prefix(headerLimit + 1).prefix { $0 != UInt8(ascii: ".") }
        guard encoded.count < bytes.count else { return nil }
        return try? header(decoding: Array(encoded))
    }

    private static func header(decoding encoded: [UInt8]) throws(VaultError) -> DumpHeader {
        let json = try decode(0..<encoded.count, of: encoded, named: "the header")
        let value: JSONValue
        do {
            value = try JSONValue(parsing: json, maximumDepth: 2)
        } catch {
            throw malformed("the header is not strict JSON: \(error.message)")
        }
        guard let object = value.object else {
            throw malformed("the header: found \(value.article), expected an object")
        }
        for (member, expected) in fixedMembers {
            guard let found = object[member]?.string, sameBytes(found, expected) else {
                throw malformed("the header's \"\(member)\" must be \"\(expected)\"")
            }
        }
        guard object.count == fixedMembers.count + 1, let kid = object["kid"]?.string else {
            throw malformed("the header must have alg, enc, typ, cty and kid, and no other member")
        }
        return try DumpHeader(parsing: Array(kid.utf8))
    }

    /// Returns the JSON of a header, its members in the usual order.
    static func json(of header: DumpHeader) -> [UInt8] {
        let start =
            #"{"alg":"dir","enc":"A256GCM","typ":"signet-dump","cty":"application/json","kid":""#
        return Array(start.utf8) + header.kid + Array("\"}".utf8)  // nothing in it to escape
    }

    private static func decode(
        _ range: Range<Int>, of bytes: [UInt8], named name: String
    ) throws(VaultError) -> [UInt8] {
        guard let decoded = Base64.decode(bytes.span.extracting(range), from: .url) else {
            throw malformed("\(name) is not canonical base64url")
        }
        return decoded
    }

    private static func malformed(_ problem: String) -> VaultError {
        VaultError(.malformedDump, "not a sealed dump: \(problem)")
    }
}
