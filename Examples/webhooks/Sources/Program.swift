import Hummingbird
import SignetSigning

/// `webhooks KEYS SEEN [PORT]`: serves until SIGTERM, and behind nginx, which ends TLS.
@main struct Program {
    static func main() async throws {
        let arguments = CommandLine.arguments.dropFirst()
        guard let keys = arguments.first, let seen = arguments.dropFirst().first else {
            print("usage: webhooks KEYS SEEN [PORT]")
            return
        }
        let port = arguments.dropFirst(2).first.flatMap { Int($0) } ?? 8080
        let verifier = try makeVerifier(keys: KeySource(keys), seen: seen)
        try await makeServer(verifier: verifier, port: port).runService()
    }
}
