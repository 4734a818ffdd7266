import SignetJSON
public import SignetSigning

/// One scheme with keys, and what a verifier of it may ever take: nobody forges, so that a changed
/// message either fails or says exactly what one of the signed ones said.
public struct Fixture: Sendable {
    /// When everything is signed and verified, in seconds since 1970.
    public static let now: Int64 = 1_795_228_551

    /// Keys of published vectors (RFC 8037, appendix A.1; RFC 7515, appendix A.3), and bytes that count.
    public static let keys = """
        {"keys":[
        {"kty":"oct","kid":"mac","use":"sig","alg":"HS256","k":"AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8"},
        {"kty":"OKP","kid":"ed","crv":"Ed25519","d":"nWGxne_9WmC6hEr0kuwsxERJxWl7MmkZcDusAxyuf2A",
         "x":"11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo"},
        {"kty":"EC","kid":"ec","crv":"P-256","x":"f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU",
         "y":"x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0",
         "d":"jpsQnnGQmL-YBIffH1136cspYG6-0iY7X1fCE9-E9LI"}]}
        """

    /// The keys of every kind that signs without a long computation.
    public static func keySet() throws -> KeySet {
        try KeySet(parsing: Array(keys.utf8), source: "the fuzzer")
    }

    /// Verifies by the scheme.
    public let verifier: Verifier
    /// The covered values of the signed messages.
    public let proofs: Set<[MessagePart]>
    /// The messages that were signed.
    public let signed: [SignableMessage]

    /// Signs every message that the scheme takes, with each of the keys that it takes.
    public init(
        _ scheme: SigningScheme, _ messages: [SignableMessage],
        covers: [ComponentIdentifier]? = nil
    ) throws {
        let settings = Self.settings(of: scheme)
        var policy = VerificationPolicy()
        policy.coveredComponents = covers
        policy.settings = settings
        let set = try Self.keySet()
        verifier = try Verifier(scheme: scheme, keys: set, policy: policy)
        var proofs: Set<[MessagePart]> = []
        var signed: [SignableMessage] = []
        for key in set.keys {
            var options = MessageSigner.Options()
            options.settings = settings
            options.coveredComponents = covers
            guard let signer = try? MessageSigner(scheme: scheme, key: key, options: options) else {
                continue
            }
            for var message in messages {
                guard (try? signer.sign(&message, now: Self.now)) != nil else { continue }
                guard let proof = try? verifier.verify(message, now: Self.now) else {
                    broken("\(scheme.name): what was signed does not verify")
                }
                proofs.insert(proof.covered)
                signed.append(message)
            }
        }
        self.proofs = proofs
        self.signed = signed
    }

    /// A value for each setting of a document: the first that is allowed.
    public static func settings(of scheme: SigningScheme) -> [String: String] {
        var settings: [String: String] = [:]
        for (name, value) in scheme.document["settings"]?.object ?? [:]
        where value["required"] == true {
            settings[name] = value["enum"]?.array?.first?.string ?? "service"
        }
        return settings
    }
}
