import SignetClient
import SignetPinning
import SignetTransport
import TestSupport
import Testing

/// A web server that demands a client certificate before it gives the document.
extension PinUpdateSystemTests {
    @Test func showsAClientCertificate() async throws {
        let guarded = try await OrdersHost.start(
            directives: """
                ssl_client_certificate \(authority.root.pem);
                ssl_verify_client on;
                ssl_verify_depth 3;
                location = /pins { alias pins.json; }
                """)
        let root = try policy(authority.root.pin)
        let document = try SignedPinPolicy(
            serial: 7, notBefore: Self.now, expires: Self.now + 90 * Self.day, policy: root
        ).signed(by: keys.keys[0], now: Self.now)
        try guarded.folder.write(document, to: "pins.json", mode: 0o644)
        func certificate(of authority: TestAuthority) throws -> ClientCertificate {
            let client = try authority.client("ann")
            return try ClientCertificate(.file(client.chain), key: .file(client.key))
        }
        var plan = try plan()
        plan.url = guarded.url + "/pins"
        for (certificate, words) in [
            (nil, "asked for a client certificate"),
            (try certificate(of: TestAuthority.rogue.get()), "client certificate \"CN=ann\""),
        ] {
            plan.clientCertificate = certificate
            let refused = try await start(plan)
            let report = try #require(refused.startReport.pinUpdate)
            #expect(report.source == .builtIn && report.failures == 1 && report.serial == nil)
            let failure = report.failure
            #expect(failure?.message.contains(words) == true, "\(failure?.message ?? "")")
            #expect(try refused.policy == policy(right))
            await refused.shutdown()
        }
        plan.clientCertificate = try certificate(of: authority)
        let system = try await start(plan)
        #expect(system.startReport.pinUpdate?.serial == 7 && system.policy == root)
        #expect(system.startReport.pinUpdate?.failure == nil)
        await system.shutdown()
    }
}
