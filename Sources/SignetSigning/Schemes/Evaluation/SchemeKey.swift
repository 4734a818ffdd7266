internal import SignetCrypto
internal import Synchronization

/// A key as one scheme uses it.
final class SchemeKey: Sendable {
    private enum Form: Sendable {
        case hmac(HMACKey)
        /// The first key of a chain is made anew for each day, region and so on.
        case chain(DigestAlgorithm, [SchemeTemplate])
        case hash(HashFunction, before: SchemeTemplate?, behind: SchemeTemplate?)
        case asymmetric(SignatureKey, SignatureAlgorithm)
    }

    let key: Key
    private let form: Form
    private let plan: CompiledScheme
    /// Derived keys; readers are parted by thread, so that they share neither a lock nor a key.
    private let stripes = (0..<8).map { _ in Stripe() }

    private final class Stripe: Sendable {
        /// Derived keys with what they were derived for; the newest last.
        let derived = Mutex<[(links: [UInt8], key: HMACKey)]>([])
    }

    /// - Throws: `wrong-key-use`, `algorithm-mismatch`, or `invalid-value` for a secret that is not in
    ///   the scheme's form.
    init(_ key: Key, _ plan: CompiledScheme) throws(SigningError) {
        self.key = key
        self.plan = plan
        switch plan.algorithm {
        case .hmac(let digest, _, _, let chain):
            try Self.requireAgreement(key, digest, plan)
            if chain.isEmpty {
                form = .hmac(
                    try Self.withSecret(of: key, plan) { secret throws(CryptoFailure) in
                        try HMACKey(digest, key: secret)
                    })
            } else {
                try Self.withSecret(of: key, plan) { _ throws(CryptoFailure) in }
                form = .chain(digest, chain)
            }
        case .hash(let function, let before, let behind):
            try Self.withSecret(of: key, plan) { _ throws(CryptoFailure) in }
            form = .hash(function, before: before, behind: behind)
        case .asymmetric(let algorithms):
            do throws(KeyError) {
                let (pair, algorithm) = try key.signatureKey()
                guard algorithms.contains(algorithm) else {
                    throw KeyError(
                        code: .wrongUse,
                        message: "the key \(printable(key.id)) is of another algorithm than "
                            + "\(plan.name) signs with")
                }
                form = .asymmetric(pair, algorithm)
            } catch {
                throw SigningError(error)
            }
        }
    }

    private static func requireAgreement(
        _ key: Key, _ digest: DigestAlgorithm, _ plan: CompiledScheme
    ) throws(SigningError) {
        let wanted: String? = digest == .sha256 ? "HS256" : digest == .sha512 ? "HS512" : nil
        guard key.algorithm == nil || key.algorithm == wanted else {
            throw SigningError(
                .algorithmMismatch,
                "the key is bound to \(printable(key.algorithm ?? "")): \(plan.name) wants "
                    + (wanted ?? "a key without alg"))
        }
    }

    /// Lends the secret as the scheme reads it, with its prefix.
    private static func withSecret<Result>(
        of key: Key, _ plan: CompiledScheme, _ body: (Span<UInt8>) throws(CryptoFailure) -> Result
    ) throws(SigningError) -> Result {
        var decoding = CompiledScheme.SecretDecoding.none
        var prefix: [UInt8] = []
        if case .hmac(_, let given, let before, _) = plan.algorithm {
            decoding = given
            prefix = before
        }
        do throws(KeyError) {
            return try key.withSigningSecret { secret throws(KeyError) in
                var bytes = prefix
                defer { wipe(&bytes) }
                for index in secret.indices { bytes.append(secret[index]) }
                let mark = Array("whsec_".utf8)
                if decoding == .whsec, bytes.starts(with: mark) {
                    guard
                        let decoded = Base64.decode(Array(bytes.dropFirst(mark.count)), .standard),
                        !decoded.isEmpty
                    else {
                        throw KeyError(
                            code: .wrongUse,
                            message:
                                "the secret of key \(printable(key.id)) is no base64 of a byte or more "
                                + "behind whsec_"
                        )
                    }
                    wipe(&bytes)
                    bytes = decoded
                }
                do throws(CryptoFailure) {
                    return try body(bytes.span)
                } catch {
                    throw KeyError(code: .cryptography, message: error.description)
                }
            }
        } catch {
            throw SigningError(error)
        }
    }

