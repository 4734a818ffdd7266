internal import SignetCrypto
internal import SignetJSON

/// How the text is signed, and whether all parts fit together.
extension SchemeParser {
    private enum HMACHash: String, CaseIterable {
        case sha256, sha384, sha512

        var digest: DigestAlgorithm {
            switch self {
            case .sha256: .sha256
            case .sha384: .sha384
            case .sha512: .sha512
            }
        }
    }

    private enum KeyAlgorithm: String, CaseIterable {
        case ed25519
        case ecdsaP256SHA256 = "ecdsa-p256-sha256"
        case ecdsaP384SHA384 = "ecdsa-p384-sha384"
        case rsaPSSSHA512 = "rsa-pss-sha512"
        case rsaPKCS1SHA256 = "rsa-v1_5-sha256"

        var algorithm: SignatureAlgorithm {
            switch self {
            case .ed25519: .ed25519
            case .ecdsaP256SHA256: .ecdsaP256SHA256
            case .ecdsaP384SHA384: .ecdsaP384SHA384
            case .rsaPSSSHA512: .rsaPSSSHA512
            case .rsaPKCS1SHA256: .rsaPKCS1SHA256
            }
        }
    }

    func algorithm(_ sign: SchemeReader) throws(SigningError) -> CompiledScheme.Algorithm {
        if sign.has("hmac") { return try hmac(sign) }
        if sign.has("hash") { return try saltedHash(sign) }
        guard sign.has("key") else {
            throw sign.malformed("found no way to sign, wanted one of hmac, hash, key")
        }
        try sign.demand(["key"])
        var algorithms: [SignatureAlgorithm] = []
        for (text, place) in try sign.texts("key", 1...KeyAlgorithm.allCases.count) {
            guard let algorithm = KeyAlgorithm.named(text) else {
                throw SchemeReader.wrong(.string(text), at: place, wanted: KeyAlgorithm.known)
            }
            algorithms.append(algorithm.algorithm)
        }
        return .asymmetric(algorithms)
    }

    private func hmac(_ sign: SchemeReader) throws(SigningError) -> CompiledScheme.Algorithm {
        try sign.demand(["hmac", "secret", "prefix", "chain"])
        let hash: HMACHash = try sign.choice("hmac")
        let decoding: CompiledScheme.SecretDecoding = try sign.choice(
            "secret", else: CompiledScheme.SecretDecoding.none)
        let prefix = Array(try sign.optionalText("prefix")?.utf8 ?? "".utf8)
        guard prefix.isEmpty || decoding == .none else {
            throw sign.wrong("prefix", wanted: "none before a secret that is decoded")
        }
        var chain: [SchemeTemplate] = []
        for (text, place) in try sign.optionalTexts("chain", 0...SchemeLimits.links) ?? [] {
            let link = try template(text, at: place)
            guard !link.sources.isEmpty else {
                throw SchemeReader.wrong(
                    .string(text), at: place, wanted: "a text that is not empty")
            }
            chain.append(link)
        }
        return .hmac(hash.digest, decoding: decoding, prefix: prefix, chain: chain)
    }

    private func saltedHash(_ sign: SchemeReader) throws(SigningError) -> CompiledScheme.Algorithm {
        try sign.demand(["hash", "before", "behind"])
        func part(_ member: String) throws(SigningError) -> SchemeTemplate? {
            guard let text = try sign.optionalText(member) else { return nil }
            return try template(text, at: sign.path(member), allowing: ["secret"])
        }
        let before = try part("before")
        let behind = try part("behind")
        let sources = (before?.sources ?? []) + (behind?.sources ?? [])
        guard sources.contains(.secret) else {
            throw sign.malformed(
                "found no {secret} in \"before\" or \"behind\", wanted one: a hash without it "
                    + "proves nothing")
        }
        return .hash(try sign.choice("hash"), before: before, behind: behind)
    }

    // MARK: Whether all fits

    /// Refuses a document whose signatures nobody could verify.
    func check(_ root: SchemeReader) throws(SigningError) {
        let carried = (injections + placements).flatMap(\.templates).flatMap(\.sources)
        guard placements.flatMap(\.templates).contains(where: { $0.sources.contains(.signature) })
        else {
            throw SigningError(
                .malformedScheme, "\(root.path("place")): found no {signature}, wanted one")
        }
        var used: Set<SchemeTemplate.Source> = []
        gather(text, &used)
        guard used.contains(where: { !$0.isLiteral }) else {
            throw SigningError(
                .malformedScheme,
                "\(root.path("text")): found the same text for every message, wanted a part of it")
        }
        if case .hmac(_, _, _, let chain) = algorithm {
            for link in chain { gather(.template(link), &used) }
        }
        if case .hash(_, let before, let behind) = algorithm {
            for template in [before, behind].compactMap({ $0 }) {
                gather(.template(template), &used)
            }
        }
        for source in carried { gather(.template(SchemeTemplate([source])), &used) }
        let hasWholeTime = carried.contains { $0.wholeTime }
        let usesTime = used.contains { if case .time = $0 { true } else { false } }
        for (name, isUsed, travels) in [
            ("{time}", usesTime, hasWholeTime),
            ("{nonce}", used.contains(.nonce), carried.contains(.nonce)),
            ("{lifetime}", used.contains(.lifetime), carried.contains(.lifetime)),
        ] where isUsed && !travels {
            throw root.malformed(
                "found \(name) where nobody can read it back, wanted it in \"inject\" or "
                    + "\"place\"" + (name == "{time}" ? " too, to the second" : " too"))
        }
    }

    private func gather(_ step: CompiledScheme.Step, _ used: inout Set<SchemeTemplate.Source>) {
        switch step {
        case .template(let template):
            for source in template.sources where used.insert(source).inserted {
                if case .value(let index) = source { gather(values[index].step, &used) }
            }
        case .join(let steps, _): for step in steps { gather(step, &used) }
        case .hash(_, let step, _): gather(step, &used)
        case .path: used.insert(.path)
        case .parameters(let rule):
            used.insert(rule.origins == [.query] ? .query : .body)
            for (_, template) in rule.added { gather(.template(template), &used) }
        case .choice(let choices): for (_, step) in choices { gather(step, &used) }
        }
    }
}

extension SchemeTemplate.Source {
    /// Whether a time can be read back from it to the second.
    fileprivate var wholeTime: Bool {
        if case .time(let format) = self { format.isWhole } else { false }
    }
}
