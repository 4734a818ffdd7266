internal import SignetJSON

/// One member of a JWK Set, read and checked, before it becomes a `Key`.
struct KeyParts: ~Copyable {
    let id: String
    var kind = Key.Kind.unsupported
    var algorithm: String?
    var use: String?
    var notBefore: Int64?
    var expires: Int64?
    var isRevoked = false
    var isPrivate = true
    var publicMembers: JSONObject?
    var mac: HMACKey?
    var secret: SecretBytes?
    var secretByteCount = 0
    var signature: SignatureKey?

    /// Reads the JWK at `index` of the set.
    ///
    /// - Throws: `KeyError` with `malformedKeys`; the message names the key and the member.
    static func read(
        _ jwk: JSONReader.Element, of reader: JSONReader, index: Int
    ) throws(KeyError) -> KeyParts {
        guard jwk.kind == .object else {
            throw KeyParts.malformed("keys[\(index)] is \(jwk.kind.name), wanted an object")
        }
        var members = JWKMembers(of: jwk, in: reader)
        guard let id = members["kid"].flatMap({ reader.string($0) }), !id.isEmpty else {
            throw KeyParts.malformed("keys[\(index)] has no \"kid\" (text that is not empty)")
        }
        members.id = id
        var parts = KeyParts(id: id)
        try parts.read(members)
        return parts
    }

    private init(id: String) {
        self.id = id
    }

    private mutating func read(_ member: JWKMembers) throws(KeyError) {
        guard let kty = try member.text("kty") else {
            throw member.malformed("has no \"kty\"")
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
                publicMembers = member.publicHalf()
                signature = try member.signatureKey(kind)
            }
        default: break
        }
        try demandAgreement(member)
    }

    private mutating func readSecret(_ member: JWKMembers) throws(KeyError) {
        var bytes = try member.bytes("k")
        defer { wipe(&bytes) }
        guard !bytes.isEmpty else { throw member.malformed("\"k\" is empty") }
        if use == "enc" {
            guard bytes.count == 32 else {
                throw member.malformed(
                    "a vault root of \(bytes.count) bytes, wanted 32")
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
                throw KeyError(code: .cryptography, message: error.description)
            }
        }
        secret = SecretBytes(copying: bytes.span)
        secretByteCount = bytes.count
    }

    /// Refuses an algorithm that this package knows and that is one of another kind of key.
    private func demandAgreement(_ member: JWKMembers) throws(KeyError) {
        let algorithms: [String: [Key.Kind]] = [
            "HS256": [.hmac], "HS512": [.hmac], "EdDSA": [.ed25519], "ES256": [.p256],
            "ES384": [.p384], "PS512": [.rsa], "RS256": [.rsa],
        ]
        guard let algorithm, let kinds = algorithms[algorithm] else { return }
        guard kinds.contains(kind) else {
            throw member.malformed(
                "\"alg\" is \(algorithm), which does not fit its kty, crv and use")
        }
        guard use != "enc" else {
            throw member.malformed("\"alg\" is \(algorithm), which does not fit \"use\":\"enc\"")
        }
    }

    static func malformed(_ words: String) -> KeyError {
        KeyError(code: .malformedKeys, message: words)
    }
}

/// The members of one JWK, whose errors name its id.
///
/// The text of a secret is never made a string, because nothing could wipe that.
struct JWKMembers {
    private let reader: JSONReader
    private let members: [(name: String, value: JSONReader.Element)]
    var id = ""

    init(of object: JSONReader.Element, in reader: JSONReader) {
        self.reader = reader
        self.members = reader.members(of: object).map {
            (name: reader.string($0.name) ?? "", value: $0.value)
        }
    }

    subscript(name: String) -> JSONReader.Element? {
        members.first { $0.name.utf8.elementsEqual(name.utf8) }?.value
    }

    func malformed(_ words: String) -> KeyError {
        KeyParts.malformed("the key \"\(printable(id))\": \(words)")
    }

    func text(_ name: String) throws(KeyError) -> String? {
        guard let value = self[name] else { return nil }
        guard let text = reader.string(value) else {
            throw malformed("\"\(name)\" is \(value.kind.name), wanted text")
        }
        return text
    }

    func flag(_ name: String) throws(KeyError) -> Bool? {
        guard let value = self[name] else { return nil }
        guard let flag = reader.bool(value) else {
            throw malformed("\"\(name)\" is \(value.kind.name), wanted true or false")
        }
        return flag
    }

