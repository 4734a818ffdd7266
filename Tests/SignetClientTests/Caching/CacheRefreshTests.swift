import HTTPTypes
import SignetTransport
import TestSupport
import Testing

@testable import SignetClient

/// The calls that make stored responses invalid, and those that renew stale ones.
@Suite(.timeLimit(.minutes(2))) struct CacheRefreshTests {
    private struct Passing: AttemptInterceptor {
        func intercept(_ call: OutgoingCall, next: NextAttempt) async throws -> EngineResponse {
            try await next(call)
        }
    }

    // MARK: Invalidating

    @Test func anUnsafeMethodInvalidates() async throws {
        let origin = CachedOrigin.counter()
        let cached = try await CachedSystem(origin)
        #expect(try await cached.text() == "1")
        _ = try await cached.system.exchange("a", method: .put, target: "/v1/n", body: [1])
        #expect(try await cached.text() == "3")
        await cached.system.shutdown()
    }

    /// Another endpoint's call on the same URL invalidates, although it uses no cache itself, has
    /// interceptors of attempts, or is answered with a redirect.
    @Test(arguments: [HTTPRequest.Method.put, .post, .delete, .patch], [200, 204, 303])
    func anUnsafeMethodOfAnotherEndpointInvalidates(
        _ method: HTTPRequest.Method, _ status: Int
    ) async throws {
        let origin = CachedOrigin { request, number in
            guard request.request.method == .get else {
                return .init(
                    status: status, fields: [.location: "https://api.example.com/v1/other"])
            }
            return .init(fields: [.cacheControl: "max-age=60"], body: "\(number)")
        }
        let cached = try await CachedSystem(origin, nil)
        func text() async throws -> String { try await cached.text { $0.cache = .http } }
        #expect(try await text() == "1")
        #expect(try await text() == "1")
        for policy in [nil, CachePolicy.never, .http] {
            var options = RequestOptions()
            options.cache = policy
            if policy == .http { options.attemptInterceptors = [Passing()] }
            _ = try await cached.system.exchange(
                "a", method: method, target: "/v1/n", body: [1], options: options)
            let count = origin.count
            #expect(try await text() == "\(count + 1)")
        }
        await cached.system.shutdown()
    }

    @Test(arguments: [
        (CachedOrigin.Reply(status: 404), HTTPRequest.Method.put),
        (.init(status: 500), .delete), (.init(isMadeUp: true), .put), (.init(), .options),
    ])
    func anUnsafeMethodThatFailsInvalidatesNothing(
        _ reply: CachedOrigin.Reply, _ method: HTTPRequest.Method
    ) async throws {
        let origin = CachedOrigin { request, number in
            request.request.method == .get
                ? .init(fields: [.cacheControl: "max-age=60"], body: "\(number)") : reply
        }
        let cached = try await CachedSystem(origin, nil)
        func text() async throws -> String { try await cached.text { $0.cache = .http } }
        #expect(try await text() == "1")
        _ = try? await cached.system.exchange("a", method: method, target: "/v1/n")
        #expect(try await text() == "1")
        await cached.system.shutdown()
    }

    /// A server that a redirect leads to clears its own responses alone.
    @Test func anotherOriginClearsNothing() async throws {
        let origin = CachedOrigin { request, number in
            switch (request.request.authority, request.request.path) {
            case ("other.example.com", _): .init(fields: [.init("Clear-Site-Data")!: "\"cache\""])
            case (_, "/v1/away"):
                .init(status: 302, fields: [.location: "https://other.example.com/"])
            default: .init(fields: [.cacheControl: "max-age=60"], body: "\(number)")
            }
        }
        let cached = try await CachedSystem(origin, nil)
        func text() async throws -> String { try await cached.text { $0.cache = .http } }
        #expect(try await text() == "1")
        _ = try await cached.system.exchange("a", method: .get, target: "/v1/away")
        #expect(try await text() == "1" && origin.count == 3)
        await cached.system.shutdown()
    }

    // MARK: Renewing

    @Test func aStaleResponseIsRenewedInTheBackground() async throws {
        let origin = CachedOrigin.counter("max-age=1, stale-while-revalidate=100")
        let cached = try await CachedSystem(origin)
        #expect(try await cached.text() == "1")
        cached.clock.now += 10
        let (text, use) = try await cached.get()
        #expect(text == "1" && use?.decision == .hit && use?.reason == "stale-while-revalidate")
        // A shutdown waits for the renewal.
        await cached.system.shutdown()
        #expect(origin.count == 2)
        #expect(origin.requests.last?.request.headerFields[.ifNoneMatch] == "\"1\"")
        let key = try #require(cached.store.list().first?.id.key)
        #expect(cached.store.entries(for: key).map(\.content) == [Array("2".utf8)])
    }

    @Test func oneOfManyRenews() async throws {
        let gate = Latch<Bool>()
        let origin = CachedOrigin { request, number in
            if number > 1 { _ = await gate.wait() }
            return .init(
                fields: [.cacheControl: "max-age=1, stale-while-revalidate=100"], body: "\(number)")
        }
        let cached = try await CachedSystem(origin)
        #expect(try await cached.text() == "1")
        cached.clock.now += 10
        for _ in 0..<20 { #expect(try await cached.text() == "1") }
        gate.set(true)
        await cached.system.shutdown()
        #expect(origin.count == 2)
    }

    /// A renewal that never returns doesn't hold up a shutdown.
    @Test func aStubbornRenewalIsGivenUp() async throws {
        let waiting = WaitingEngine(isStubborn: true)
        let origin = CachedOrigin { request, number in
            if number > 1 { _ = try? await waiting.send(request) }
            return .init(
                fields: [.cacheControl: "max-age=1, stale-while-revalidate=100"], body: "\(number)")
        }
        let cached = try await CachedSystem(origin)
        #expect(try await cached.text() == "1")
        cached.clock.now += 10
        #expect(try await cached.text() == "1")
        await cached.system.shutdown(gracePeriod: .zero)
        waiting.letGo()
    }
}
