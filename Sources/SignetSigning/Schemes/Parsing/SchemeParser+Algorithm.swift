import SignetCrypto

/// Parses the algorithm and checks that the parts of the document fit together.
extension SchemeParser {
    func algorithm(_ sign: SchemeValue) throws(SigningError) -> CompiledScheme.Algorithm {
        _ = try sign.object()
        if sign.has("hmac") { return try hmac(sign) }
        if sign.has("hash") { return try hashWithSecret(sign) }
        guard sign.has("key") else {
            throw sign.malformed("found no algorithm, expected one of hmac, hash, key")
        }
        try sign.requireMembers(in: ["key", "form"])
        let algorithms: [SignatureAlgorithm] = try sign["key"].choices()
        let form: CompiledScheme.SignatureForm = try sign["form"].choice(default: .raw)
        let ecdsa: [SignatureAlgorithm] = [.ecdsaP256SHA256, .ecdsaP384SHA384]
        guard form == .raw || algorithms.allSatisfy(ecdsa.contains) else {
            throw sign["form"].wrong(expected: "no DER: only signatures of ECDSA have it")
        }
        return .asymmetric(algorithms, form: form)
    }

    private func hmac(_ sign: SchemeValue) throws(SigningError) -> CompiledScheme.Algorithm {
        try sign.requireMembers(in: ["hmac", "secret", "prefix", "chain"])
        let hash: HMACHash = try sign["hmac"].choice()
        let decoding: CompiledScheme.SecretDecoding = try sign["secret"].choice(
            default: CompiledScheme.SecretDecoding.none)
        let prefix = Array(try sign["prefix"].ifPresent?.string().utf8 ?? "".utf8)
        guard prefix.isEmpty || decoding == .none else {
            throw sign["prefix"].wrong(expected: "no prefix: the secret is decoded")
        }
        var chain: [SchemeTemplate] = []
        let links = try sign["chain"].ifPresent?.strings(count: 0...SchemeLimits.links)
        guard links == nil || hash != .sha1 else {
            throw sign["chain"].wrong(expected: "no chain: with sha1 the secret itself signs")
        }
        for (_, place) in links ?? [] {
            let link = try template(place)
            guard !link.sources.isEmpty else {
                throw place.wrong(expected: "a string that is not empty")
            }
            chain.append(link)
        }
        return .hmac(hash, decoding: decoding, prefix: prefix, chain: chain)
    }

    private func hashWithSecret(
        _ sign: SchemeValue
    ) throws(SigningError) -> CompiledScheme.Algorithm {
        try sign.requireMembers(in: ["hash", "before", "behind"])
        func part(_ member: String) throws(SigningError) -> SchemeTemplate? {
            guard let text = sign[member].ifPresent else { return nil }
            return try template(text, allowing: ["secret"])
        }
        let before = try part("before")
        let after = try part("behind")
        let sources = (before?.sources ?? []) + (after?.sources ?? [])
        guard sources.contains(.secret) else {
            throw sign.malformed("found no {secret}, expected it in \"before\" or \"behind\"")
        }
        return .hash(try sign["hash"].choice(), before: before, after: after)
    }

    // MARK: Consistency

    /// Throws if no verifier could check the scheme's signatures.
    func check(_ root: SchemeValue) throws(SigningError) {
        let slotSources = (injections + placements).flatMap(\.templates).flatMap(\.sources)
        guard placements.flatMap(\.templates).flatMap(\.sources).contains(.signature) else {
            throw root["place"].malformed("found no {signature}, expected one")
        }
        var used: Set<SchemeTemplate.Source> = []
        gather(text, into: &used)
        guard used.contains(where: { !$0.isLiteral }) else {
            throw root["text"].malformed(
                "found the same text for every message, expected a part of the message")
        }
        for template in algorithm.templates { gather(.template(template), into: &used) }
        for source in slotSources { gather(.template(SchemeTemplate([source])), into: &used) }
        let usesTime = used.contains { if case .time = $0 { true } else { false } }
        for (name, isUsed, isSent) in [
            ("{time}", usesTime, slotSources.contains(where: \.isTimeToTheSecond)),
            ("{nonce}", used.contains(.nonce), slotSources.contains(.nonce)),
            ("{lifetime}", used.contains(.lifetime), slotSources.contains(.lifetime)),
        ] where isUsed && !isSent {
            throw root.malformed(
                "found \(name), which a verifier could not read, expected it in \"inject\" or "
                    + "\"place\" too" + (name == "{time}" ? ", to the second" : ""))
        }
    }

    private func gather(
        _ step: CompiledScheme.Step, into used: inout Set<SchemeTemplate.Source>
    ) {
        switch step {
        case .template(let template):
            for source in template.sources where used.insert(source).inserted {
                if case .value(let index) = source { gather(values[index].step, into: &used) }
            }
        case .path: used.insert(.path)
        case .parameters(let rule): used.insert(rule.origins == [.query] ? .query : .body)
        case .join, .hash, .choice: break
        }
        for step in step.inner { gather(step, into: &used) }
    }
}
