import Foundation

/// mitmproxy on loopback: it reads the traffic through it, with certificates of an authority of its
/// own.
///
/// `heard` has everything that it could read: its log with each request's fields and body, and the
/// file that it saves its flows in.
package final class Interceptor: Sendable {
    /// How clients come to it.
    package enum Mode: Sendable {
        /// As a proxy, by CONNECT.
        case proxy
        /// As if it were the host at this URL.
        case host(String)
    }

    package let port: Int
    /// A PEM file with the tests' authority and the interceptor's own.
    package let caFile: String
    /// The pin of its own authority's key.
    package let pin: String
    private let folder: TemporaryDirectory
    private let server: ServerProcess

    /// Starts one that trusts the tests' authority.
    package init(_ mode: Mode) async throws {
        let authority = try TestAuthority.trusted.get()
        folder = try TemporaryDirectory()
        port = freePort()
        let way: String =
            switch mode {
            case .proxy: "regular"
            case .host(let url): "reverse:\(url)"
            }
        server = try await ServerProcess.start(
            PythonPeer.mitmdump,
            [
                "--listen-host", "127.0.0.1", "--listen-port", "\(port)", "--mode", way,
                "--save-stream-file", folder.path("flows"), "--set", "flow_detail=3", "--set",
                "confdir=\(folder.path)", "--set",
                "ssl_verify_upstream_trusted_ca=\(authority.caFile)",
            ], ready: .listening(port: port))
        let own = folder.path("mitmproxy-ca-cert.pem")
        pin = try TestAuthority.pin(ofCertificate: own)
        caFile = try folder.write(
            Data(contentsOf: URL(filePath: authority.caFile))
                + Data(contentsOf: URL(filePath: own)), to: "both.pem")
    }

    /// The URL for a client that uses it as a proxy.
    package var proxyURL: String { "http://127.0.0.1:\(port)" }

    /// All that it heard; it is stopped for that, so that nothing is under way.
    package func heard() async throws -> String {
        try await server.stop()
        let flows = (try? folder.read("flows")) ?? []
        return server.stdout + server.stderr + String(decoding: flows, as: UTF8.self)
    }
}