    /// Unix seconds; a fraction counts as the next whole second, since times here are whole.
    func time(_ name: String) throws(KeyError) -> Int64? {
        guard let value = self[name] else { return nil }
        guard let number = reader.number(value) else {
            throw malformed("\"\(name)\" is \(value.kind.name), wanted a number (Unix seconds)")
        }
        let limit = UnixTime.latest
        // A bound before the conversion, which traps beyond Int64.
        let bounded = number.double.flatMap { abs($0) < 0x1p62 ? Int64($0.rounded(.up)) : nil }
        guard let seconds = number.int64 ?? bounded, (-limit...limit).contains(seconds) else {
            throw malformed(
                "\"\(name)\" is out of range: expected Unix seconds from -\(limit) to \(limit)")
        }
        return seconds
    }

    func bytes(_ name: String) throws(KeyError) -> [UInt8] {
        guard let value = self[name] else { throw malformed("has no \"\(name)\"") }
        guard value.kind == .string else {
            throw malformed("\"\(name)\" is \(value.kind.name), wanted base64url")
        }
        var text = reader.contents(of: value)
        defer { wipe(&text) }
        guard let bytes = Base64.decode(text, from: .url) else {
            throw malformed("\"\(name)\" is no canonical base64url without padding")
        }
        return bytes
    }

    /// Checks the shape of an asymmetric key (RFC 7518, section 6, and RFC 8037, section 2).
    func asymmetricKind(_ kty: String) throws(KeyError) -> Key.Kind {
        if kty == "RSA" { return try rsa() }
        guard let curve = try text("crv") else { throw malformed("has no \"crv\"") }
        switch (kty, curve) {
        case ("OKP", "Ed25519"):
            try demand("x", count: 32)
            try demandPrivate(["d"], count: 32)
            return .ed25519
        case ("EC", "P-256"), ("EC", "P-384"):
            let count = curve == "P-256" ? 32 : 48
            try demand("x", count: count)
            try demand("y", count: count)
            try demandPrivate(["d"], count: count)
            return curve == "P-256" ? .p256 : .p384
        default:
            return .unsupported
        }
    }

    /// The key itself, of members whose shape was checked.
    func signatureKey(_ kind: Key.Kind) throws(KeyError) -> SignatureKey? {
        let family: SignatureKey.Family
        switch kind {
        case .ed25519: family = .ed25519
        case .p256: family = .p256
        case .p384: family = .p384
        case .rsa: family = .rsa
        default: return nil
        }
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
            return try SignatureKey(
                family, numbers: SecretBytes(copying: all.span), counts: counts)
        } catch {
            throw malformed("its numbers are no \(kind.name) key, or its halves do not fit")
        }
    }

    private func rsa() throws(KeyError) -> Key.Kind {
        let modulus = try bytes("n")
        guard let first = modulus.first, first != 0 else {
            throw malformed("\"n\" begins with a zero byte or is empty")
        }
        let bits = modulus.count * 8 - first.leadingZeroBitCount
        guard (2048...16_384).contains(bits) else {
            throw malformed("an RSA modulus of \(bits) bits, wanted 2048 to 16384")
        }
        let exponent = try bytes("e")
        guard let last = exponent.last, last & 1 == 1, exponent != [1], exponent.count <= 8 else {
            throw malformed("\"e\" is no odd number from 3 to 2^64")
        }
        let factors = ["p", "q", "dp", "dq", "qi"]
        try demandPrivate(["d"] + factors, count: nil)
        // RFC 7518, section 6.3.2: the first of them brings the others.
        guard [0, factors.count].contains(factors.count(where: { self[$0] != nil })) else {
            throw malformed("p, q, dp, dq and qi must be there together or not at all")
        }
        return .rsa
    }

    private func demand(_ name: String, count: Int) throws(KeyError) {
        var value = try bytes(name)
        defer { wipe(&value) }
        guard value.count == count else {
            throw malformed("\"\(name)\" holds \(value.count) bytes, wanted \(count)")
        }
    }

    private func demandPrivate(_ names: [String], count: Int?) throws(KeyError) {
        for name in names where self[name] != nil {
            var value = try bytes(name)
            defer { wipe(&value) }
            if let count, value.count != count {
                throw malformed("\"\(name)\" holds \(value.count) bytes, wanted \(count)")
            }
            guard !value.isEmpty else { throw malformed("\"\(name)\" is empty") }
            guard self["d"] != nil else {
                throw malformed("\"\(name)\" is there, and \"d\" is not")
            }
        }
    }

    /// The members that anybody may see, in their order; a list of what is let through.
    func publicHalf() -> JSONObject {
        let names: Set<String> = [
            "kty", "kid", "use", "alg", "crv", "x", "y", "n", "e", "nbf", "exp", "revoked",
        ]
        return JSONObject(
            members.filter { names.contains($0.name) }
                .map { (name: $0.name, value: reader.value($0.value)) })
    }
}
