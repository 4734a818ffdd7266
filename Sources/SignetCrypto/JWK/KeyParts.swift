import SignetBase
import SignetJSON
import SignetSystem

/// The checked contents of a JWK, from which a `CryptoKey` is created.
struct KeyParts: ~Copyable {
    /// `kid`. For a key without it that can be used, its thumbprint, else its place.
    private(set) var id: String
    /// Whether `kid` is missing.
    let isUnnamed: Bool
    var kind = CryptoKey.Kind.unsupported
    var algorithm: String?
    var use: String?
    var notBefore: Int64?
    var expires: Int64?
    var isRevoked = false
    var isPrivate = true
    var publicHalf: JSONObject?
    var mac: HMACKey?
    var secret: SecretBytes?
    var secretByteCount = 0
    var signature: SignatureKey?

    /// Reads a JWK, whose position in the set is `index`.
    ///
    /// - Throws: `KeyError` with `malformedKeys`; the message names the key and the member.
    static func read(
        _ jwk: JSONReader.Element, of reader: JSONReader, index: Int
    ) throws(KeyError) -> KeyParts {
        guard jwk.kind == .object else {
            throw KeyParts.malformed("found \(jwk.kind.name), expected an object at keys[\(index)]")
        }
        var members = JWKMembers(of: jwk, in: reader)
        let id = members["kid"].map { reader.string($0) ?? "" }
        guard id != "" else { throw missingID(at: index) }
        members.id = id ?? "keys[\(index)]"
        var parts = KeyParts(id: members.id, isUnnamed: id == nil)
        try parts.read(members)
        if id == nil, let half = parts.publicHalf {
            parts.id = CryptoKey.thumbprint(of: parts.kind, publicHalf: half) ?? parts.id
        }
        return parts
    }

    private init(id: String, isUnnamed: Bool) {
        self.id = id
        self.isUnnamed = isUnnamed
    }

    static func missingID(at index: Int) -> KeyError {
        malformed("missing \"kid\" at keys[\(index)], expected a string that is not empty")
    }

    private mutating func read(_ member: JWKMembers) throws(KeyError) {
        guard let kty = try member.text("kty") else {
            throw member.missing("kty")
        }
        algorithm = try member.text("alg")
        use = try member.text("use")
        notBefore = try member.time("nbf")
        expires = try member.time("exp")
        isRevoked = try member.flag("revoked") ?? false
        switch kty {
        case "oct": try readSecret(member)
        case "OKP", "EC", "RSA":
            kind = try member.asymmetricKind(kty)
            isPrivate = kind == .unsupported || member["d"] != nil
            if kind != .unsupported {
                publicHalf = member.publicHalf()
                signature = try member.signatureKey(kind)
            }
        default: break
        }
        try requireAgreement(member)
    }

    private mutating func readSecret(_ member: JWKMembers) throws(KeyError) {
        var bytes = try member.bytes("k")
        defer { wipe(&bytes) }
        guard !bytes.isEmpty else { throw member.malformed("\"k\" is empty") }
        if let expected = CryptoKey.Kind.sealingByteCount(algorithm: algorithm) {
            guard bytes.count == expected, use != "sig" else {
                throw member.malformed(
                    "found a secret of \(bytes.count) bytes and use \(printable(use ?? "none")) for "
                        + "\"alg\" \(printable(algorithm ?? "")), expected \(expected) bytes and use enc"
                )
            }
            kind = .aes
        } else if use == "enc" {
            guard bytes.count == 32 else {
                throw member.malformed("found a vault root of \(bytes.count) bytes, expected 32")
            }
            kind = algorithm == nil ? .vault : .unsupported
        } else if use == nil || use == "sig" {
            kind = .hmac
        }
        let digest: DigestAlgorithm? =
            switch algorithm {
            case "HS256": .sha256
            case "HS512": .sha512
            default: nil
            }
        if kind == .hmac, let digest {
            do throws(CryptoFailure) {
                mac = try HMACKey(digest, key: bytes.span)
            } catch {
                throw KeyError(error)
            }
        }
        secret = SecretBytes(copying: bytes.span)
        secretByteCount = bytes.count
    }

