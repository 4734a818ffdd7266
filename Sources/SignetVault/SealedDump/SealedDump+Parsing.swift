import SignetBase
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
        let content = try Self.checked { () throws(JWEContent.Malformed) in
            try JWEContent(
                compact: bytes, headerLimit: Self.headerLimit, textLimit: Self.plaintextLimit)
        }
        self.init(
            bytes: bytes, header: try Self.header(decoding: content.protected.span),
            content: content)
    }

    /// The header's members except `kid`; their values are the same in every dump.
    private static let fixedMembers: [(name: String, value: String)] = [
        ("alg", "dir"), ("enc", "A256GCM"), ("typ", "signet-dump"), ("cty", "application/json"),
    ]

    /// Reads the header from the first bytes of a file. Returns nil if they aren't a dump's.
    static func header(beginning bytes: [UInt8]) -> DumpHeader? {
        let encoded = bytes.prefix(headerLimit + 1).prefix { $0 != UInt8(ascii: ".") }
        guard encoded.count < bytes.count else { return nil }
        return try? header(decoding: encoded.span)
    }

    private static func header(decoding encoded: Span<UInt8>) throws(VaultError) -> DumpHeader {
        let object = try checked { () throws(JWEContent.Malformed) in
            try JWEContent.header(decoding: encoded)
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

    private static func checked<Result>(
        _ read: () throws(JWEContent.Malformed) -> Result
    ) throws(VaultError) -> Result {
        do throws(JWEContent.Malformed) {
            return try read()
        } catch {
            throw malformed(error.problem)
        }
    }

    private static func malformed(_ problem: String) -> VaultError {
        VaultError(.malformedDump, "not a sealed dump: \(problem)")
    }
}
