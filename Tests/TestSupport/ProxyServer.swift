/// A proxy on loopback, in Python: HTTP (CONNECT and absolute URLs), the same in TLS, SOCKS 4a and
/// 5.
///
/// It prints what it was asked (`ASKED CONNECT localhost:443`), the credentials it was given
/// (`LOGIN …`) and, as hexadecimal, all that clients said to itself (`GOT …`); whatever the host,
/// it connects to 127.0.0.1. A client that uses it as a host, and requests a path, gets `ok`.
package final class ProxyServer: Sendable {
    package let port: Int
    private let server: ServerProcess

    /// Starts a proxy.
    ///
    /// - Parameters:
    ///   - login: The required `USER:PASSWORD`; nil accepts every client.
    ///   - gathers: Whether the origin's bytes are collected until it pauses, and then sent as one
    ///     TLS record.
    ///   - response: What responds to CONNECT, instead of a connection to the host.
    package init(
        login: String? = nil, tls: TestAuthority.Certificate? = nil, gathers: Bool = false,
        response: [ServerStep]? = nil
    ) async throws {
        let steps = try response.map(ServerStep.json) ?? ""
        (server, port) = try await SocketServer.start(
            "proxy", [login ?? "", gathers ? "gathers" : "", steps], tls: tls)
    }

    /// The requests to it, in order, as `CONNECT localhost:443` or `SOCKS5 localhost:443`.
    package var asked: [String] { server.lines("ASKED") }
    /// The credentials it was given.
    package var logins: [String] { server.lines("LOGIN") }
    /// All that clients said to the proxy itself, as text in lower case.
    package var heard: String { text(Array(server.received.joined())).lowercased() }
}