    /// Refuses an algorithm that this package supports but not for this kind of key.
    private func requireAgreement(_ member: JWKMembers) throws(KeyError) {
        if let algorithm, let expected = kind.encryptionAlgorithm,
            ["ECDH-ES", "ECDH-ES+A256KW", "RSA-OAEP-256"].contains(algorithm)
        {
            let isAgreement = expected == "ECDH-ES+A256KW" && algorithm == "ECDH-ES"
            guard algorithm == expected || isAgreement, use != "sig" else {
                throw member.malformed(
                    "found \"alg\" \(algorithm), which does not match kty, crv and use")
            }
        }
        guard let algorithm,
            let owner = CryptoKey.Kind.all.first(where: { $0.algorithms.contains(algorithm) })
        else { return }
        guard kind == owner else {
            throw member.malformed(
                "found \"alg\" \(algorithm), which does not match kty, crv and use")
        }
        guard use != "enc" else {
            throw member.malformed("found \"alg\" \(algorithm), which does not match \"use\" enc")
        }
    }

    static func malformed(_ message: String) -> KeyError {
        KeyError(.malformedKeys, message)
    }
}

/// The members of a JWK. The errors of its methods contain the key's id.
///
/// A secret's text never becomes a `String`, because a `String` cannot be wiped.
struct JWKMembers {
    private let reader: JSONReader
    private let members: [(name: String, value: JSONReader.Element)]
    var id = ""

    /// - Parameter ignoresNull: Whether members that are null count as missing, because some
    ///   programs write a missing member so.
    init(of object: JSONReader.Element, in reader: JSONReader, ignoresNull: Bool = false) {
        self.reader = reader
        self.members = reader.members(of: object).compactMap { name, value in
            ignoresNull && value.kind == .null
                ? nil : (name: reader.string(name) ?? "", value: value)
        }
    }

    subscript(name: String) -> JSONReader.Element? {
        members.first { sameBytes($0.name, name) }?.value
    }

    func malformed(_ message: String) -> KeyError {
        KeyParts.malformed("the key \"\(printable(id))\": \(message)")
    }

    func missing(_ name: String) -> KeyError { malformed("missing \"\(name)\"") }

    private func wrongType(
        of name: String, _ value: JSONReader.Element, expected: String
    ) -> KeyError {
        malformed("found \(value.kind.name), expected \(expected) in \"\(name)\"")
    }

    /// Returns the value of a member as `read` converts it, or nil if the member is missing.
    private func value<Value>(
        of name: String, as expected: String, _ read: (JSONReader.Element) -> Value?
    ) throws(KeyError) -> Value? {
        guard let element = self[name] else { return nil }
        guard let value = read(element) else {
            throw wrongType(of: name, element, expected: expected)
        }
        return value
    }

    func text(_ name: String) throws(KeyError) -> String? {
        try value(of: name, as: "a string") { reader.string($0) }
    }

    func flag(_ name: String) throws(KeyError) -> Bool? {
        try value(of: name, as: "true or false") { reader.bool($0) }
    }

    /// Returns a time in Unix seconds. A fraction is rounded up to a whole second.
    func time(_ name: String) throws(KeyError) -> Int64? {
        let found = try value(of: name, as: "a number (Unix seconds)") { reader.number($0) }
        guard let number = found else { return nil }
        let limit = UnixTime.latest
        // Checks the size first, because the conversion traps outside Int64.
        let bounded = number.double.flatMap { abs($0) < 0x1p62 ? Int64($0.rounded(.up)) : nil }
        guard let seconds = number.int64 ?? bounded, (-limit...limit).contains(seconds) else {
            throw malformed(
                "\"\(name)\" is out of range: expected Unix seconds from -\(limit) to \(limit)")
        }
        return seconds
    }

    func bytes(_ name: String) throws(KeyError) -> [UInt8] {
        guard let value = self[name] else { throw missing(name) }
        guard value.kind == .string else {
            throw wrongType(of: name, value, expected: "base64url")
        }
        var text = reader.contents(of: value)
        defer { wipe(&text) }
        guard let bytes = Base64.decode(text, from: .url) else {
            throw malformed("\"\(name)\" is not canonical base64url without padding")
        }
        return bytes
    }

