import SignetBase
import SignetJSON

extension ForeignKey {
    /// Reads a JWK, or the key of a JWK Set: the one that already has the new id, or else the only
    /// one that this package can use.
    ///
    /// All members are kept, but for `kid` and those that are null. A missing `use` or `alg`
    /// becomes the default of the kind.
    ///
    /// - Parameters:
    ///   - bytes: The JWK or the set in JSON.
    ///   - kind: What a secret is for, if the JWK doesn't say it.
    ///   - header: The new members.
    /// - Throws: `KeyError` with `malformedKeys`.
    init(jwk bytes: [UInt8], kind: CryptoKey.Kind?, with header: Header) throws(KeyError) {
        let reader = try KeySet.reader(of: bytes)
        let jwk = try Self.jwk(in: reader, for: header)
        var members = JWKMembers(of: jwk, in: reader, ignoresNull: true)
        members.id = header.id
        let (use, alg) = (try members.text("use"), try members.text("alg"))
        if let alg, let wanted = header.algorithm, !sameBytes(alg, wanted) {
            throw KeyParts.malformed(
                "found \"alg\" \(printable(alg)) in the JWK, expected \(printable(wanted))")
        }
        var found = try Self.kind(of: jwk, in: reader)
        if found == .hmac, kind == .vault || (kind == nil && use == "enc") { found = .vault }
        guard found != .unsupported else {
            throw KeyParts.malformed("found a JWK of a type or curve that signet doesn't have")
        }
        self.kind = found
        text = NewKeyText(id: header.id, secretByteCount: jwk.range.count)
        let isForEncryption = alg.map { found.algorithms(use: "enc").contains($0) } ?? false
        let newUse = use ?? header.use ?? (isForEncryption ? "enc" : found.defaultUse)
        if use == nil { text.set("use", to: newUse) }
        if alg == nil,
            let algorithm = try header.algorithm(
                for: found, among: found.algorithms(use: newUse))
        {
            text.set("alg", to: algorithm)
        }
        for (name, value) in reader.members(of: jwk)
        where !reader.isString(name, equalTo: "kid") && value.kind != .null {
            text.copy(bytes[name.range], value: bytes[value.range])
        }
        text.end()
    }

    private static func jwk(
        in reader: JSONReader, for header: Header
    ) throws(KeyError) -> JSONReader.Element {
        let root = JWKMembers(of: reader.root, in: reader)
        guard let keys = root["keys"], root["kty"] == nil else { return reader.root }
        var usable: [JSONReader.Element] = []
        for jwk in reader.elements(of: keys) {
            // A malformed key is ignored, as one of an unknown type (RFC 7517, section 5).
            let members = JWKMembers(of: jwk, in: reader, ignoresNull: true)
            guard let kind = try? kind(of: jwk, in: reader), kind != .unsupported,
                let use = try? members.text("use") ?? ""
            else {
                // But no other key takes the place of the one that was named.
                guard let id = members["kid"].flatMap({ reader.string($0) }),
                    sameBytes(id, header.id)
                else { continue }
                throw KeyParts.malformed(
                    "found a key with the id \"\(printable(id))\" that signet can't use")
            }
            if header.use == "enc", use == "sig" || kind.encryptionAlgorithm == nil { continue }
            usable.append(jwk)
        }
        let ids = usable.map { jwk in
            JWKMembers(of: jwk, in: reader, ignoresNull: true)["kid"].flatMap { reader.string($0) }
        }
        if let index = ids.firstIndex(where: { $0.map { sameBytes($0, header.id) } ?? false }) {
            return usable[index]
        }
        guard let only = usable.first, usable.count == 1 else {
            let names = ids.map { $0.map { "\"\(printable($0))\"" } ?? "one without kid" }
            throw KeyParts.malformed(
                "found \(usable.count) keys in the JWK Set that signet can use"
                    + (names.isEmpty ? "" : " (\(names.joined(separator: ", ")))")
                    + ", expected one, or one with the id \"\(printable(header.id))\"")
        }
        return only
    }

    /// Returns the kind of a JWK; `hmac` for every secret that isn't for sealed bodies.
    private static func kind(
        of jwk: JSONReader.Element, in reader: JSONReader
    ) throws(KeyError) -> CryptoKey.Kind {
        let members = JWKMembers(of: jwk, in: reader, ignoresNull: true)
        guard let kty = try members.text("kty") else { throw members.missing("kty") }
        switch kty {
        case "oct":
            let algorithm = try members.text("alg")
            return CryptoKey.Kind.sealingByteCount(algorithm: algorithm) == nil ? .hmac : .aes
        case "OKP", "EC", "RSA": return try members.asymmetricKind(kty)
        default: return .unsupported
        }
    }
}
