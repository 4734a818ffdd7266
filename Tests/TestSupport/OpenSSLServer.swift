import Foundation

/// `openssl s_server` on loopback: TLS in any shape that a test asks for, with another stack than
/// the one under test serving it.
package final class OpenSSLServer: Sendable {
    package let port: Int
    package let server: ServerProcess

    /// The certificates that the server shows to a client.
    package struct Identity: Sendable {
        /// PEM files: the leaf, its key, and the certificates sent after the leaf (nil: none).
        package let certificate: String
        package let key: String
        package let chain: String?

        package init(certificate: String, key: String, chain: String?) {
            self.certificate = certificate
            self.key = key
            self.chain = chain
        }
    }

    /// Starts a server; `options` are more words of `openssl s_server`, such as `-tls1_2`.
    ///
    /// It responds to each request with a status page (`-www`), or, where `responds` is false, says
    /// nothing and keeps what it receives in `received`.
    package init(_ identity: Identity, options: [String] = [], responds: Bool = true) async throws {
        port = freePort()
        var arguments = [
            "s_server", "-accept", "127.0.0.1:\(port)", "-cert", identity.certificate,
            "-key", identity.key,
        ]
        if let chain = identity.chain { arguments += ["-cert_chain", chain] }
        arguments.append(responds ? "-www" : "-quiet")
        server = try await .start(
            "openssl", arguments + options, ready: .listening(port: port))
    }

    /// `https://127.0.0.1:PORT`, without a path.
    package var url: String { "https://127.0.0.1:\(port)" }

    /// All application data that a server which does not respond has received so far.
    package var received: String { server.stdout }

    package func stop() async throws { try await server.stop() }
}
