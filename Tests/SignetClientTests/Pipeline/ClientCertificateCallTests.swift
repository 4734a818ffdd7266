import Foundation
import HTTPTypes
import SignetClient
import SignetCrypto
import SignetPinning
import SignetTransport
import TestSupport
import Testing

/// Client certificates of services and calls, through the whole system.
@Suite struct ClientCertificateCallTests {
    private let authority: TestAuthority

    init() throws { authority = try TestAuthority.trusted.get() }

    private func host(_ more: String = "") async throws -> OrdersHost {
        try await OrdersHost.start(
            directives: """
                ssl_client_certificate \(authority.root.pem);
                ssl_verify_client on;
                ssl_verify_depth 3;
                location /who { default_type application/json; return 200 '{"who":"$ssl_client_s_dn"}'; }
                \(more)
                """)
    }

    private func certificate(_ name: String) throws -> ClientCertificate {
        let client = try authority.client(name)
        return try ClientCertificate(.file(client.chain), key: .file(client.key))
    }

    private func system(
        _ host: OrdersHost, _ certificate: ClientCertificate?, engine: (any HTTPEngine)? = nil,
        change: (inout ServiceConfiguration) -> Void = { _ in }
    ) async throws -> NetworkSystem {
        var service = ServiceConfiguration(baseURL: host.url, payloadProtocol: .rest, attempts: 1)
        service.clientCertificate = certificate
        change(&service)
        var options = NetworkSystem.Options()
        options.caFile = engine == nil ? authority.caFile : nil
        options.engine = engine
        let policy = try PinPolicy(rules: [
            PinRule(host: "localhost", pins: [Pin(parsing: authority.intermediate.pin)])
        ])
        return try await NetworkSystem.start(
            services: ["a": service], policy: policy, options: options)
    }

    private let who = RESTRequest(.get, "/who")

    @Test func aCallsOwnWinsOverTheServices() async throws {
        let host = try await host()
        let system = try await system(host, certificate("service"))
        var options = RequestOptions()
        options.clientCertificate = try certificate("call")
        for _ in 0..<3 {
            let one = try await system.call(who, on: "a")
            #expect(one.result?.value == ["who": "CN=service"])
            let other = try await system.call(who, on: "a", options: options)
            #expect(other.result?.value == ["who": "CN=call"])
        }
        await system.shutdown()
    }

    /// nginx answers 400 to a client without a certificate, or with one that it doesn't accept.
    @Test func saysWhatNginxMeansByItsStatus() async throws {
        let host = try await host()
        let stranger = try TestAuthority.rogue.get().client("stranger")
        let cases: [(ClientCertificate?, String)] = [
            (nil, "it asked for a client certificate, and the call has none"),
            (
                try ClientCertificate(.file(stranger.chain), key: .file(stranger.key)),
                "it got the client certificate \"CN=stranger\""
            ),
        ]
        for (certificate, expected) in cases {
            let system = try await system(host, certificate)
            do throws(ClientError) {
                _ = try await system.call(who, on: "a")
                Issue.record("it was taken")
            } catch {
                #expect(error.code == .httpStatus && error.status == 400)
                #expect(error.message.contains(expected), "\(error.message)")
            }
            await system.shutdown()
        }
    }

