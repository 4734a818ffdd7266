import Foundation

/// A server on loopback that responds to each path as a test chooses, over TCP or TLS, one request
/// on each connection, and keeps every received byte: Python's sockets.
package final class RouteServer: Sendable {
    package let port: Int
    package let isSecure: Bool
    private let server: ServerProcess

    /// Starts a server; `routes` gives status line's end, fields and body for paths without query,
    /// as `302 Found\r\nLocation: /b\r\n\r\n`. In them `{self}` is the server's port. Any other
    /// path is 404.
    package init(_ routes: [String: String], tls: TestAuthority.Certificate? = nil) async throws {
        isSecure = tls != nil
        let table = String(decoding: try JSONEncoder().encode(routes), as: UTF8.self)
        (server, port) = try await SocketServer.start("routes", [table], tls: tls)
    }

    /// `https://localhost:PORT` or `http://localhost:PORT`, without a path.
    package var url: String { "\(isSecure ? "https" : "http")://localhost:\(port)" }

    /// The requests so far, as text, in their order.
    package var requests: [String] {
        server.received.map { text($0) }
    }
}
