import SignetBase
import SignetCrypto
import SignetSystem
import Synchronization

/// A key prepared for one scheme.
final class SchemeKey: Sendable {
    private enum Form: Sendable {
        case key(RFC9421Key)
        /// An HMAC with SHA-1 under the secret, which is read for each text.
        case hmacSHA1
        /// The HMAC key is derived again for each day, region and so on.
        case chain(DigestAlgorithm, [SchemeTemplate])
        case hash(HashFunction, before: SchemeTemplate?, after: SchemeTemplate?)
    }

    let key: CryptoKey
    private let form: Form
    private let scheme: CompiledScheme
    /// The derived keys with the links of their chains, the newest last. Without them, `sigv4-sign`
    /// takes 1.8 times as long.
    private let derived = Mutex<[(links: [UInt8], key: HMACKey)]>([])

    /// Prepares a key.
    ///
    /// - Throws: `wrong-key-use`, also for a secret that is not in the scheme's form, or
    ///   `algorithm-mismatch`.
    init(_ key: CryptoKey, for scheme: CompiledScheme) throws(SigningError) {
        self.key = key
        self.scheme = scheme
        switch scheme.algorithm {
        case .hmac(let hash, _, _, let chain):
            let digest = hash.digest
            try Self.requireAlgorithm(of: key, digest: digest, for: scheme)
            guard let digest else {
                try Self.withSecret(of: key, for: scheme) { _ throws(CryptoFailure) in }
                form = .hmacSHA1
                return
            }
            if chain.isEmpty {
                form = .key(
                    .hmac(
                        try Self.withSecret(of: key, for: scheme) { secret throws(CryptoFailure) in
                            try HMACKey(digest, key: secret)
                        }))
            } else {
                try Self.withSecret(of: key, for: scheme) { _ throws(CryptoFailure) in }
                form = .chain(digest, chain)
            }
        case .hash(let function, let before, let after):
            try Self.withSecret(of: key, for: scheme) { _ throws(CryptoFailure) in }
            form = .hash(function, before: before, after: after)
        case .asymmetric(let algorithms, _):
            let (pair, algorithm) = try convertingKeyError(key.signatureKey)
            guard algorithms.contains(algorithm) else {
                throw SigningError(
                    .wrongKeyUse,
                    "the algorithm of key \(printable(key.id)) is not one that \(scheme.name) "
                        + "signs with")
            }
            form = .key(.asymmetric(pair, algorithm))
        }
    }

    /// Throws if the key is bound to another algorithm than an HMAC with this digest.
    private static func requireAlgorithm(
        of key: CryptoKey, digest: DigestAlgorithm?, for scheme: CompiledScheme
    ) throws(SigningError) {
        let expected: String? = digest == .sha256 ? "HS256" : digest == .sha512 ? "HS512" : nil
        guard key.algorithm == nil || key.algorithm == expected else {
            throw SigningError(
                .algorithmMismatch,
                "the key is bound to \(printable(key.algorithm ?? "")), \(scheme.name) expects "
                    + (expected ?? "a key without alg"))
        }
    }

    /// Calls a closure with the secret, decoded and prefixed as the scheme says, and wipes it
    /// afterwards.
    private static func withSecret<Result>(
        of key: CryptoKey, for scheme: CompiledScheme,
        _ body: (Span<UInt8>) throws(CryptoFailure) -> Result
    ) throws(SigningError) -> Result {
        var decoding = CompiledScheme.SecretDecoding.none
        var prefix: [UInt8] = []
        if case .hmac(_, let given, let before, _) = scheme.algorithm {
            decoding = given
            prefix = before
        }
        return try convertingKeyError { () throws(KeyError) in
            try key.withSigningSecret { secret throws(KeyError) in
                var bytes = prefix
                defer { wipe(&bytes) }
                for index in secret.indices { bytes.append(secret[index]) }
                let mark = Array("whsec_".utf8)
                if decoding == .whsec, let found = bytes.firstRange(of: mark),
                    found.lowerBound > 0
                {
                    throw KeyError(
                        .wrongKeyUse,
                        "the secret of key \(printable(key.id)) has \(found.lowerBound) bytes before "
                            + "whsec_, expected none")
                }
                if decoding == .whsec, bytes.starts(with: mark) {
                    guard
                        let decoded = Base64.decode(
                            Array(bytes.dropFirst(mark.count)), from: .standard),
                        !decoded.isEmpty
                    else {
                        throw KeyError(
                            .wrongKeyUse,
                            "the secret of key \(printable(key.id)) must have valid base64 of "
                                + "at least one byte after whsec_"
                        )
                    }
                    wipe(&bytes)
                    bytes = decoded
                }
                do throws(CryptoFailure) {
                    return try body(bytes.span)
                } catch {
                    throw KeyError(.cryptoFailed, error.description)
                }
            }
        }
    }

