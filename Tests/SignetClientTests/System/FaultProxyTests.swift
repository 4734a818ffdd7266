import Foundation
import HTTPTypes
import SignetClient
import TestSupport
import Testing

/// A real engine on a faulty way, and before a faulty server: nothing hangs, nothing ends twice, no
/// POST arrives twice, and nothing that is written contains a secret.
///
/// With `SIGNET_SOAK` set there are 10,000 calls by seed.
@Suite(.timeLimit(.minutes(5))) struct FaultProxyTests {
    private static let isWhole = ProcessInfo.processInfo.environment["SIGNET_SOAK"] != nil

    /// Faults of the first connection, before a response.
    private static let lost: [NetworkFault] = [
        .cut(afterBytes: 0), .cut(afterBytes: 30), .reset(afterBytes: 0), .reset(afterBytes: 30),
    ]

    private static func isGood(_ fixture: FaultFixture, count: Int) async {
        #expect(fixture.system.runningCalls.isEmpty)
        let (began, ends, leaks) = await fixture.end()
        #expect(began == count && ends.count == count && ends.allSatisfy { $0 == 1 })
        #expect(leaks.isEmpty, "\(leaks)")
    }

    // MARK: The n-th connection

    @Test func aGetIsSentAgainAfterItsConnectionWasLost() async throws {
        let server = try await FaultServer(secret: FaultFixture.secret)
        let plan = Self.lost.flatMap { [$0, .none] }
        let proxy = try await FaultProxy(before: server.port, .list(plan))
        for (number, fault) in Self.lost.enumerated() {
            // Each system has connections of its own.
            let fixture = try await FaultFixture(port: proxy.port, tls: false)
            #expect(await fixture.call(number) == nil, "\(fault)")
            #expect(server.requests.count == 2 * (number + 1), "\(fault)")
            await Self.isGood(fixture, count: 1)
        }
        #expect(proxy.faults.count == plan.count)
    }

    @Test(.features("002-06")) func aPostIsNotRetriedAfterALostConnection() async throws {
        let faults = Self.lost + [.cutRequest(afterBytes: 40)]
        let server = try await FaultServer(secret: FaultFixture.secret)
        let proxy = try await FaultProxy(
            before: server.port, .list(faults.flatMap { [$0, .none] }))
        for (number, fault) in faults.enumerated() {
            let fixture = try await FaultFixture(port: proxy.port, tls: false)
            let error = await fixture.call(number, .post)
            #expect(error?.code.name == "cut-off" && error?.kind == .noResponse, "\(fault)")
            #expect(server.posts.count { $0 == number } <= 1, "\(fault)")
            // The next call has a connection of its own.
            #expect(await fixture.call(100 + number, .post) == nil, "\(fault)")
            #expect(server.posts.last == 100 + number, "\(fault)")
            await Self.isGood(fixture, count: 2)
        }
    }

    @Test func aSlowNetworkStillWorks() async throws {
        let faults: [NetworkFault] = [
            .latency(milliseconds: 5), .bandwidth(bytesPerSecond: 200_000),
            .slowClose(milliseconds: 5), .none,
        ]
        let authority = try TestAuthority.trusted.get()
        let server = try await FaultServer(tls: authority.leaf, secret: FaultFixture.secret)
        let proxy = try await FaultProxy(before: server.port, .list(faults))
        for (number, fault) in faults.enumerated() {
            let fixture = try await FaultFixture(port: proxy.port)
            #expect(await fixture.call(number, .post) == nil, "\(fault)")
            #expect(await fixture.call(number) == nil, "\(fault)")
            #expect(server.requests.suffix(2) == ["POST \(number)", "GET -"], "\(fault)")
            await Self.isGood(fixture, count: 2)
        }
        #expect(proxy.faults.count == faults.count)
    }

    /// The server sends nothing, or only the first bytes of the handshake. The second call doesn't
    /// wait for the first one.
    @Test func aStalledHandshakeEndsInTime() async throws {
        let faults: [NetworkFault] = [.stall(afterBytes: 0), .stall(afterBytes: 100)]
        let authority = try TestAuthority.trusted.get()
        let server = try await FaultServer(tls: authority.leaf, secret: FaultFixture.secret)
        let proxy = try await FaultProxy(
            before: server.port, .list(faults.flatMap { [$0, $0] }))
        for fault in faults {
            let fixture = try await FaultFixture(port: proxy.port) { options in
                options.callOptions.connectTimeout = .milliseconds(100)
            }
            #expect(await fixture.call(1, .post)?.code == .timeout, "\(fault)")
            let late = await fixture.call(2, .post, deadline: .milliseconds(100))
            #expect(late?.code == .timeout, "\(fault)")
            await Self.isGood(fixture, count: 2)
        }
        #expect(server.requests.isEmpty)
    }

    // MARK: The n-th request

    @Test func aServerThatDiesInItsResponseSeesAPostOnce() async throws {
        let faults: [NetworkFault] = [
            .death, .silence, .wrongLength(by: 10), .halfStatusLine, .garbage,
            .wrongLength(by: -10),
        ]
        let server = try await FaultServer(
            .list(faults.flatMap { [.none, $0, .none] }), secret: FaultFixture.secret)
        for (number, fault) in faults.enumerated() {
            let fixture = try await FaultFixture(port: server.port, tls: false)
            // The connection is open when the request goes out that the server dies of.
            #expect(await fixture.call(number) == nil, "\(fault)")
            let error = await fixture.call(number, .post)
            #expect(error?.kind == .noResponse || error?.kind == .malformed, "\(fault)")
            #expect(await fixture.call(100 + number, .post) == nil, "\(fault)")
            #expect(server.posts.suffix(2) == [number, 100 + number], "\(fault)")
            await Self.isGood(fixture, count: 3)
        }
        #expect(server.posts.count == 2 * faults.count)
    }

    @Test(arguments: [false, true])
    func aGetOutlivesADyingServer(_ http2: Bool) async throws {
        let leaf = try TestAuthority.trusted.get().leaf
        let server = try await FaultServer(
            .list([.death, .status(503), .none]), tls: http2 ? leaf : nil, http2: http2,
            secret: FaultFixture.secret)
        let fixture = try await FaultFixture(port: server.port, tls: http2)
        #expect(await fixture.call(1) == nil)
        #expect(server.requests == ["GET -", "GET -", "GET -"])
        await Self.isGood(fixture, count: 1)
    }

    @Test func aSessionThatEndsSeesAPostOnce() async throws {
        // A request that the server can't have seen may be sent again, so it arrives last.
        let faults: [NetworkFault] = [
            .goAway, .silence, .death, .garbage, .halfStatusLine, .wrongLength(by: 10),
            .wrongLength(by: -10), .goAwayUnseen,
        ]
        let authority = try TestAuthority.trusted.get()
        let server = try await FaultServer(
            .list(faults.flatMap { [.none, $0, .none] }), tls: authority.leaf, http2: true,
            secret: FaultFixture.secret)
        for (number, fault) in faults.enumerated() {
            let fixture = try await FaultFixture(port: server.port)
            #expect(await fixture.call(number) == nil, "\(fault)")
            let error = await fixture.call(number, .post)
            #expect(error?.kind != .local && error?.kind != .refused, "\(fault)")
            if fault != .goAwayUnseen { #expect(error != nil, "\(fault)") }
            #expect(await fixture.call(number) == nil, "\(fault)")
            #expect(server.posts.count { $0 == number } <= 1, "\(fault)")
            await Self.isGood(fixture, count: 3)
        }
    }

    // MARK: By seed

    /// All faults at once, on the way and of the server.
    @Test(arguments: [1, 2], [false, true])
    func faultsBySeedEndEachCallOnce(seed: UInt64, http2: Bool) async throws {
        let authority = try TestAuthority.trusted.get()
        let faults: [NetworkFault] = [
            .none, .none, .none, .none, .none, .death, .silence, .wrongLength(by: 3),
            .status(503), .status(429), .status(500), .halfStatusLine, .garbage,
        ]
        let server = try await FaultServer(
            .seed(seed, faults + (http2 ? [.goAway, .goAwayUnseen] : [])), tls: authority.leaf,
            http2: http2, secret: FaultFixture.secret)
        let proxy = try await FaultProxy(
            before: server.port,
            .seed(
                seed,
                [
                    .none, .none, .none, .none, .latency(milliseconds: 2),
                    .bandwidth(bytesPerSecond: 500_000), .slowClose(milliseconds: 2),
                    .cut(afterBytes: 0), .cut(afterBytes: 1500), .cut(afterBytes: 6000),
                    .cutRequest(afterBytes: 100), .cutRequest(afterBytes: 1000),
                    .reset(afterBytes: 0), .reset(afterBytes: 3000), .stall(afterBytes: 200),
                ]))
        let fixture = try await FaultFixture(port: proxy.port) { options in
            options.callOptions.connectTimeout = .milliseconds(200)
            options.callOptions.timeout = .milliseconds(400)
        }
        let count = Self.isWhole ? 10_000 : 60
        let errors = await Self.run(count, at: once(seed), on: fixture)
        #expect(errors.count == count)
        let kinds: Set<ClientError.Kind> = [.noResponse, .refused, .malformed]
        for error in errors.compactMap(\.self) { #expect(kinds.contains(error.kind), "\(error)") }
        let posts = server.posts
        #expect(Set(posts).count == posts.count)
        #expect(server.faults.contains("goaway") == http2)
        #expect(errors.contains { $0 == nil })
        await Self.isGood(fixture, count: count)
    }

    /// Makes calls, sixteen side by side; a third of them are POST requests.
    private static func run(
        _ count: Int, at first: Int, on fixture: FaultFixture
    ) async -> [ClientError?] {
        await withTaskGroup(of: ClientError?.self) { group in
            var errors: [ClientError?] = []
            for number in 0..<count {
                if number >= 16, let error = await group.next() { errors.append(error) }
                group.addTask {
                    await fixture.call(first + number, number % 3 == 0 ? .post : .get)
                }
            }
            for await error in group { errors.append(error) }
            return errors
        }
    }

    private func once(_ seed: UInt64) -> Int { Int(seed) * 1_000_000 }
}
