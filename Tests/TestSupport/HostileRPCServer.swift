package import Foundation

/// A JSON-RPC server on loopback that breaks the rules that a test chooses: Python's sockets.
///
/// It reads a vector file; a request to `/N` gets case N as its response: `status`, `type` and
/// `body`, in which `{id}` is the call's id and `{id0}`, `{id1}` … those of a batch. `mode` is
/// `short` (ended before the length it names), `drip` (one byte at a time, never all), `flood`
/// (without end), `hang` (no response), `close` (no byte), `garbage` (no HTTP), `large` (two
/// million times the body) or nil.
package final class HostileRPCServer: Sendable {
    package let port: Int
    private let server: ServerProcess

    /// Starts the server.
    package init(vectors: URL) async throws {
        (server, port) = try await SocketServer.start("hostile-rpc", [vectors.path])
    }

    /// The URL of case `number`.
    package func url(case number: Int) -> String { "http://127.0.0.1:\(port)/\(number)" }
}
