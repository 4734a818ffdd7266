import Foundation
import HTTPTypes
import SignetCrypto
import SignetJSON
import SignetPinning
import SignetRPC
import SignetTransport
import SignetVault
import Synchronization
import TestSupport
import Testing

@testable import SignetClient

/// A hundred calls a second for three minutes, while keys, pins, configuration and credentials
/// change: each call keeps to its end what it began with. `make check-all` runs it.
@Suite(.enabled(if: ProcessInfo.processInfo.environment["SIGNET_CHANGING_SOAK"] != nil))
struct ChangingSystemSoakTests {
    private static let seconds = 180
    private static let host = "api.example.com"
    /// The number of a call that shares its request with no other.
    private static let number = HTTPField.Name("X-Call")!

    /// An engine that fails now and then, and notes requests and calls that mix two configurations:
    /// the User-Agent, the signature's key and the pins carry the number of the configuration. A
    /// call's credential is its user's.
    private final class CheckingEngine: HTTPEngine {
        let capabilities = EngineCapabilities(
            name: "checking", pinsPublicKeys: true, speaksHTTP2: false)
        private let numbers = Mutex(SplitMix(seed: 32))
        private struct Found {
            var mixed: [String] = []
            var requests = 0
            /// The configuration of each call's first request.
            var epochs: [Int: String] = [:]
        }

        private let found = Mutex(Found())

        var mixed: [String] { found.withLock { $0.mixed } }
        var count: Int { found.withLock { $0.requests } }

        func send(_ request: EngineRequest) async throws(TransportError) -> EngineResponse {
            let fields = request.request.headerFields
            let epoch = fields[.userAgent]?.split(separator: "/").last.map(String.init) ?? "none"
            let input = fields[.init("Signature-Input")!] ?? ""
            let pin = (try? HostName.canonical(ChangingSystemSoakTests.host)).flatMap {
                request.policy?.rule(for: $0)?.pins.first?.text
            }
            let isMixed =
                !input.contains(#"keyid="k\#(epoch)""#)
                || pin != Int(epoch).map { ChangingSystemSoakTests.pin(of: $0).text }
            let call = fields[ChangingSystemSoakTests.number].flatMap { Int($0) }
            found.withLock { found in
                found.requests += 1
                if isMixed { found.mixed.append("\(epoch) \(input) \(pin ?? "")") }
                guard let call else { return }
                let first = found.epochs[call, default: epoch]
                found.epochs[call] = first
                if first != epoch || fields[.authorization] != "Bearer token-\(call % 20)" {
                    found.mixed.append("call \(call): \(first), \(epoch)")
                }
            }
            await Task.yield()
            switch numbers.withLock({ Int.random(in: 0..<100, using: &$0) }) {
            case 0..<4: throw TransportError(.connect, "down")
            case 4..<8: throw TransportError(.cutOff, "cut off")
            case 8..<12: return Self.response(.unauthorized, to: request)
            case 12..<16: return Self.response(.serviceUnavailable, to: request)
            default: return Self.response(.ok, to: request)
            }
        }

        private static func response(
            _ status: HTTPResponse.Status, to request: EngineRequest
        ) -> EngineResponse {
            let id = (try? JSONValue(parsing: request.bytes))?["id"]?.text ?? "null"
            return EngineResponse(
                response: HTTPResponse(status: status),
                body: HTTPResponseBody(
                    bytes: Array(#"{"jsonrpc":"2.0","id":\#(id),"result":1}"#.utf8)),
                httpVersion: .init(major: 1, minor: 1))
        }

        func shutdown() async {}
    }

    private struct User: CredentialSource {
        let scope: String

        func credential(
            replacing old: Credential?, for call: CallIdentity
        ) async throws -> Credential {
            await Task.yield()
            return .bearer("token-\(scope)")
        }
    }

    fileprivate static func pin(of epoch: Int) -> Pin {
        let bytes = (0..<32).map { UInt8(truncatingIfNeeded: epoch >> (8 * ($0 % 4))) }
        guard let pin = try? Pin(bytes: bytes) else { preconditionFailure("32 bytes are a pin") }
        return pin
    }

    /// The configuration and the keys of a number.
    private static func parts(of epoch: Int) throws -> (GlobalConfiguration, KeySet) {
        let configuration = try Settings.configuration([
            "app.userAgent": .string("soak/\(epoch)"),
            "services.a.signing.scheme": "rfc9421",
            "services.a.signing.key": .string("k\(epoch)"),
            "services.a.pins": [.string(pin(of: epoch).text)],
        ])
        let text = """
            {"keys":[{"kty":"oct","use":"sig","alg":"HS256","kid":"k\(epoch)",\
            "k":"WlpaWlpaWlpaWlpaWlpaWlpaWlpaWlpaWlpaWlpaWlo"}]}
            """
        return (configuration, try KeySet(parsing: Array(text.utf8), source: "test"))
    }

    @Test func eachCallKeepsItsConfiguration() async throws {
        let engine = CheckingEngine()
        var options = NetworkSystem.Options()
        options.engine = engine
        options.clock.sleep = { _ in await Task.yield() }
        let (configuration, keys) = try Self.parts(of: 0)
        let system = try await NetworkSystem.start(configuration, keys: keys, options: options)
        let ends = Task { [events = system.events] in
            var ends = 0
            for await case .finished in events { ends += 1 }
            return ends
        }
        let changes = Task {
            var epoch = 0
            while !Task.isCancelled {
                epoch += 1
                let (configuration, keys) = try Self.parts(of: epoch)
                try system.update(configuration, keys: keys)
                system.removeCredentials(of: epoch % 2 == 0 ? nil : "\(epoch % 20)")
                try? await Task.sleep(for: .milliseconds(7))
            }
            return epoch
        }
        let count = Self.seconds * 100
        var good = 0
        await withTaskGroup(of: Bool.self) { group in
            let clock = ContinuousClock()
            let start = clock.now
            for number in 0..<count {
                group.addTask { await Self.call(number, on: system) }
                try? await clock.sleep(until: start + .milliseconds(10) * number)
            }
            for await isGood in group where isGood { good += 1 }
        }
        changes.cancel()
        let epochs = try await changes.value
        #expect(engine.mixed.isEmpty, "\(engine.mixed.prefix(5))")
        #expect(engine.count > count && good > count / 2 && epochs > Self.seconds)
        #expect(system.runningCalls.isEmpty)
        await system.shutdown()
        #expect(await ends.value == count)
    }

    /// Makes one call; one in fifty is cancelled, and one in seven joins its equals.
    private static func call(_ number: Int, on system: NetworkSystem) async -> Bool {
        var options = RequestOptions(idempotency: .always)
        options.credentials = User(scope: "\(number % 20)")
        options.attempts = 3
        if number % 7 == 0 {
            options.duplicates = .join
        } else {
            options.fields[Self.number] = "\(number)"
        }
        let given = options
        let call = Task {
            await Pipeline.code { () async throws(ClientError) in
                try await system.call(RPCCall("pay"), on: "a", options: given)
            }
        }
        if number % 50 == 0 { call.cancel() }
        return await call.value == nil
    }
}
