import HTTPTypes
import SignetCrypto
import SignetSigning

/// Signs a service's requests with a key of the set, or with one that is held elsewhere.
struct RequestSigner: Sendable {
    private let signer: MessageSigner
    /// Nil if the key is in the set.
    private let external: (any ExternalSigner)?

    /// The name of the scheme.
    var scheme: String { signer.scheme.name }
    /// The id of the key.
    var keyID: String { signer.keyID }
    /// Whether the program signs.
    var isExternal: Bool { external != nil }

    init(_ signer: MessageSigner) {
        self.signer = signer
        external = nil
    }

    /// - Throws: `unsupported-option` for another scheme than `rfc9421`.
    init(
        _ external: any ExternalSigner, scheme: SigningScheme, options: MessageSigner.Options
    ) throws(SigningError) {
        guard scheme == .rfc9421 else {
            throw SigningError(
                .unsupportedOption, "\(scheme.name): only rfc9421 supports an external key")
        }
        signer = try MessageSigner(
            keyID: external.keyID, algorithm: external.algorithm, options: options)
        self.external = external
    }

    /// The digests that are needed to sign a message whose body isn't in memory.
    func bodyDigests(for message: SignableMessage) -> Set<BodyDigest> {
        signer.bodyDigests(for: message)
    }

    /// Checks that the scheme can read what it signs.
    ///
    /// - Throws: `invalid-options` for an encoded body whose parameters the scheme signs.
    func checkEncoding(of head: HTTPRequest, as message: SignableMessage) throws(ClientError) {
        let codings = head.headerFields[.contentEncoding]?.split(separator: ",") ?? []
        let isEncoded = codings.contains {
            $0.trimmingPrefix { $0 == " " }.lowercased() != "identity"
        }
        guard isEncoded, signer.readsParameters(inBodyOf: message) else { return }
        throw ClientError(
            .invalidOptions,
            "\(signer.scheme.name) signs the parameters in the body and can't read them in a body with"
                + " Content-Encoding: expected a request without this field, which the option"
                + " compression adds too")
    }

    /// Signs a message now.
    ///
    /// - Throws: `SigningError`; The external signer's `ClientError`. For its other errors the
    ///   message has only the type's name.
    func sign(_ message: inout SignableMessage, now: Int64) async throws -> MessageSigner.Result {
        guard let external else { return try signer.sign(&message, now: now) }
        let prepared = try signer.prepare(&message, now: now)
        let signature: [UInt8]
        do {
            signature = try await external.sign(prepared.base)
        } catch let error as ClientError {
            throw error
        } catch is CancellationError {
            throw ClientError.cancelledByCaller
        } catch {
            throw ClientError(
                .signerFailed, "the external signer threw \(type(of: error)); nothing was sent")
        }
        return try signer.apply(signature, of: prepared, to: &message)
    }
}

extension [any ExternalSigner] {
    /// Returns the signer with a key's id; nil if no one has it.
    ///
    /// - Throws: `invalid-service` if several have the id, or the set too.
    func signer(for id: String, besides keys: KeySet?) throws(ClientError) -> Element? {
        let found = filter { sameBytes($0.keyID, id) }
        guard let signer = found.first else { return nil }
        let isInSet = keys?.keys.contains { sameBytes($0.id, id) } == true
        guard found.count == 1, !isInSet else {
            throw ClientError(
                .invalidService,
                "the id of an external signer's key is also that of another key: expected one")
        }
        return signer
    }
}
