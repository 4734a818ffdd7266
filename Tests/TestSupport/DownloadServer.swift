import Foundation

/// A server on loopback that has files, knows ranges (RFC 9110, section 14), redirects as a test
/// chooses, and cuts or holds back what a query asks it to.
///
/// `/file` and `/other` differ and have the same entity tag. `?cut=N` ends the first response to
/// that target after N bytes, `?hold=N` sends no more after N bytes until the client goes.
package final class DownloadServer: Sendable {
    package static let size = 200_000
    /// The content of `/file`.
    package static let file = (0..<size).map { UInt8($0 * 7 % 251) }
    /// The content of `/other`.
    package static let other = (0..<size).map { UInt8($0 * 5 % 241) }

    package let port: Int
    private let scheme: String
    private let server: ServerProcess

    /// Starts a server.
    ///
    /// - Parameter redirects: For a path, where its first, second, … request is led (302); an empty
    ///   text, and the list's end, leads nowhere.
    package init(
        _ redirects: [String: [String]] = [:], tls: TestAuthority.Certificate? = nil
    ) async throws {
        scheme = tls == nil ? "http" : "https"
        let table = String(decoding: try JSONEncoder().encode(redirects), as: UTF8.self)
        (server, port) = try await SocketServer.start(
            "download", ["\(Self.size)", table], tls: tls)
    }

    /// `https://localhost:PORT`, without a path.
    package var url: String { "\(scheme)://localhost:\(port)" }

    /// The requests so far, byte for byte, in their order.
    package var requests: [String] {
        server.received.map { text($0) }
    }

    /// Of each request so far, what it asked for from which byte on, as `/file 90000`; `-` is the
    /// whole.
    package var asked: [String] {
        requests.map { request in
            let lines = request.split(separator: "\r\n")
            let range = lines.first { $0.lowercased().hasPrefix("range: bytes=") }
            let words = lines.first?.split(separator: " ") ?? []
            return "\(words.count > 1 ? words[1] : "?") "
                + (range.map { String($0.dropFirst(13).dropLast()) } ?? "-")
        }
    }
}
