import Foundation

/// The orders host of `Examples/orders`: nginx with njs on loopback, verifying signatures on its
/// own.
package final class OrdersHost: Sendable {
    /// The id of the key that the host trusts unless it is given another set.
    package static let keyID = "orders-2026"

    package let port: Int
    /// The host's folder, with `logs/error.log`.
    package let folder: TemporaryDirectory
    /// The JWK Set that the host trusts; a client signs with it.
    package let keyFile: String
    private let server: ServerProcess

    /// `https://localhost:PORT`, without a path.
    package var url: String { "https://localhost:\(port)" }

    private init(port: Int, folder: TemporaryDirectory, keyFile: String, server: ServerProcess) {
        self.port = port
        self.folder = folder
        self.keyFile = keyFile
        self.server = server
    }

    /// Starts a host on a free port.
    ///
    /// It trusts the keys of `keyFile`, or of the JWK Set `keySet`; else one fresh key, `keyID`.
    /// `certificate` is shown with its chain; without it, that is the trusted authority's leaf.
    /// `directives` are put into nginx's server block, for the further needs of a test.
    package static func start(
        keyFile: String? = nil, keySet: String? = nil,
        certificate: TestAuthority.Certificate? = nil, directives: String = ""
    ) async throws -> OrdersHost {
        let folder = try TemporaryDirectory()
        let keyFile = try keyFile ?? folder.write(keySet ?? freshKeys(), to: "client-keys.json")
        let certificate = try certificate ?? TestAuthority.trusted.get().leaf
        let certificates = try TemporaryDirectory()
        for (file, name) in [(certificate.chain, "host-chain.pem"), (certificate.key, "host.key")] {
            try certificates.write(Data(contentsOf: URL(filePath: file)), to: name)
        }
        try folder.write(directives, to: "server-test.conf")
        var attempts = 0
        while true {
            let port = freePort()
            do {
                let server = try await ServerProcess.start(
                    PackageLayout.url("Examples/orders/host").path,
                    ["run", "--keys", keyFile, "--certs", certificates.path, "--dir", folder.path],
                    environment: ["PORT": "\(port)"], ready: .listening(port: port))
                return OrdersHost(port: port, folder: folder, keyFile: keyFile, server: server)
            } catch let error as TestSupportError {
                // Another program may have taken the port in the meantime.
                attempts += 1
                guard attempts < 3, "\(error)".contains("in use") else { throw error }
            }
        }
    }

    /// The log's lines, one JSON object for each request that the host has got so far.
    package var requests: [String] {
        let log = (try? folder.read("logs/requests.log")) ?? []
        return String(decoding: log, as: UTF8.self).split(separator: "\n").map(String.init)
    }

    /// The log's lines as soon as there are `count` of them.
    ///
    /// nginx writes a line after it has responded. To see that a call sent nothing, make another
    /// afterwards that does, and wait for exactly that one: lines come in the order of requests.
    package func requests(count: Int) async throws -> [String] {
        guard try await eventually({ self.requests.count >= count }) else {
            throw TestSupportError("\(count) requests wanted, the log has \(requests)")
        }
        return requests
    }

    /// Ends the host and waits until it is gone.
    package func stop() async throws { try await server.stop() }

    private static func freshKeys() -> String {
        let secret = Data((0..<32).map { _ in UInt8.random(in: 0...255) }).base64EncodedString()
        let text = secret.replacingOccurrences(of: "+", with: "-")
            .replacingOccurrences(of: "/", with: "_").replacingOccurrences(of: "=", with: "")
        return
            #"{"keys":[{"kty":"oct","use":"sig","alg":"HS256","kid":"\#(keyID)","k":"\#(text)"}]}"#
    }
}
