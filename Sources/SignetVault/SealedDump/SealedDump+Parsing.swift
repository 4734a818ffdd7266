internal import SignetBase
import SignetCrypto
import SignetJSON

extension SealedDump {
    /// Reads a compact string and demands its whole form: five parts, an empty encrypted key,
    /// a nonce of 12 bytes, a tag of 16, canonical base64url, and a header of exactly five members.
    ///
    /// - Parameter bytes: The compact string and nothing else; a final newline is refused.
    /// - Throws: `malformed-dump`, saying which demand is not met.
    public init(parsing bytes: [UInt8]) throws(VaultError) {
        guard !bytes.isEmpty else { throw Self.malformed("it is empty") }
        guard bytes.count <= Self.sizeLimit else {
            throw Self.malformed("it is larger than 16 MiB of plaintext can make it")
        }
        let points = try Self.points(bytes)
        let header = Array(bytes[..<points[0]])
        let name = try Self.name(header)
        let nonce = try Self.decode(bytes, points[1] + 1..<points[2], "the nonce")
        guard nonce.count == AES256GCM.nonceByteCount else {
            throw Self.malformed("a nonce of \(nonce.count) bytes, wanted 12")
        }
        let tag = try Self.decode(bytes, points[3] + 1..<bytes.count, "the tag")
        guard tag.count == AES256GCM.tagByteCount else {
            throw Self.malformed("a tag of \(tag.count) bytes, wanted 16")
        }
        let encodedCount = points[3] - points[2] - 1
        guard encodedCount <= Base64.encodedCount(Self.plaintextLimit, .url) else {
            throw Self.malformed("more than 16 MiB of plaintext")
        }
        let ciphertext = try Self.decode(bytes, points[2] + 1..<points[3], "the ciphertext")
        self.init(
            bytes: bytes, name: name, header: header, nonce: nonce, ciphertext: ciphertext,
            tag: tag)
    }

    /// Where the four points stand. The last is found by the tag's length, so that the ciphertext is
    /// gone through only once, while it is decoded.
    private static func points(_ bytes: [UInt8]) throws(VaultError) -> [Int] {
        let point = UInt8(ascii: ".")
        var points: [Int] = []
        for index in 0..<min(bytes.count, headerLimit + 64) where bytes[index] == point {
            points.append(index)
            if points.count == 3 { break }
        }
        guard points.count == 3 else {
            throw malformed("it is no JWE compact string of five parts with a short header")
        }
        guard points[0] <= headerLimit else { throw malformed("the header is too long") }
        guard points[1] == points[0] + 1 else { throw malformed("the encrypted key is not empty") }
        let last = bytes.count - Base64.encodedCount(AES256GCM.tagByteCount, .url) - 1
        guard last > points[2], bytes[last] == point else {
            throw malformed("it has no tag of 16 bytes at its end")
        }
        return points + [last]
    }

    /// The header's members but `kid`, each with its only value.
    private static let fixedMembers: [(name: String, value: String)] = [
        ("alg", "dir"), ("enc", "A256GCM"), ("typ", "signet-dump"), ("cty", "application/json"),
    ]

    /// The name in the first bytes of a file, or nil where they are not a dump's.
    static func name(beginning bytes: [UInt8]) -> DumpName? {
        let header = bytes.prefix(headerLimit + 1).prefix { $0 != UInt8(ascii: ".") }
        guard header.count < bytes.count else { return nil }
        return try? name(Array(header))
    }

    private static func name(_ header: [UInt8]) throws(VaultError) -> DumpName {
        let json = try decode(header, 0..<header.count, "the header")
        if let kid = kidOfUsualForm(json) { return try DumpName(parsing: kid) }
        let value: JSONValue
        do {
            value = try JSONValue(parsing: json, maximumDepth: 2)
        } catch {
            throw malformed("the header is not strict JSON: \(error.message)")
        }
        guard let object = value.object else { throw malformed("the header is no JSON object") }
        for (member, wanted) in fixedMembers {
            guard let found = object[member]?.string, sameBytes(found, wanted) else {
                throw malformed("the header's \"\(member)\" must be \"\(wanted)\"")
            }
        }
        guard object.count == fixedMembers.count + 1, let kid = object["kid"]?.string else {
            throw malformed("the header must have alg, enc, typ, cty and kid, and no other member")
        }
        return try DumpName(parsing: Array(kid.utf8))
    }

    /// What stands before and behind the kid in the header that we write.
    private static let headerStart = Array(
        #"{"alg":"dir","enc":"A256GCM","typ":"signet-dump","cty":"application/json","kid":""#.utf8)
    private static let headerEnd = Array("\"}".utf8)

    /// The kid of a header that is as we write it, letter by letter; nil for any other header, which
    /// may be as good but must be read as JSON.
    private static func kidOfUsualForm(_ json: [UInt8]) -> [UInt8]? {
        guard json.count > headerStart.count + headerEnd.count,
            json[..<headerStart.count].elementsEqual(headerStart),
            json[(json.count - headerEnd.count)...].elementsEqual(headerEnd)
        else { return nil }
        let kid = json[headerStart.count..<(json.count - headerEnd.count)]
        // Nothing that JSON gives a meaning inside a string, nor ends it.
        let isPlain = kid.allSatisfy { byte in
            byte > 0x20 && byte < 0x7f && byte != UInt8(ascii: "\"")
                && byte != UInt8(ascii: "\\")
        }
        return isPlain ? Array(kid) : nil
    }

    /// The header's JSON for a name; the members in their usual order.
    static func headerJSON(_ name: DumpName) -> [UInt8] {
        var json: [UInt8] = []
        json.reserveCapacity(headerStart.count + name.text.count + headerEnd.count)
        json += headerStart
        json += name.text  // base64url and points: nothing to escape
        json += headerEnd
        return json
    }

    private static func decode(
        _ bytes: [UInt8], _ range: Range<Int>, _ what: String
    ) throws(VaultError) -> [UInt8] {
        guard let decoded = Base64.decode(bytes.span.extracting(range), .url) else {
            throw malformed("\(what) is not canonical base64url")
        }
        return decoded
    }

    private static func malformed(_ problem: String) -> VaultError {
        VaultError(.malformedDump, "not a sealed dump: \(problem)")
    }
}
