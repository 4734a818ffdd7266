import Foundation
import HTTPTypes
import SignetCache
import SignetPinning
import SignetRPC
import Synchronization
import TestSupport
import Testing

@testable import SignetClient

/// Calls of two users through a network system get only what RFC 9111 allows, and what is theirs.
///
/// With `SIGNET_SOAK` (`make soak`) there are 10,000 calls.
@Suite struct PipelinePropertyTests {
    private static let count =
        ProcessInfo.processInfo.environment["SIGNET_SOAK"] == nil ? 1_000 : 5_000

    /// How a request names its user.
    private enum Way: CaseIterable { case credentials, authorization, cookie }

    private struct Call: Sendable {
        let asked: OracleRequest
        let way: Way
    }

    private final class Shared: Sendable {
        let play: Mutex<Play>
        let now = Mutex(Int64(1_790_000_000))

        init(seed: UInt64) { play = Mutex(Play(seed: seed)) }

        /// Replies to the user whom the request itself names.
        func answer(_ request: HTTPRequest) -> OriginReply? {
            let now = now.withLock { $0 }
            return play.withLock { $0.answer(request, to: OracleRequest(request), at: now) }
        }
    }

    private struct Token: CredentialSource {
        let scope: String

        func credential(
            replacing old: Credential?, for call: CallIdentity
        ) async throws -> Credential { .bearer("of-\(scope)") }
    }

    private static func system(
        _ shared: Shared, attempts: Int
    ) async throws -> NetworkSystem {
        var options = NetworkSystem.Options()
        options.engine = OriginEngine { shared.answer($0) }
        options.cacheStore = MemoryCacheStore(byteLimit: 60_000)
        options.clock.now = { shared.now.withLock { $0 } }
        options.clock.sleep = { _ in }
        options.callOptions.cache = .http
        options.callOptions.attempts = attempts
        options.callOptions.duplicates = .join
        return try await NetworkSystem.start(
            services: [
                "a": ServiceConfiguration(
                    baseURL: "https://api.example.com", payloadProtocol: .rest)
            ],
            policy: PinPolicy(rules: [], unlisted: .allow), options: options)
    }

    /// Returns the reply, and whether the call was sent.
    private static func send(_ call: Call, to system: NetworkSystem) async -> (ClientReply, Bool) {
        let (trace, request) = (CallTrace(), call.asked.request)
        var options = RequestOptions()
        options.trace = trace
        options.fields = request.headerFields
        switch call.way {
        case .credentials: options.credentials = Token(scope: call.asked.scope)
        case .authorization: options.fields[.authorization] = "Bearer of-\(call.asked.scope)"
        case .cookie: options.fields[.cookie] = "session=of-\(call.asked.scope)"
        }
        let path = RESTPath(stringLiteral: call.asked.path)
        let raw = await system.response(
            to: RESTCall(RESTRequest(request.method, path), on: "a"), options: options
        ).raw
        let reply = raw.map {
            ClientReply(
                response: HTTPResponse(status: .init(code: $0.status), headerFields: $0.fields),
                content: $0.body)
        }
        return (
            reply ?? ClientReply(response: HTTPResponse(status: .gatewayTimeout)),
            trace.record?.attempts.isEmpty == false
        )
    }

    /// - Parameter atOnce: The most calls that run at the same time, some of them alike.
    @Test(arguments: [(36, 1), (9111, 4)] as [(UInt64, Int)])
    func servesOnlyWhatIsAllowed(seed: UInt64, atOnce: Int) async throws {
        let shared = Shared(seed: seed)
        let system = try await Self.system(shared, attempts: atOnce == 1 ? 1 : 2)
        var number = 0
        // How often calls at once validate depends on their order, so there may be more of them.
        while number < Self.count
            || (number < 2 * Self.count
                && shared.play.withLock({ $0.validated <= Self.count / 100 }))
        {
            let calls = shared.play.withLock { Self.calls(atOnce, in: &$0) }
            let pause = shared.play.withLock { $0.pause() }
            shared.now.withLock { $0 += pause }
            let replies = await withTaskGroup(of: (Int, ClientReply, Bool).self) { group in
                for (index, call) in calls.enumerated() {
                    group.addTask {
                        let (reply, wasSent) = await Self.send(call, to: system)
                        return (index, reply, wasSent)
                    }
                }
                return await group.reduce(into: []) { $0.append($1) }
            }
            await system.pipeline.caches?.http.renewals.waitUntilIdle()
            let now = shared.now.withLock { $0 }
            for (index, reply, wasSent) in replies {
                let problem = shared.play.withLock {
                    $0.problem(reply, calls[index].asked, wasSent: wasSent, at: now)
                }
                if let problem {
                    Issue.record("seed \(seed), call \(number + index): \(problem)")
                    return
                }
            }
            shared.play.withLock { $0.endTurn() }
            number += calls.count
        }
        await system.shutdown()
        // The play tests nothing if the cache serves nothing.
        shared.play.withLock { play in
            #expect(play.served > Self.count / 25)
            #expect(play.validated > Self.count / 100)
            #expect(play.parts > Self.count / 100)
        }
    }

    private static func calls(_ most: Int, in play: inout Play) -> [Call] {
        var asked = OracleRequest(&play.random)
        var calls: [Call] = []
        for _ in 0..<Int.random(in: 1...most, using: &play.random) {
            let way =
                play.chance(70) ? .credentials : Way.allCases.randomElement(using: &play.random)
            calls.append(Call(asked: asked, way: way!))
            // The next one is of either user, and asks for the same or for something else.
            let scope = play.chance(50) ? "one" : "two"
            if play.chance(50) { asked = OracleRequest(&play.random) }
            asked.scope = scope
        }
        return calls
    }
}

extension OracleRequest {
    /// The parts of a request that an origin sees.
    fileprivate init(_ request: HTTPRequest) {
        self.init()
        let sent = request.headerFields
        scope = String((sent[.authorization] ?? sent[.cookie] ?? "").suffix(3))
        path = request.path ?? ""
        method = request.method
        for name in ["Foo", "Bar"] { fields[name] = sent[HTTPField.Name(name)!] }
        isNoStore = sent[.cacheControl]?.contains("no-store") == true
    }
}