    /// The signature of a text, not yet encoded.
    func sign(_ text: [UInt8], _ run: inout SchemeEvaluator) throws(SigningError) -> [UInt8] {
        do throws(CryptoFailure) {
            switch form {
            case .hmac(let key): return try key.tag(of: text.span)
            case .asymmetric(let pair, let algorithm):
                return try pair.sign(text.span, by: algorithm)
            case .chain, .hash: break
            }
        } catch {
            throw SigningError(error)
        }
        return try symmetric(text, &run)
    }

    /// Whether one of some signatures is that of a text; each is compared in constant time.
    func verifies(
        _ signatures: [[UInt8]], of text: [UInt8], _ run: inout SchemeEvaluator
    ) throws(SigningError) -> Bool {
        if case .asymmetric(let pair, let algorithm) = form {
            do throws(CryptoFailure) {
                for signature in signatures {
                    if try pair.verifies(signature.span, of: text.span, by: algorithm) {
                        return true
                    }
                }
                return false
            } catch {
                throw SigningError(error)
            }
        }
        let expected = try sign(text, &run)
        var isFound = false
        for signature in signatures
        where constantTimeEqual(signature.span, expected.span) { isFound = true }
        return isFound
    }

    private func symmetric(
        _ text: [UInt8], _ run: inout SchemeEvaluator
    ) throws(SigningError) -> [UInt8] {
        switch form {
        case .chain(let digest, let chain):
            let key = try derivedKey(digest, chain, &run)
            do throws(CryptoFailure) {
                return try key.tag(of: text.span)
            } catch {
                throw SigningError(error)
            }
        case .hash(let function, let before, let behind):
            let front = try before.map { template throws(SigningError) in
                try pieces(template, &run)
            }
            let back = try behind.map { template throws(SigningError) in
                try pieces(template, &run)
            }
            return try Self.withSecret(of: key, plan) { secret throws(CryptoFailure) in
                var bytes: [UInt8] = []
                defer { wipe(&bytes) }
                bytes.reserveCapacity(text.count + 512)
                Self.append(front ?? [], secret, to: &bytes)
                bytes.append(contentsOf: text)
                Self.append(back ?? [], secret, to: &bytes)
                return try function.hash(bytes.span)
            }
        case .hmac, .asymmetric: return []
        }
    }

    /// A template's pieces, nil where the secret stands.
    private func pieces(
        _ template: SchemeTemplate, _ run: inout SchemeEvaluator
    ) throws(SigningError) -> [[UInt8]?] {
        var pieces: [[UInt8]?] = []
        for source in template.sources {
            pieces.append(source == .secret ? nil : try run.bytes(of: source))
        }
        return pieces
    }

    private static func append(
        _ pieces: [[UInt8]?], _ secret: Span<UInt8>, to bytes: inout [UInt8]
    ) {
        for piece in pieces {
            if let piece {
                bytes.append(contentsOf: piece)
            } else {
                for index in secret.indices { bytes.append(secret[index]) }
            }
        }
    }

    // MARK: The chain

    private func derivedKey(
        _ digest: DigestAlgorithm, _ chain: [SchemeTemplate], _ run: inout SchemeEvaluator
    ) throws(SigningError) -> HMACKey {
        var name: [UInt8] = []
        name.reserveCapacity(64)
        for (index, link) in chain.enumerated() {
            if index > 0 { name.append(0) }
            try run.append(link, to: &name)
        }
        let stripe = stripes[ThreadStripe.index(of: stripes.count)]
        if let known = stripe.derived.withLock({ $0.last(where: { $0.links == name })?.key }) {
            return known
        }
        var links: [[UInt8]] = []
        for link in chain { links.append(try run.expand(link)) }
        let key = try Self.withSecret(of: key, plan) { secret throws(CryptoFailure) in
            var current = try Self.next(secret, links[0], digest)
            for link in links.dropFirst() {
                let next = try Self.next(current.span, link, digest)
                wipe(&current)
                current = next
            }
            let made = try HMACKey(digest, key: current.span)
            wipe(&current)
            return made
        }
        stripe.derived.withLock { derived in
            // A day and a few regions; what falls out is made again.
            if derived.count >= 8 { derived.removeFirst() }
            derived.append((name, key))
        }
        return key
    }

    private static func next(
        _ key: Span<UInt8>, _ link: [UInt8], _ digest: DigestAlgorithm
    ) throws(CryptoFailure) -> [UInt8] {
        try HMAC.tag(of: link.span, key: key, digest)
    }
}
