import Foundation
import HTTPTypes
import SignetCurl
import SignetPinning
import SignetTransport
import TestSupport
import Testing

/// Each known weakness of libcurl 7.88 around pins, through one engine: in order, in other orders,
/// and all at once.
///
/// The outcome of a row's call must not depend on what the engine's pool, its TLS sessions and its
/// CA stores contain from earlier calls. The rows:
///
/// 1. Verify callbacks don't run on a resumed session, with TLS 1.2 or 1.3.
/// 2. A resumed session has no verified chain.
/// 3. The pool treats pins that differ in letter case as equal.
/// 4. The pool ignores the policy under which a connection was made.
/// 5. Without peer verification, libcurl ignores a callback's refusal.
/// 6. A forged leaf names the pinned intermediate as its issuer.
/// 7. The chain as sent contains certificates that were not verified.
/// 8. A partial chain hides the root.
/// 9. The CA of one handle is used by others.
/// 10. A redirect leads to a host with other pins.
/// 11. An HTTPS proxy has its own handshake in addition to the origin's.
/// 12. A host name has several spellings and one pooled connection.
/// 13. A refused request must not send a byte.
/// 14. A forged signature needs a code of its own.
/// 15. After a refusal, HTTP/2 keeps the connection.
@Suite struct LibcurlWeaknessTests {
    /// A call, its target, and its expected outcome.
    private struct Step: Sendable, CustomStringConvertible {
        let row: Int
        let target: Target
        var request: EngineRequest
        /// The expected error; nil if the call passes.
        let code: TransportError.Code?
        var status = 200
        /// Whether a connection is there already, when the rows are walked in their order.
        var isReused = false

        var description: String {
            "row \(row), \(target), \(code?.name ?? "passes"): \(request.request.authority ?? "")"
        }
    }

    private enum Target: CaseIterable {
        /// nginx, HTTP/2; HTTP/1.1 on connections that stay; and on ones that end, so that sessions
        /// resume.
        case many, kept, resumed12, resumed13
        /// A leaf of the root with the intermediate merely sent along; a forged one; a rogue's.
        case appended, forged, rogue, mixed
        /// Nobody may come here.
        case elsewhere
    }

    private let authority: TestAuthority
    private let rogue: TestAuthority
    private let folder: TemporaryDirectory
    private let host: OrdersHost
    private let proxy: ProxyServer
    private let servers: [Target: ScriptedServer]

    init() async throws {
        authority = try TestAuthority.trusted.get()
        rogue = try TestAuthority.rogue.get()
        let impostor = try TestAuthority.impostor.get()
        folder = try TemporaryDirectory()
        let intermediate = authority.intermediate.pem
        let shown: [Target: TestAuthority.Certificate] = [
            .kept: authority.leaf, .resumed12: authority.leaf, .resumed13: authority.leaf,
            .appended: try authority.showing(
                authority.issue(by: authority.root), with: intermediate),
            .forged: try authority.showing(impostor.leaf, with: intermediate),
            .rogue: rogue.leaf, .mixed: try authority.showing(rogue.leaf, with: intermediate),
            .elsewhere: authority.leaf,
        ]
        var servers: [Target: ScriptedServer] = [:]
        for (target, certificate) in shown {
            let version = target == .resumed12 ? "TLSv1_2" : "TLSv1_3"
            servers[target] =
                target == .kept
                ? try await ScriptedServer(
                    [.head, .ok(), .again], tls: certificate, version: version)
                : try await ScriptedServer("resumption", tls: certificate, version: version)
        }
        let elsewhere = try #require(servers[.elsewhere])
        host = try await OrdersHost.start(
            directives: """
                location /plain { return 200 'x'; }
                location /away { return 302 https://127.0.0.1:\(elsewhere.port)/refused; }
                keepalive_requests 100000;
                """)
        proxy = try await ProxyServer(tls: rogue.leaf)
        self.servers = servers
    }

    @Test func noRowDependsOnEarlierRows() async throws {
        let steps = try steps()
        #expect(Set(steps.map(\.row)) == Set(1...15))
        #expect(Set(steps.map(\.target)) == Set(Target.allCases))
        let engine = try engine()
        for step in steps { await walk(step, engine, isInOrder: true) }
        var random = SplitMix(seed: 35)
        for _ in 0..<3 {
            for step in steps.shuffled(using: &random) { await walk(step, engine) }
        }
        await withTaskGroup(of: Void.self) { group in
            for step in (0..<6).flatMap({ _ in steps }).shuffled(using: &random) {
                group.addTask { await walk(step, engine) }
            }
        }
        await engine.shutdown()
        try await expectNoByte(of: steps, rounds: 1 + 3 + 6)
    }