    /// A redirect leads to another origin, which learns nothing of the certificate.
    @Test func anotherOriginNeverGetsIt() async throws {
        let other = try await host()
        let host = try await host(
            "location /away { return 302 https://localhost:\(other.port)/who; }")
        let system = try await system(host, certificate("ann")) {
            $0.redirects = RedirectPolicy()
        }
        let error = await #expect(throws: ClientError.self) {
            try await system.call(RESTRequest(.get, "/away"), on: "a")
        }
        #expect(error?.status == 400, "\(error?.message ?? "")")
        await system.shutdown()
    }

    @Test func anEngineThatCannotUseOneGetsNothing() async throws {
        let host = try await host()
        let engine = RecordingEngine()
        let system = try await system(host, certificate("ann"), engine: engine)
        let error = await #expect(throws: ClientError.self) {
            try await system.call(who, on: "a")
        }
        #expect(error?.code == .clientCertificate && engine.count == 0)
        await system.shutdown()
    }

    @Test func theSelfCheckNamesItsEnd() async throws {
        let host = try await host()
        let late = try authority.client("late", to: "20270101000000Z")
        let certificate = try ClientCertificate(.file(late.chain), key: .file(late.key))
        let system = try await system(host, certificate)
        let end = certificate.notAfter
        for (now, status) in [
            (end - 100 * 86_400, SelfCheckReport.Status.good), (end - 86_400, .warning),
            (end + 1, .bad),
        ] {
            let report = await system.selfCheck(isOffline: true, now: now)
            let finding = report.lines.first { $0.area == "client certificates" }
            #expect(finding?.status == status && finding?.subject == "a")
            #expect(finding?.detail.contains("2027-01-01") == true)
        }
        await system.shutdown()
    }

    /// With TLS 1.2 a server that misses the certificate ends the handshake, so that a check
    /// without one would call its host bad.
    @Test func theSelfCheckShowsIt() async throws {
        let server = try await OpenSSLServer(
            authority.identity,
            options: [
                "-tls1_2", "-Verify", "3", "-verify_return_error", "-CAfile", authority.root.pem,
            ])
        let ended = try authority.client("ended", to: "20210101000000Z")
        let stranger = try TestAuthority.rogue.get().client("stranger")
        func service(_ certificate: ClientCertificate?) -> ServiceConfiguration {
            var service = ServiceConfiguration(
                baseURL: "https://localhost:\(server.port)", payloadProtocol: .rest)
            service.clientCertificate = certificate
            return service
        }
        func certificate(_ client: TestAuthority.Certificate) throws -> ClientCertificate {
            try ClientCertificate(.file(client.chain), key: .file(client.key))
        }
        let (none, good) = (service(nil), service(try self.certificate("ann")))
        let (old, other) = try (service(certificate(ended)), service(certificate(stranger)))
        var options = NetworkSystem.Options()
        options.caFile = authority.caFile
        let policy = try PinPolicy(rules: [
            PinRule(
                host: "localhost",
                pins: [Pin(parsing: authority.root.pin), Pin(parsing: authority.leaf.pin)])
        ])
        for (services, status) in [
            (["a": good], .good), (["a": none, "b": good], .good), (["a": good, "b": old], .good),
            (["a": none], .bad), (["a": old], .bad), (["a": other, "b": good], .bad),
        ] as [([ServiceName: ServiceConfiguration], SelfCheckReport.Status)] {
            let system = try await NetworkSystem.start(
                services: services, policy: policy, options: options)
            let lines = await system.selfCheck(hostTimeout: .seconds(300)).lines
                .filter { $0.area == "hosts" }
            #expect(lines.map(\.status) == [status], "\(services.keys): \(lines)")
            #expect(lines.first?.subject == "localhost:\(server.port)")
            #expect(lines.first?.detail.contains("PRIVATE") == false)
            await system.shutdown()
        }
    }

    @Test func readsItFromTheConfiguration() async throws {
        let client = try authority.client("ann")
        let pem = try String(contentsOfFile: client.chain, encoding: .utf8)
        let key = try String(contentsOfFile: client.key, encoding: .utf8)
        let values: JSONObject = [
            "services.a.clientCertificate": .string(pem), "services.a.clientKey": .string(key),
        ]
        func configuration(_ values: JSONObject) throws -> GlobalConfiguration {
            var all = Settings.service
            var rules: [(name: String, value: JSONValue)] = all.map { name, value in
                (name, ["type": .string(value.typeName), "visibility": "public"])
            }
            for (name, value) in values {
                all[name] = value
                rules.append((name, ["type": "string", "visibility": "secret"]))
            }
            return try GlobalConfiguration(
                schema: Schema(["keys": .object(JSONObject(rules))]), defaults: .values(all))
        }
        let engine = AnsweringEngine(usesClientCertificates: true)
        var options = NetworkSystem.Options()
        options.engine = engine
        let system = try await NetworkSystem.start(
            configuration(values), keys: nil, options: options)
        _ = try? await system.call(RPCCall("a"), on: "a")
        #expect(engine.requests.first?.clientCertificate?.subject == "CN=ann")
        await system.shutdown()
        for wrong: JSONObject in [
            ["services.a.clientKey": .string(key)], ["services.a.clientCertificate": .string(pem)],
            ["services.a.clientCertificate": .string(pem), "services.a.clientKey": "k"],
            ["services.a.clientCertificate": .string(key), "services.a.clientKey": .string(key)],
        ] {
            let error = await #expect(throws: ClientError.self) {
                try await NetworkSystem.start(configuration(wrong), keys: nil, options: options)
            }
            #expect(error?.code == .invalidService && error?.message.contains("client") == true)
            #expect(error?.message.contains("PRIVATE") == false)
        }
    }
}
