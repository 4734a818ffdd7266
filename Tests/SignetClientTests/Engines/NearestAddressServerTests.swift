import Foundation
import HTTPTypes
import SignetBase
import SignetCrypto
import SignetJSON
import SignetPinning
import SignetRPC
import SignetSigning
import SignetSystem
import SignetTransport
import SignetVault
import TestSupport
import Testing

@testable import SignetClient

/// Real servers at several addresses of one host, behind proxies that delay each piece.
@Suite(.timeLimit(.minutes(5))) struct NearestAddressServerTests {
    /// Starts a system for `https://api.example.com:8443`, whose name leads to a port of this
    /// machine.
    private static func system(
        named port: Int, at ports: [Int], pin: String? = nil,
        changeOptions: (inout NetworkSystem.Options) -> Void = { _ in },
        change: (inout ServiceConfiguration) -> Void = { _ in }
    ) async throws -> NetworkSystem {
        let authority = try TestAuthority.trusted.get()
        var options = try options(named: port)
        changeOptions(&options)
        var service = ServiceConfiguration(
            baseURL: "https://api.example.com:8443/api", payloadProtocol: .rest,
            signing: .init(scheme: "rfc9421", keyID: "k"))
        service.addresses = try ServiceAddress.list(ports.map { "127.0.0.1:\($0)" })
        service.attempts = 1
        change(&service)
        return try await NetworkSystem.start(
            services: ["a": service], keys: FaultFixture.keys(),
            policy: policy(pin: pin ?? authority.intermediate.pin), options: options)
    }

    private static func options(named port: Int) throws -> NetworkSystem.Options {
        var options = NetworkSystem.Options()
        options.caFile = try TestAuthority.trusted.get().caFile
        options.networkWatcher = NetworkWatcher { -1 }
        options.connectTo = [
            try EngineRequest.ConnectTo(parsing: "api.example.com:8443:127.0.0.1:\(port)")
        ]
        options.addresses.startLimit = .seconds(20)
        return options
    }

    private static func policy(pin: String) throws -> PinPolicy {
        try PinPolicy(rules: [PinRule(host: "api.example.com", pins: [Pin(parsing: pin)])])
    }

    private static func call(
        _ system: NetworkSystem, _ method: HTTPRequest.Method = .post
    ) async -> (code: ClientError.Code?, use: AddressUse?) {
        let trace = CallTrace()
        let code = await Pipeline.code { () async throws(ClientError) in
            try await system.call(
                RESTRequest(method, "/x"), on: "a", options: RequestOptions(trace: trace))
        }
        return (code, trace.record?.work.attempts.last?.hops.last?.address)
    }

    /// Starts proxies before a server, each of which delays by so many milliseconds.
    private static func proxies(
        before port: Int, delaying delays: [Int]
    ) async throws -> [FaultProxy] {
        var proxies: [FaultProxy] = []
        for delay in delays {
            proxies.append(
                try await FaultProxy(before: port, .seed(1, [.latency(milliseconds: delay)])))
        }
        return proxies
    }

    @Test(.features("003-35"))
    func theNearestIsFirstInAHundredStarts() async throws {
        let authority = try TestAuthority.trusted.get()
        let server = try await CaptureServer(tls: authority.leaf)
        let proxies = try await Self.proxies(before: server.port, delaying: [200, 10, 50])
        var firsts = 0
        for _ in 0..<100 {
            let system = try await Self.system(named: freePort(), at: proxies.map(\.port))
            let (code, use) = await Self.call(system)
            if code == nil, use?.address == "127.0.0.1:\(proxies[1].port)", use?.reason == .fastest
            {
                firsts += 1
            }
            await system.shutdown()
        }
        #expect(firsts == 100)
    }

    @Test(.features("003-36"))
    func theServerSeesTheURLsHost() async throws {
        let authority = try TestAuthority.trusted.get()
        let server = try await CaptureServer(tls: authority.leaf)
        let system = try await Self.system(named: freePort(), at: [server.port])
        let (code, use) = await Self.call(system)
        #expect(code == nil && use?.address == "127.0.0.1:\(server.port)")
        let request = text(try await server.requests(count: 1)[0])
        #expect(request.contains("\r\nHost: api.example.com:8443\r\n"))
        #expect(request.contains("\r\nSignature-Input: "))
        // Both measurements and the request.
        #expect(Set(server.serverNames) == ["api.example.com"])
        await system.shutdown()
    }

    /// The faster one has a certificate for the host, of a key that isn't pinned.
    @Test(arguments: [true, false])
    func aWrongKeyNeverWinsAndGetsNothing(_ isTrusted: Bool) async throws {
        let authority = try TestAuthority.trusted.get()
        let other =
            try isTrusted
            ? authority.issue(by: authority.root) : TestAuthority.impostor.get().leaf
        let server = try await CaptureServer(tls: authority.leaf)
        let wrong = try await CaptureServer(tls: other)
        let slow = try await Self.proxies(before: server.port, delaying: [50])[0]
        for _ in 0..<5 {
            let system = try await Self.system(
                named: freePort(), at: [wrong.port, slow.port])
            #expect(system.addresses(of: "a").map(\.state) == [.refused, .used])
            let (code, use) = await Self.call(system)
            #expect(code == nil && use?.address == "127.0.0.1:\(slow.port)")
            await system.shutdown()
        }
        #expect(try await server.requests(count: 5).count == 5)
        #expect(wrong.received.isEmpty)
    }

    /// With TLS 1.2 a server that misses the client's certificate ends the handshake.
    @Test func aMeasurementShowsTheClientsCertificate() async throws {
        let authority = try TestAuthority.trusted.get()
        let server = try await OpenSSLServer(
            authority.identity,
            options: [
                "-tls1_2", "-Verify", "3", "-verify_return_error", "-CAfile", authority.root.pem,
            ])
        func configuration(_ client: TestAuthority.Certificate?) throws -> GlobalConfiguration {
            var values: JSONObject = [
                "services.a.baseURL": "https://api.example.com:8443",
                "services.a.protocol": "rest",
                "services.a.pins": [.string(authority.root.pin), .string(authority.leaf.pin)],
                "services.a.addresses": [.string("127.0.0.1:\(server.port)")],
            ]
            if let client {
                for (key, path) in [("clientCertificate", client.chain), ("clientKey", client.key)]
                {
                    let text = try String(contentsOfFile: path, encoding: .utf8)
                    values["services.a.\(key)"] = .string(text)
                }
            }
            let rules = values.map { name, value -> (name: String, value: JSONValue) in
                let visibility: JSONValue = name.contains("client") ? "secret" : "public"
                return (name, ["type": .string(value.typeName), "visibility": visibility])
            }
            return try GlobalConfiguration(
                schema: Schema(["keys": .object(JSONObject(rules))]), defaults: .values(values))
        }
        let good = try configuration(authority.client("ann"))
        let stranger = try configuration(TestAuthority.rogue.get().client("stranger"))
        let system = try await NetworkSystem.start(good, options: Self.options(named: freePort()))
        func becomes(_ state: MeasuredAddress.State) async throws -> Bool {
            try await eventually { system.addresses(of: "a").map(\.state) == [state] }
        }
        #expect(try await becomes(.used))
        // Another certificate is measured too.
        let none = try configuration(nil)
        for (other, state) in [
            (none, MeasuredAddress.State.refused), (good, .used), (stranger, .refused),
        ] {
            try system.update(other)
            #expect(try await becomes(state))
        }
        await system.shutdown()
        // Calls may have it by the options of all services.
        let client = try authority.client("ann")
        let own = try await Self.system(
            named: freePort(), at: [server.port],
            changeOptions: {
                $0.callOptions.clientCertificate = try? ClientCertificate(
                    .file(client.chain), key: .file(client.key))
            })
        #expect(
            try await eventually { own.addresses(of: "a").map(\.state) == [.used] })
        await own.shutdown()
    }

    /// The key of the address isn't one of the policy that a call has, although it was when it was
    /// measured.
    @Test func aCallsOwnPolicyDecides() async throws {
        let authority = try TestAuthority.trusted.get()
        let other = try authority.issue(by: authority.root)
        let (first, second) = (
            try await CaptureServer(tls: authority.leaf), try await CaptureServer(tls: other)
        )
        let system = try await Self.system(named: second.port, at: [first.port]) { options in
            // The new policy's own measurement comes too late for the call.
            options.clock.sleep = { time in
                try await Task.sleep(for: time == .milliseconds(250) ? .seconds(3600) : time)
            }
        }
        #expect(await Self.call(system).use?.reason == .fastest)
        try system.update(policy: Self.policy(pin: other.pin))
        let (code, use) = await Self.call(system)
        #expect(code == nil && use?.reason == .name)
        #expect(use?.failed == ["127.0.0.1:\(first.port)"])
        #expect(try await second.requests(count: 1).count == 1)
        #expect(first.received.count == 1)
        #expect(try await eventually { system.addresses(of: "a").map(\.state) == [.refused] })
        await system.shutdown()
    }

    /// The nearest server is gone, or doesn't speak any more. The call takes at most 300 ms longer
    /// than one that begins with the other address.
    @Test(arguments: [true, false])
    func aDeadOneCostsLittle(_ isGone: Bool) async throws {
        let authority = try TestAuthority.trusted.get()
        var (times, others): ([Duration], [Duration]) = ([], [])
        for _ in 0..<3 {
            let server = try await CaptureServer(tls: authority.leaf)
            let slow = try await Self.proxies(before: server.port, delaying: [20])[0]
            let near: Int
            let nearest: CaptureServer?
            // Two measurements are good, and no further connection is.
            let faults =
                [NetworkFault.none, .none]
                + [NetworkFault](repeating: .stall(afterBytes: 0), count: 20)
            let stalling = try await FaultProxy(before: server.port, .list(faults))
            if isGone {
                let gone = try await CaptureServer(tls: authority.leaf)
                (near, nearest) = (gone.port, gone)
            } else {
                (near, nearest) = (stalling.port, nil)
            }
            let system = try await Self.system(named: freePort(), at: [near, slow.port])
            #expect(
                try await eventually {
                    !system.addresses(of: "a").contains { $0.state == .unmeasured }
                })
            try #require(system.addresses(of: "a").map(\.state) == [.used, .good])
            try await nearest?.stop()
            let start = ContinuousClock.now
            let (code, use) = await Self.call(system)
            times.append(.now - start)
            #expect(code == nil && use?.reason == .next)
            #expect(use?.failed == ["127.0.0.1:\(near)"])
            // The next call goes elsewhere at once.
            #expect(await Self.call(system).use?.address == "127.0.0.1:\(slow.port)")
            await system.shutdown()
            let other = try await Self.system(named: freePort(), at: [slow.port])
            let begin = ContinuousClock.now
            #expect(await Self.call(other).use?.reason == .fastest)
            others.append(.now - begin)
            await other.shutdown()
        }
        // Of three, because a busy machine may hold one up.
        let cost = (times.min() ?? .seconds(9)) - (others.min() ?? .zero)
        #expect(cost <= .milliseconds(300), "\(times), others \(others)")
    }

    /// A server that took the request and ended is not replaced by another one.
    @Test func aRequestThatWasSentIsNotRepeated() async throws {
        let authority = try TestAuthority.trusted.get()
        let server = try await CaptureServer(tls: authority.leaf)
        let dying = try await FaultServer(
            .list([.silence, .silence, .silence]), tls: authority.leaf)
        let system = try await Self.system(named: server.port, at: [dying.port])
        let (code, use) = await Self.call(system)
        #expect(code == .cutOff && use?.address == "127.0.0.1:\(dying.port)")
        #expect(server.received.isEmpty)
        await system.shutdown()
    }

    @Test func aRedirectToAnotherHostHasNoAddress() async throws {
        let authority = try TestAuthority.trusted.get()
        let target = try await RouteServer(
            ["/there": "200 OK\r\nContent-Type: application/json\r\n\r\n1"], tls: authority.leaf)
        let server = try await RouteServer(
            ["/api/x": "307 Moved\r\nLocation: https://localhost:\(target.port)/there\r\n\r\n"],
            tls: authority.leaf)
        let pin = try Pin(parsing: authority.intermediate.pin)
        let system = try await Self.system(named: freePort(), at: [server.port])
        try system.update(
            policy: PinPolicy(rules: [
                PinRule(host: "api.example.com", pins: [pin]),
                PinRule(host: "localhost", pins: [pin]),
            ]))
        let trace = CallTrace()
        _ = try await system.call(
            RESTRequest(.get, "/x"), on: "a", options: RequestOptions(trace: trace))
        let hops = trace.record?.work.attempts.last?.hops
        #expect(hops?.map(\.address?.address) == ["127.0.0.1:\(server.port)", nil])
        #expect(hops?.last?.address == nil)
        await system.shutdown()
    }

    /// Servers that say nothing delay the start by the limit, and calls go to the name meanwhile.
    @Test func aStartHasALimit() async throws {
        let authority = try TestAuthority.trusted.get()
        let server = try await CaptureServer(tls: authority.leaf)
        let silent = try await FaultProxy(
            before: server.port, .seed(1, [.stall(afterBytes: 0)]))
        let start = ContinuousClock.now
        let system = try await Self.system(named: server.port, at: [silent.port]) { options in
            options.addresses.startLimit = .milliseconds(50)
            // The call ends before the measurement, which has a connection to the same address.
            options.addresses.timeout = .seconds(300)
        }
        #expect(.now - start < .seconds(20))
        #expect(system.addresses(of: "a").map(\.state) == [.unmeasured])
        let (code, use) = await Self.call(system)
        #expect(code == nil)
        #expect(use?.reason == .name)
        #expect(use?.failed == [])
        await system.shutdown()
    }
}
