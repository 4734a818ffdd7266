import Hummingbird
import SignetSigning

/// Makes the server: `POST /hooks` gets verified webhooks alone.
func makeServer(
    verifier: Verifier, port: Int = 8080
) -> Application<RouterResponder<BasicRequestContext>> {
    let router = Router()
    router.group("/hooks")
        .add(middleware: VerifyingMiddleware(verifier: verifier))
        .post { request, _ in
            // The middleware has read it, and let it pass once: act on it here.
            let body = try await request.body.collect(upTo: 16 << 20)
            return "\(body.readableBytes) bytes\n"
        }
    return Application(
        router: router, configuration: .init(address: .hostname("127.0.0.1", port: port)))
}

/// Makes the verifier of a partner's webhooks, which remembers what it has seen in a file.
func makeVerifier(keys: KeySource, seen: String) throws -> Verifier {
    try Verifier(
        scheme: SigningScheme(named: "standard-webhooks"), keys: keys.load(),
        nonces: FileNonceStore(path: seen))
}