    private func walk(_ step: Step, _ engine: CurlEngine, isInOrder: Bool = false) async {
        do throws(TransportError) {
            let (response, _) = try await engine.fetch(step.request)
            #expect(step.code == nil && response.response.status.code == step.status, "\(step)")
            if isInOrder, step.isReused {
                #expect(response.finalTimings.reusedConnection, "\(step)")
            }
        } catch {
            #expect(error.code == step.code, "\(step): \(error.message)")
        }
    }

    /// The bytes that the servers received: each request that passed, and not a byte of the others.
    private func expectNoByte(of steps: [Step], rounds: Int) async throws {
        func passing(_ target: Target) -> Int {
            rounds * steps.count { $0.target == target && $0.code == nil }
        }
        let requests = try await host.requests(count: passing(.many))
        #expect(requests.count == passing(.many))
        #expect(!requests.contains { $0.contains("refused") })
        for (target, server) in servers {
            let got = server.got
            for word in ["refused", "topsecret", "payload"] {
                #expect(!got.contains(word), "\(target)")
            }
            #expect(got.ranges(of: "GET /plain").count == passing(target), "\(target)")
            #expect(server.gotBytes == (passing(target) > 0), "\(target)")
        }
        for word in ["refused", "topsecret", "payload"] { #expect(!proxy.heard.contains(word)) }
        // Refusals rode on resumed sessions too.
        for target in [Target.resumed12, .resumed13] {
            let server = try #require(servers[target]).server
            let rode = try await eventually { server.stdout.contains("RESUMED True SAID False") }
            #expect(rode, "\(target)")
        }
    }

    // MARK: The rows

    private func steps() throws -> [Step] {
        let right = try pinned(authority.root.pin)
        let wrong = try pinned(wrongPin)
        return try sessions(right, wrong) + pool(right, wrong) + chains(right) + stores(right)
            + ways(right, wrong) + names(right)
    }

    /// Rows 1, 2 and 13: sessions that resume, begun by any call.
    private func sessions(_ right: PinPolicy, _ wrong: PinPolicy) throws -> [Step] {
        try [Target.resumed12, .resumed13].flatMap { target in
            [
                try passes(1, target, right), try refused(1, target, wrong),
                try passes(2, target, nil), try refused(2, target, wrong),
                try passes(2, target, pinned(wrongPin, mode: .report)),
                try passes(2, target, pinned(authority.intermediate.pin)),
                try refused(13, target, wrong),
            ]
        }
    }

    /// Rows 3, 4 and 15: connections that stay.
    private func pool(_ right: PinPolicy, _ wrong: PinPolicy) throws -> [Step] {
        let other = try pinned(#require(otherCase(authority.root.pin)))
        return try [Target.many, .kept].flatMap { target in
            // After a refusal HTTP/2 keeps the connection, and HTTP/1.1 does not.
            let stays = target == .many
            return [
                try passes(3, target, right), try refused(3, target, other),
                try passes(4, target, nil, isReused: stays), try refused(4, target, wrong),
                try passes(15, target, right, isReused: stays),
                try passes(4, target, pinned(wrongPin, mode: .report), isReused: true),
                try refused(4, target, wrong),
            ]
        }
    }

    /// Rows 5, 6, 7 and 14: unverified chains.
    private func chains(_ right: PinPolicy) throws -> [Step] {
        let intermediate = try pinned(authority.intermediate.pin)
        return [
            try refused(5, .rogue, pinned(rogue.leaf.pin), .tls), try refused(5, .rogue, nil, .tls),
            try refused(5, .rogue, pinned(rogue.leaf.pin, mode: .report), .tls),
            try refused(7, .mixed, intermediate, .tls), try refused(7, .mixed, nil, .tls),
            try refused(6, .forged, intermediate, .tls), try refused(14, .forged, right, .tls),
            try refused(7, .appended, intermediate), try passes(7, .appended, right),
        ]
    }

    /// Rows 8 and 9: CAs that only one call trusts.
    private func stores(_ right: PinPolicy) throws -> [Step] {
        let both =
            try Data(contentsOf: URL(filePath: authority.intermediate.pem))
            + Data(contentsOf: URL(filePath: authority.root.pem))
        let bothFile = try folder.write(both, to: "both.pem")
        let rule = """
            {"hosts":{"localhost":{"pins":["\(rogue.root.pin)"],"caFile":"\(rogue.caFile)",
            "caMode":"replace"}}}
            """
        let brought = try PinPolicy(parsing: Array(rule.utf8), filesIn: folder.path)
        return [
            try passes(8, .kept, right, caFile: bothFile),
            try refused(8, .kept, right, .tls, caFile: authority.intermediate.pem),
            try passes(9, .rogue, nil, caFile: rogue.caFile), try refused(9, .rogue, nil, .tls),
            try refused(9, .kept, right, .tls, caFile: rogue.caFile),
            try passes(9, .rogue, brought), try refused(9, .kept, brought, .tls),
            try passes(9, .kept, right),
        ]
    }

    /// Rows 10 and 11: redirects, and an HTTPS proxy with keys of another authority.
    private func ways(_ right: PinPolicy, _ wrong: PinPolicy) throws -> [Step] {
        var away = try passes(10, .many, right)
        away.request.request.path = "/away"
        away.status = 302
        var steps = [
            away,
            // The host that it leads to, under the policy that does not list it.
            try refused(10, .elsewhere, right, .unlistedHost, host: "127.0.0.1"),
        ]
        var way = try Proxy(parsing: "https://localhost:\(proxy.port)")
        way.caFile = rogue.caFile
        let own = [rogue.leaf.pin, rogue.intermediate.pin, rogue.root.pin]
        for policy in [right, wrong] + (try own.map { try pinned($0) }) {
            var step =
                policy == right ? try passes(11, .many, policy) : try refused(11, .many, policy)
            step.request.proxy = way
            steps.append(step)
        }
        return steps
    }

    /// Row 12: spellings of one name, and hosts that are refused before any connection.
    private func names(_ right: PinPolicy) throws -> [Step] {
        let spellings = [
            "localhost": ["LOCALHOST", "localhost.", "%6cocalhost", "ｌocalhost"],
            "127.0.0.1": ["127.1", "2130706433", "0x7f.1", "127。0。0。1"],
        ]
        var steps: [Step] = []
        for (name, spellings) in spellings {
            for spelling in spellings {
                for pin in [authority.root.pin, wrongPin] {
                    let rule = try PinRule(host: name, pins: [Pin(parsing: pin)])
                    let policy = try PinPolicy(rules: [rule])
                    steps.append(
                        pin == wrongPin
                            ? try refused(12, .many, policy, host: spelling)
                            : try passes(12, .many, policy, host: spelling))
                }
            }
        }
        let expired = try PinPolicy(rules: [
            PinRule(
                host: "localhost", pins: [Pin(parsing: authority.root.pin)], expires: "2020-01-01")
        ])
        var cleartext = try refused(12, .many, right, .cleartextToPinnedHost)
        cleartext.request.request.scheme = "http"
        return steps + [
            cleartext, try refused(12, .many, expired, .policyExpired),
            try refused(12, .many, right, .unlistedHost, host: "127.0.0.1"),
            try refused(12, .many, right, .invalidRequest, host: "u:topsecret@localhost"),
        ]
    }

    // MARK: Calls

    private func port(_ target: Target) throws -> Int {
        target == .many ? host.port : try #require(servers[target]).port
    }

    private func passes(
        _ row: Int, _ target: Target, _ policy: PinPolicy?, caFile: String? = nil,
        host: String = "localhost", isReused: Bool = false
    ) throws -> Step {
        let request = EngineRequest(
            get(try port(target), "/plain", host: host), policy: policy,
            timeout: .seconds(300), connectTimeout: .seconds(300), caFile: caFile)
        return Step(row: row, target: target, request: request, code: nil, isReused: isReused)
    }

    private func refused(
        _ row: Int, _ target: Target, _ policy: PinPolicy?,
        _ code: TransportError.Code = .pinMismatch, caFile: String? = nil,
        host: String = "localhost"
    ) throws -> Step {
        var request = try passes(row, target, policy, caFile: caFile, host: host).request
        request.request.method = .post
        request.request.path = "/refused"
        request.request.headerFields[.authorization] = "topsecret"
        request.body = HTTPRequestBody(Array("payload".utf8))
        return Step(row: row, target: target, request: request, code: code)
    }
}
