import Foundation
import HTTPTypes
import SignetCurl
import SignetPinning
import SignetTransport
import TestSupport
import Testing

/// The measured behaviours of libcurl 7.88 that pinning must withstand, each in one process with
/// one engine.
@Suite struct PinAttackTests {
    private let authority: TestAuthority

    init() throws { authority = try TestAuthority.trusted.get() }

    @Test(arguments: [false, true])
    func refusesAWrongPinAndNamesAllPins(overHTTP2: Bool) async throws {
        let host = try await OrdersHost.start(directives: "location /plain { return 200 'x'; }")
        let engine = try engine(http2: overHTTP2)
        let refused = await engine.failure(
            EngineRequest(get(host.port, "/plain?refused"), policy: try pinned(wrongPin)))
        let error = try #require(refused)
        #expect(error.code == .pinMismatch)
        for pin in [
            wrongPin, authority.leaf.pin, authority.intermediate.pin, authority.root.pin,
        ] {
            #expect(error.message.contains(pin))
        }
        _ = try await engine.fetch(
            EngineRequest(get(host.port, "/plain?last"), policy: try pinned(authority.leaf.pin)))
        let requests = try await host.requests(count: 1)
        #expect(requests.count == 1 && requests[0].contains("last"))
        await engine.shutdown()
    }

