import Foundation
import SignetCurl
import SignetPinning
import SignetTransport
import TestSupport
import Testing

/// Certificates made to look like the pinned ones, and chains of excessive length.
@Suite struct ChainAttackTests {
    private let authority: TestAuthority

    init() throws { authority = try TestAuthority.trusted.get() }

    /// A leaf that names the pinned intermediate as its issuer, and the real intermediate beside
    /// it: without a verified signature the chain would look right.
    @Test func refusesAForgedLeafOfThePinnedIntermediate() async throws {
        let impostor = try TestAuthority.impostor.get()
        let forged = OpenSSLServer.Identity(
            certificate: impostor.leaf.pem, key: impostor.leaf.key,
            chain: authority.intermediate.pem)
        let server = try await OpenSSLServer(forged, options: ["-quiet"], responds: false)
        let engine = try engine()
        for policy in [
            try pinned(authority.intermediate.pin), try pinned(authority.root.pin),
            try pinned(impostor.leaf.pin), try pinned(authority.leaf.pin, mode: .report), nil,
        ] {
            let error = await engine.failure(
                EngineRequest(get(server.port, "/refused"), policy: policy))
            #expect(error?.code == .tls)
        }
        await engine.shutdown()
        #expect(!server.received.contains("refused"))
    }

    /// Pins whose texts differ in letter case only are keys that have nothing in common.
    @Test(arguments: [false, true])
    func tellsPinsApartThatDifferInLetterCase(overHTTP2: Bool) async throws {
        let host = try await OrdersHost.start(directives: "location /plain { return 200 'x'; }")
        let engine = try engine(http2: overHTTP2)
        for pin in [authority.leaf.pin, authority.intermediate.pin, authority.root.pin] {
            let other = try #require(otherCase(pin))
            #expect(other != pin && other.lowercased() == pin.lowercased())
            _ = try await engine.fetch(
                EngineRequest(get(host.port, "/plain?good"), policy: try pinned(pin)))
            let error = await engine.failure(
                EngineRequest(get(host.port, "/plain?bad"), policy: try pinned(other)))
            #expect(error?.code == .pinMismatch)
            #expect(error?.pinRefusal?.remedy.kind == .letterCase)
        }
        _ = try await engine.fetch(EngineRequest(get(host.port, "/plain?good")))
        let requests = try await host.requests(count: 4)
        #expect(requests.count == 4 && !requests.contains { $0.contains("bad") })
        await engine.shutdown()
    }

    @Test func refusesAnIntermediateAloneAsAnAnchor() async throws {
        // Partial chains: what a CA file holds must be a root, or lead to one.
        let server = try await OpenSSLServer(authority.identity)
        let engine = try engine()
        for policy in [try pinned(authority.intermediate.pin), nil] {
            let error = await engine.failure(
                EngineRequest(
                    get(server.port), policy: policy, caFile: authority.intermediate.pem))
            #expect(error?.code == .tls)
        }
        await engine.shutdown()
    }

    /// A CA file of one call must not vouch for another call's server, in the same engine.
    @Test func keepsTheTrustOfCallsApart() async throws {
        let rogue = try TestAuthority.rogue.get()
        let ours = try await OpenSSLServer(authority.identity)
        let theirs = try await OpenSSLServer(rogue.identity)
        let engine = try engine()
        for _ in 0..<3 {
            for (port, caFile, isGood) in [
                (ours.port, nil, true), (theirs.port, rogue.caFile, true),
                (theirs.port, nil, false), (ours.port, rogue.caFile, false),
                (theirs.port, authority.caFile, false),
            ] {
                let error = await engine.failure(EngineRequest(get(port), caFile: caFile))
                #expect(error?.code == (isGood ? nil : .tls))
            }
        }
        await engine.shutdown()
    }

    @Test func judgesFiftyCertificates() async throws {
        let folder = try TemporaryDirectory()
        let pins = try await Self.makeChains(in: folder)
        // Fifty that have nothing to do with it, behind the right ones.
        let crowd =
            try Data(contentsOf: URL(filePath: authority.intermediate.pem))
            + folder.read("crowd.pem")
        let server = try await OpenSSLServer(
            .init(
                certificate: authority.leaf.pem, key: authority.leaf.key,
                chain: try folder.write(crowd, to: "sent.pem")))
        let engine = try engine()
        let (response, _) = try await engine.fetch(
            EngineRequest(get(server.port), policy: try pinned(authority.root.pin)))
        #expect(response.peerChain.count == 3)
        for pin in [wrongPin, pins.crowd] {
            let error = await engine.failure(
                EngineRequest(get(server.port), policy: try pinned(pin)))
            #expect(error?.code == .pinMismatch)
        }
        // Fifty that lead from the leaf to a trusted root, one after another.
        let deep = try await OpenSSLServer(
            .init(
                certificate: folder.path("leaf.pem"), key: folder.path("leaf.key"),
                chain: folder.path("deep.pem")))
        for policy in [try pinned(pins.root), nil] {
            let error = await engine.failure(
                EngineRequest(
                    get(deep.port), policy: policy, caFile: folder.path("root.pem")))
            #expect(error?.code == .tls)
        }
        await engine.shutdown()
    }

    /// A root with fifty authorities below each other and a leaf, and fifty certificates of no one.
    private static func makeChains(in folder: TemporaryDirectory) async throws -> (
        root: String, crowd: String
    ) {
        let output = try await PythonPeer.run("chains", [folder.path])
        let pins = output.text.split(whereSeparator: \.isWhitespace).map(String.init)
        guard pins.count == 2 else { throw TestSupportError("no chains: \(output.stderr)") }
        return (pins[0], pins[1])
    }
}

/// Returns the pin with the case of one letter changed, so that it is still a valid pin.
func otherCase(_ pin: String) -> String? {
    var bytes = Array(pin.utf8)
    // Not the last digit, of which some bits must be zero.
    let places = Pin.prefix.utf8.count..<(bytes.count - 2)
    guard let place = places.first(where: { bytes[$0] & 0xDF >= 0x41 && bytes[$0] & 0xDF <= 0x5A })
    else { return nil }
    bytes[place] ^= 0x20
    return String(decoding: bytes, as: UTF8.self)
}