    /// Checks an asymmetric key's members (RFC 7518, section 6, and RFC 8037, section 2) and
    /// returns its kind.
    func asymmetricKind(_ kty: String) throws(KeyError) -> CryptoKey.Kind {
        if kty == "RSA" { return try rsa() }
        guard let curve = try text("crv") else { throw missing("crv") }
        switch (kty, curve) {
        case ("OKP", "Ed25519"), ("OKP", "X25519"):
            try requireNumber("x", count: 32)
            try requirePrivateNumbers(["d"], count: 32)
            return curve == "Ed25519" ? .ed25519 : .x25519
        case ("EC", "P-256"), ("EC", "P-384"):
            let count = curve == "P-256" ? 32 : 48
            try requireNumber("x", count: count)
            try requireNumber("y", count: count)
            try requirePrivateNumbers(["d"], count: count)
            return curve == "P-256" ? .p256 : .p384
        default:
            return .unsupported
        }
    }

    /// Returns the key of members that were checked.
    func signatureKey(_ kind: CryptoKey.Kind) throws(KeyError) -> SignatureKey? {
        guard let family = SignatureKey.Family(rawValue: kind.name) else { return nil }
        var all: [UInt8] = []
        defer { wipe(&all) }
        all.reserveCapacity(8 * 2048)
        var counts: [Int] = []
        for name in family.members {
            guard self[name] != nil else {
                counts.append(0)
                continue
            }
            var number = try bytes(name)
            defer { wipe(&number) }
            counts.append(number.count)
            all.append(contentsOf: number)
        }
        do throws(CryptoFailure) {
            return try SignatureKey(family, numbers: SecretBytes(copying: all.span), counts: counts)
        } catch {
            throw malformed("the numbers are not a \(kind.name) key, or its halves do not match")
        }
    }

    private func rsa() throws(KeyError) -> CryptoKey.Kind {
        let modulus = try bytes("n")
        guard let first = modulus.first, first != 0 else {
            throw malformed("\"n\" is empty or starts with a zero byte")
        }
        let bits = modulus.count * 8 - first.leadingZeroBitCount
        guard (2048...16_384).contains(bits) else {
            throw malformed("found an RSA modulus of \(bits) bits, expected 2048 to 16384")
        }
        let exponent = try bytes("e")
        // Without leading zeros (RFC 7518, section 2, Base64urlUInt), a one has one byte only. With
        // the exponent 1, every text would be its own signature.
        guard exponent.first != 0, let last = exponent.last, last & 1 == 1, exponent != [1],
            exponent.count <= 8
        else {
            throw malformed(
                "\"e\" is not an odd number from 3 to 2^64, or starts with a zero byte")
        }
        let factors = ["p", "q", "dp", "dq", "qi"]
        try requirePrivateNumbers(["d"] + factors, count: nil)
        // RFC 7518, section 6.3.2: if one of them is present, all must be.
        guard [0, factors.count].contains(factors.count(where: { self[$0] != nil })) else {
            throw malformed("found only some of p, q, dp, dq and qi, expected all or none")
        }
        return .rsa
    }

    private func requireNumber(_ name: String, count: Int) throws(KeyError) {
        var value = try bytes(name)
        defer { wipe(&value) }
        guard value.count == count else { throw wrongCount(value.count, of: name, expected: count) }
    }

    private func wrongCount(_ found: Int, of name: String, expected: Int) -> KeyError {
        malformed("found \(found) bytes, expected \(expected) in \"\(name)\"")
    }

    private func requirePrivateNumbers(_ names: [String], count: Int?) throws(KeyError) {
        for name in names where self[name] != nil {
            var value = try bytes(name)
            defer { wipe(&value) }
            if let count, value.count != count {
                throw wrongCount(value.count, of: name, expected: count)
            }
            guard !value.isEmpty else { throw malformed("\"\(name)\" is empty") }
            guard self["d"] != nil else {
                throw malformed("found \"\(name)\" without \"d\"")
            }
        }
    }

    /// Returns the members that are public, in their order. Members that aren't listed are left
    /// out.
    func publicHalf() -> JSONObject {
        let names: Set<String> = [
            "kty", "kid", "use", "alg", "crv", "x", "y", "n", "e", "nbf", "exp", "revoked",
        ]
        return JSONObject(
            members.filter { names.contains($0.name) }
                .map { (name: $0.name, value: reader.value($0.value)) })
    }
}
