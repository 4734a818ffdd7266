import Foundation
import SignetBase
import SignetClient
import SignetCrypto
import SignetPinning
import SignetTransport
import TestSupport
import Testing

/// A program with 200 services, each with a CA and a client certificate of its own.
@Suite(.timeLimit(.minutes(5))) struct ManyServicesTests {
    private static let count = 200

    private static func name(_ number: Int) -> ServiceName { ServiceName("s\(number)") }

    private static var threads: Int {
        get throws {
            try FileManager.default.contentsOfDirectory(atPath: "/proc/self/task").count
        }
    }

    private func service(
        _ number: Int, port: Int, in folder: TemporaryDirectory
    ) throws -> ServiceConfiguration {
        let file = folder.path("client-\(number).pem")
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: file)
        var service = ServiceConfiguration(
            baseURL: "https://s\(number).example.test:\(port)", payloadProtocol: .rest,
            timeout: .seconds(300), attempts: 1)
        service.authorities = try PinAuthorities(
            file: folder.path("ca-\(number).pem"), mode: .replace)
        service.clientCertificate = try ClientCertificate(.file(file))
        return service
    }

    @Test func eachHasItsOwnCAAndCertificate() async throws {
        let folder = try TemporaryDirectory()
        let port = freePort()
        let server = try await ServerProcess.start(
            PythonPeer.path,
            ["-I", PythonPeer.script("many-identities"), "\(port)", folder.path, "\(Self.count)"],
            ready: .listening(port: port))
        defer { withExtendedLifetime(server) {} }
        var services: [ServiceName: ServiceConfiguration] = [:]
        for number in 0..<Self.count {
            services[Self.name(number)] = try service(number, port: port, in: folder)
        }
        var options = NetworkSystem.Options()
        options.connectTo = [
            .init(
                host: nil, port: nil, address: try HostName.canonical("127.0.0.1"),
                addressPort: nil)
        ]
        options.dangerous.allowUnpinnedServices()
        let system = try await NetworkSystem.start(services: services, options: options)
        let threads = try Self.threads
        for _ in 0..<3 {
            try await withThrowingTaskGroup(of: Void.self) { group in
                for number in 0..<Self.count {
                    group.addTask {
                        let response = try await system.exchange(
                            Self.name(number), method: .get, target: "/")
                        #expect(response.text == "client-\(number)")
                    }
                }
                try await group.waitForAll()
            }
        }
        let after = try Self.threads
        #expect(after < threads + 20, "\(threads) threads became \(after)")
        // Another service's certificate is of no use, nor is its CA.
        for (one, other) in [(3, 4), (199, 0)] {
            var call = RequestOptions()
            call.clientCertificate = services[Self.name(other)]?.clientCertificate
            let given = call
            let error = await #expect(throws: ClientError.self) {
                try await system.exchange(
                    Self.name(one), method: .get, target: "/", options: given)
            }
            #expect(error?.code == .tls, "\(error?.message ?? "")")
        }
        await system.shutdown()
        let fourth = services[Self.name(4)]?.authorities
        services[Self.name(3)]?.authorities = fourth
        let mixed = try await NetworkSystem.start(services: services, options: options)
        for (number, wanted) in [(3, ClientError.Code.tls), (4, nil)] {
            let code = await Pipeline.code { () async throws(ClientError) in
                try await mixed.exchange(Self.name(number), method: .get, target: "/")
            }
            #expect(code == wanted)
        }
        await mixed.shutdown()
    }
}