    /// Returns the signature of a text, not yet encoded.
    ///
    /// - Parameter evaluator: Evaluates the templates of the chain or around the secret.
    func sign(
        _ text: [UInt8], with evaluator: inout SchemeEvaluator
    ) throws(SigningError) -> [UInt8] {
        switch form {
        case .key(let key):
            let signature = try key.sign(text)
            return scheme.usesDER ? DERSignature.der(ofRaw: signature) : signature
        case .hmacSHA1:
            return try Self.withSecret(of: key, for: scheme) { secret throws(CryptoFailure) in
                try InsecureHMAC.sha1(of: text.span, key: secret)
            }
        case .chain(let digest, let chain):
            let key = try derivedKey(by: digest, chain: chain, with: &evaluator)
            return try RFC9421Key.hmac(key).sign(text)
        case .hash(let function, let before, let after):
            // `nil` stands for the secret, which is read only while the hash is computed.
            var pieces: [[UInt8]?] = []
            for source in (before?.sources ?? []) + [.literal(text)] + (after?.sources ?? []) {
                pieces.append(source == .secret ? nil : try evaluator.bytes(of: source))
            }
            return try Self.withSecret(of: key, for: scheme) { secret throws(CryptoFailure) in
                var bytes: [UInt8] = []
                defer { wipe(&bytes) }
                bytes.reserveCapacity(text.count + 512)
                for piece in pieces {
                    if let piece {
                        bytes.append(contentsOf: piece)
                    } else {
                        for index in secret.indices { bytes.append(secret[index]) }
                    }
                }
                return try function.hash(bytes.span)
            }
        }
    }

    /// Returns whether one of the signatures is valid for a text. MACs are compared in constant
    /// time.
    func verifies(
        _ signatures: [[UInt8]], of text: [UInt8], with evaluator: inout SchemeEvaluator
    ) throws(SigningError) -> Bool {
        if case .key(let key) = form, case .asymmetric(let pair, _) = key {
            for signature in signatures {
                let raw =
                    scheme.usesDER
                    ? DERSignature(signature)?.raw(byteCount: pair.signatureByteCount) : signature
                if let raw, try key.verifies(raw, of: text) { return true }
            }
            return false
        }
        let expected = try sign(text, with: &evaluator)
        var isFound = false
        for signature in signatures
        where constantTimeEqual(signature.span, expected.span) { isFound = true }
        return isFound
    }

    // MARK: The chain

    private func derivedKey(
        by digest: DigestAlgorithm, chain: [SchemeTemplate],
        with evaluator: inout SchemeEvaluator
    ) throws(SigningError) -> HMACKey {
        var name: [UInt8] = []
        name.reserveCapacity(64)
        for (index, link) in chain.enumerated() {
            if index > 0 { name.append(0) }
            try evaluator.append(link, to: &name)
        }
        if let known = derived.withLock({ $0.last(where: { $0.links == name })?.key }) {
            return known
        }
        var links: [[UInt8]] = []
        for link in chain { links.append(try evaluator.expand(link)) }
        let key = try Self.withSecret(of: key, for: scheme) { secret throws(CryptoFailure) in
            let first = links[0]
            var current = try HMAC.tag(of: first.span, key: secret, using: digest)
            defer { wipe(&current) }
            for link in links.dropFirst() {
                let next = try HMAC.tag(of: link.span, key: current.span, using: digest)
                wipe(&current)
                current = next
            }
            return try HMACKey(digest, key: current.span)
        }
        derived.withLock { derived in
            // Enough for one day and a few regions; a key that is dropped can be derived again.
            if derived.count >= 8 { derived.removeFirst() }
            derived.append((name, key))
        }
        return key
    }
}