    @Test(arguments: [false, true])
    func judgesAPooledConnectionByEachCallsPolicy(overHTTP2: Bool) async throws {
        let host = try await OrdersHost.start(directives: "location /plain { return 200 'x'; }")
        let engine = try engine(http2: overHTTP2)
        let right = try pinned(authority.leaf.pin)
        let swapped = Pin.prefix + authority.leaf.pin.dropFirst(7).map(swapCase).joined()
        for round in 0..<3 {
            let (response, _) = try await engine.fetch(
                EngineRequest(get(host.port, "/plain?good"), policy: right))
            if round > 0, overHTTP2 { #expect(response.timings.reusedConnection) }
            var wrong = [try pinned(wrongPin)]
            // Pins that differ in letter case only: the pool of libcurl 7.88 treats them as equal.
            if let pin = try? Pin(parsing: swapped), pin.text != authority.leaf.pin {
                wrong.append(try pinned(pin.text))
            }
            for policy in wrong {
                let error = await engine.failure(
                    EngineRequest(get(host.port, "/plain?bad"), policy: policy))
                #expect(error?.code == .pinMismatch)
                #expect(error?.message.contains(authority.root.pin) == true)
            }
        }
        // A connection of a call without pins is judged as well.
        _ = try await engine.fetch(EngineRequest(get(host.port, "/plain?good")))
        let error = await engine.failure(
            EngineRequest(get(host.port, "/plain?bad"), policy: try pinned(wrongPin)))
        #expect(error?.code == .pinMismatch)
        _ = try await engine.fetch(
            EngineRequest(get(host.port, "/plain?good"), policy: try pinned(authority.root.pin)))
        let requests = try await host.requests(count: 5)
        #expect(requests.count == 5 && !requests.contains { $0.contains("bad") })
        await engine.shutdown()
    }

    @Test(arguments: ["-tls1_2", "-tls1_3"])
    func judgesAResumedSession(version: String) async throws {
        // s_server -www closes after each response, so the next call resumes.
        let server = try await OpenSSLServer(authority.identity, options: [version])
        let engine = try engine(http2: false)
        var resumed: [Bool] = []
        for pin in [authority.leaf.pin, authority.intermediate.pin, authority.root.pin] {
            for _ in 0..<2 {
                let (response, body) = try await engine.fetch(
                    EngineRequest(get(server.port), policy: try pinned(pin)))
                #expect(response.peerChain.count == 3)
                resumed.append(String(decoding: body, as: UTF8.self).contains("Reused, "))
            }
            let error = await engine.failure(
                EngineRequest(get(server.port), policy: try pinned(wrongPin)))
            #expect(error?.code == .pinMismatch)
            #expect(error?.message.contains(authority.intermediate.pin) == true)
        }
        // An aborted connection may spend its session; two good calls in a row share one.
        #expect(!resumed[0] && resumed[1] && resumed[3] && resumed[5])
        await engine.shutdown()
    }

    @Test(arguments: ["-tls1_2", "-tls1_3"])
    func sendsNotAByteOfARefusedRequest(version: String) async throws {
        let server = try await OpenSSLServer(
            authority.identity, options: [version, "-quiet"], responds: false)
        let engine = try engine(http2: false)
        var request = get(server.port, "/refused")
        request.headerFields[.authorization] = "topsecret"
        for _ in 0..<2 {
            let error = await engine.failure(
                EngineRequest(request, body: Array("payload".utf8), policy: try pinned(wrongPin)))
            #expect(error?.code == .pinMismatch)
        }
        await engine.shutdown()
        for word in ["refused", "topsecret", "payload"] {
            #expect(!server.server.stdout.contains(word))
        }
    }

    @Test func ignoresAnAppendedIntermediate() async throws {
        // A leaf of the root, and the pinned intermediate merely sent along.
        let leaf = try authority.issue(by: authority.root)
        let server = try await OpenSSLServer(
            .init(certificate: leaf.pem, key: leaf.key, chain: authority.intermediate.pem))
        let engine = try engine(http2: false)
        let error = await engine.failure(
            EngineRequest(get(server.port), policy: try pinned(authority.intermediate.pin)))
        #expect(error?.code == .pinMismatch)
        #expect(error?.message.contains(authority.root.pin) == true)
        let (response, _) = try await engine.fetch(
            EngineRequest(get(server.port), policy: try pinned(authority.root.pin)))
        #expect(response.peerChain.map(\.pin.text) == [leaf.pin, authority.root.pin])
        await engine.shutdown()
    }

    @Test func refusesARogueAuthorityWithAnyPins() async throws {
        let rogue = try TestAuthority.rogue.get()
        let mixed = OpenSSLServer.Identity(
            certificate: rogue.leaf.pem, key: rogue.leaf.key, chain: authority.intermediate.pem)
        for identity in [rogue.identity, mixed] {
            let server = try await OpenSSLServer(identity)
            let engine = try engine(http2: false)
            for policy in [
                try pinned(rogue.leaf.pin), try pinned(authority.intermediate.pin),
                try pinned(rogue.leaf.pin, mode: .report), nil,
            ] {
                let error = await engine.failure(EngineRequest(get(server.port), policy: policy))
                #expect(error?.code == .tls)
            }
            await engine.shutdown()
        }
    }

    @Test func findsARootPinAboveATrustedIntermediate() async throws {
        let folder = try TemporaryDirectory()
        let both =
            try Data(contentsOf: URL(filePath: authority.intermediate.pem))
            + Data(contentsOf: URL(filePath: authority.root.pem))
        let caFile = try folder.write(both, to: "both.pem")
        let server = try await OpenSSLServer(authority.identity)
        let engine = try engine()
        let request = EngineRequest(
            get(server.port), policy: try pinned(authority.root.pin), caFile: caFile)
        #expect(try await engine.fetch(request).response.verdict?.isMatch == true)
        await engine.shutdown()
    }

    @Test(.features("003-25")) func refusesOtherHostsAndDates() async throws {
        let other = try authority.issue(hosts: ["other.test"])
        let old = try authority.issue(from: "20200101000000Z", to: "20210101000000Z")
        let selfSigned = try authority.selfSigned()
        let engine = try engine()
        for leaf in [other, old, selfSigned] {
            let server = try await OpenSSLServer(
                .init(certificate: leaf.pem, key: leaf.key, chain: authority.intermediate.pem))
            for _ in 0..<2 {
                let error = await engine.failure(
                    EngineRequest(get(server.port), policy: try pinned(leaf.pin)))
                #expect(error?.code == .tls)
            }
        }
        await engine.shutdown()
    }

    @Test(arguments: [
        "LOCALHOST", "localhost.", "%6cocalhost", "ｌocalhost", "loc%61lhost.",
    ])
    func appliesTheRuleInEverySpelling(name: String) async throws {
        let server = try await OpenSSLServer(authority.identity)
        let engine = try engine(http2: false)
        let refused = await engine.failure(
            EngineRequest(get(server.port, host: name), policy: try pinned(wrongPin)))
        #expect(refused?.code == .pinMismatch)
        await engine.shutdown()
    }

    @Test func refusesBeforeAnyConnection() async throws {
        let server = try await ScriptedServer([.say("GOT connection")])
        let engine = try engine()
        let listed = try pinned(authority.leaf.pin)
        let expired = try PinPolicy(rules: [
            PinRule(
                host: "localhost", pins: [Pin(parsing: authority.leaf.pin)], expires: "2020-01-01")
        ])
        let cases: [(HTTPRequest, PinPolicy, TransportError.Code)] = [
            (get(server.port, host: "127.0.0.1"), listed, .unlistedHost),
            (get(server.port, host: "sub.localhost"), listed, .unlistedHost),
            (get(server.port, scheme: "http"), listed, .cleartextToPinnedHost),
            (get(server.port), expired, .policyExpired),
            (get(server.port, host: "u:secret@localhost"), listed, .invalidRequest),
        ]
        for (request, policy, code) in cases {
            let error = await engine.failure(EngineRequest(request, policy: policy))
            #expect(error?.code == code)
            #expect(error?.message.contains("secret") == false)
        }
        await engine.shutdown()
        #expect(!server.gotBytes)
    }

    @Test(.features("004-19")) func reportsWithoutRefusing() async throws {
        let server = try await OpenSSLServer(authority.identity)
        let engine = try engine()
        let (response, _) = try await engine.fetch(
            EngineRequest(get(server.port), policy: try pinned(wrongPin, mode: .report)))
        #expect(response.verdict?.isMatch == false)
        #expect(response.verdict?.finding?.code == .pinMismatch)
        await engine.shutdown()
    }

    @Test func keepsRightAndWrongApartAtOnce() async throws {
        let host = try await OrdersHost.start(directives: "location /plain { return 200 'x'; }")
        let engine = try engine()
        let policies: [PinPolicy?] = [
            try pinned(authority.leaf.pin), try pinned(wrongPin), nil,
            try pinned(wrongPin, mode: .report),
        ]
        let outcomes = await withTaskGroup(of: (Int, TransportError?).self) { group in
            for index in 0..<1_000 {
                var request = EngineRequest(
                    get(host.port, "/plain?\(index % 4)"), policy: policies[index % 4])
                request.timeout = .seconds(300)
                group.addTask { [request] in (index % 4, await engine.failure(request)) }
            }
            return await group.reduce(into: []) { $0.append($1) }
        }
        #expect(outcomes.count == 1_000)
        #expect(outcomes.allSatisfy { ($0.0 == 1) == ($0.1?.code == .pinMismatch) })
        #expect(outcomes.allSatisfy { $0.0 == 1 || $0.1 == nil })
        let requests = try await host.requests(count: 750)
        #expect(requests.count == 750 && !requests.contains { $0.contains("plain?1") })
        await engine.shutdown()
    }

    @Test func probesWithoutARequest() async throws {
        let server = try await ScriptedServer([.head], tls: authority.leaf)
        let engine = try engine()
        let authorityText = try Authority(parsing: "localhost:\(server.port)")
        let seen = try await engine.probe(authorityText)
        #expect(seen.isTrusted)
        #expect(seen.chain.map(\.pin.text).last == authority.root.pin)
        let untrusted = try await CurlEngine().probe(authorityText)
        #expect(!untrusted.isTrusted && untrusted.reason != nil)
        #expect(
            untrusted.chain.map(\.pin.text) == [authority.leaf.pin, authority.intermediate.pin])
        await engine.shutdown()
        #expect(!server.gotBytes)
    }

    @Test(arguments: [-1, 0, 65_536, 4_294_967_739]) func probesNoInvalidPort(_ port: Int)
        async throws
    {
        let engine = try engine()
        let localhost = try HostName.canonical("localhost")
        let error = await #expect(throws: TransportError.self) {
            try await engine.probe(Authority(host: localhost, port: port))
        }
        #expect(error?.code == .invalidRequest)
        await engine.shutdown()
    }
}

private func swapCase(_ character: Character) -> String {
    character.isUppercase ? character.lowercased() : character.uppercased()
}
