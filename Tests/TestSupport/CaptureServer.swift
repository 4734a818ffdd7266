/// A server on loopback that keeps every request byte for byte and sends the same response to
/// each: Python's sockets, so that nothing between the wire and the test puts a request in order.
package final class CaptureServer: Sendable {
    package let port: Int
    private let server: ServerProcess
    private let scheme: String

    /// Starts a server that responds with a status line's end, such as `200 OK`, and a body of
    /// JSON.
    ///
    /// With `tls` it speaks TLS and shows that certificate with its chain.
    package init(
        status: String = "200 OK", response: String = "{}", tls: TestAuthority.Certificate? = nil
    ) async throws {
        scheme = tls == nil ? "http" : "https"
        (server, port) = try await SocketServer.start("capture", [status, response], tls: tls)
    }

    /// `http://127.0.0.1:PORT`, without a path; with TLS `https://…`.
    package var url: String { "\(scheme)://127.0.0.1:\(port)" }

    /// The requests so far, in their order, as soon as there are `count` of them; an error where
    /// they do not come.
    package func requests(count: Int) async throws -> [[UInt8]] {
        var requests: [[UInt8]] = []
        let areThere = try await eventually {
            requests = server.received
            return requests.count >= count
        }
        guard areThere else {
            throw TestSupportError("\(count) requests wanted, the server got \(requests.count)")
        }
        return requests
    }

    /// The requests that have arrived by now.
    package var received: [[UInt8]] { server.received }

    /// The server names of the TLS handshakes so far (SNI).
    package var serverNames: [String] { server.lines("SNI") }

    package func stop() async throws { try await server.stop() }
}
