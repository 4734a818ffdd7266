import Foundation
import SignetBase
import SignetClient
import SignetCrypto
import SignetPinning
import TestSupport
import Testing

/// The pins of the request for fetched values after the services' pins were replaced.
@Suite struct FetchPinTests {
    @Test func aReplacedPolicyHoldsForTheNextFetch() async throws {
        let fixture = try await FetchFixture()
        let leaf = try TestAuthority.trusted.get().leaf.pin
        let system = try await fixture.start()
        try fixture.serve(["shop.name": "second"])
        try system.update(policy: PolicyUpdateTests.policy(PolicyUpdateTests.wrong))
        let error = await #expect(throws: ClientError.self) { try await system.refetch() }
        #expect(error?.code.name == "pin-mismatch")
        #expect(system.value("shop.name") == "first")
        try system.update(policy: PolicyUpdateTests.policy(leaf))
        try await system.refetch()
        #expect(system.value("shop.name") == "second")
        await system.shutdown()
        #expect(try await fixture.host.requests(count: 2).count == 2)
        try await fixture.host.stop()
    }

    @Test func aKeptSignedPolicyHoldsForTheFirstFetch() async throws {
        var fixture = try await FetchFixture()
        try await fixture.startOnce()
        let keyFile = fixture.folder.path("keys.json")
        try KeyFile.add(.ed25519, id: "pins", to: keyFile, append: false)
        let keys = try KeySource(keyFile).load()
        let store = fixture.folder.path("newest.json")
        let verifier = try PinUpdateVerifier(
            keys: KeySet(parsing: keys.publicHalves.serialized(), source: "app"))
        // The host has no such document, so the kept one is all there is.
        fixture.options.pinUpdates = PinUpdatePlan(
            url: fixture.host.url + "/pins", verifier: verifier, file: store)
        let now = UnixTime.now()
        let document = try SignedPinPolicy(
            serial: 7, notBefore: now - 60, expires: now + 86_400,
            policy: PolicyUpdateTests.policy(PolicyUpdateTests.wrong)
        ).signed(by: keys.keys[0], now: now)
        _ = try PinUpdateStore(path: store, verifier: verifier).accept(document, now: now)
        let system = try await fixture.start()
        #expect(system.lastPinUpdate?.serial == 7)
        #expect(system.startReport.fetch?.source == .lastGood)
        #expect(system.startReport.fetch?.failure?.code == "pin-mismatch")
        await system.shutdown()
        #expect(try await fixture.host.requests(count: 1).count == 1)
        try await fixture.host.stop()
    }
}
