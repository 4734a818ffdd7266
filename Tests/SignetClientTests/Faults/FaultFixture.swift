import Foundation
import HTTPTypes
import Logging
import SignetClient
import SignetJSON
import SignetPinning
import SignetRPC
import SignetTransport
import Synchronization
import TestSupport

/// A system whose log, events, records, traces and errors are searched for its secrets, which are
/// recognisable: key, token, query, bodies and fields of responses.
final class FaultFixture: Sendable {
    /// The texts that no log, event, record, trace or error may contain.
    static let secret = "ZZZZZZZZZZZZ"
    private static let canaries = ["ZZZZ", "WlpaWl", "5a5a5a", "5A5A5A", "90, 90, 90"]

    let system: NetworkSystem
    private let log: RecordingLog
    private let texts: Texts
    private let ends: Task<(began: Int, ends: [CallIdentity.ID: Int]), Never>

    /// The canaries that were found in all that was written.
    private final class Texts: Sendable {
        private let found = Mutex<Set<String>>([])
        var leaks: [String] { found.withLock { $0.sorted() } }

        func note(_ value: some Any) {
            var text = "\(value)\n\(String(reflecting: value))\n"
            dump(value, to: &text)
            let leaks = FaultFixture.canaries.filter { text.contains($0) }
            if !leaks.isEmpty { found.withLock { $0.formUnion(leaks) } }
        }
    }

    private struct Token: CredentialSource {
        func credential(
            replacing old: Credential?, for call: CallIdentity
        ) async throws -> Credential { .bearer(FaultFixture.secret) }
    }

    /// Starts a system for a service on loopback that signs with a key of 32 `Z`s.
    init(
        port: Int, tls: Bool = true, change: (inout NetworkSystem.Options) -> Void = { _ in },
        changeService: (inout ServiceConfiguration) -> Void = { _ in }
    ) async throws {
        let authority = try TestAuthority.trusted.get()
        let log = RecordingLog()
        var options = NetworkSystem.Options()
        options.caFile = authority.caFile
        options.logger = Logger(label: "test") { _ in log }
        options.callOptions.credentials = Token()
        var retry = RetryPolicy()
        retry.firstPause = .milliseconds(1)
        options.callOptions.retry = retry
        change(&options)
        var service = ServiceConfiguration(
            baseURL: "\(tls ? "https" : "http")://localhost:\(port)/api", payloadProtocol: .rest,
            signing: .init(scheme: "rfc9421", keyID: "k"), timeout: .seconds(60))
        changeService(&service)
        let keys = """
            {"keys":[{"kty":"oct","use":"sig","alg":"HS256","kid":"k",\
            "k":"WlpaWlpaWlpaWlpaWlpaWlpaWlpaWlpaWlpaWlpaWlo"}]}
            """
        let rule = try PinRule(
            host: "localhost", pins: [Pin(parsing: authority.intermediate.pin)])
        system = try await NetworkSystem.start(
            services: ["a": service], keys: KeySet(parsing: Array(keys.utf8), source: "test"),
            policy: tls ? PinPolicy(rules: [rule]) : .allowingAll(), options: options)
        self.log = log
        let (events, texts) = (system.events, Texts())
        self.texts = texts
        // Taken as they come: a listener keeps no more than the last 10,000.
        ends = Task {
            var (began, ends) = (0, [CallIdentity.ID: Int]())
            for await event in events {
                texts.note(event)
                switch event {
                case .started: began += 1
                case .finished(let record): ends[record.identity.id, default: 0] += 1
                default: break
                }
            }
            return (began, ends)
        }
    }

    /// Makes a call; a POST carries its number.
    func call(
        _ number: Int, _ method: HTTPRequest.Method = .get, deadline: Duration? = nil
    ) async -> ClientError? {
        let trace = CallTrace()
        let options = CallOptions(deadline: deadline, trace: trace)
        let parameters: JSONObject = [
            "id": .number(JSONNumber(Int64(number))), "secret": .string(Self.secret),
        ]
        let request =
            switch method {
            case .post:
                RPCCall(RPCMethod(method.rawValue), parameters: .object(parameters))
            default:
                RPCCall(
                    RPCMethod(method.rawValue),
                    parameters: .object(["secret": .string(Self.secret)]))
            }
        do throws(ClientError) {
            _ = try await system.call(request, on: "a", options: options)
            note(trace.attempts)
            return nil
        } catch {
            note(error)
            note(trace.attempts)
            return error
        }
    }

    /// Looks for canaries in all texts that can be made of a value.
    func note(_ value: some Any) { texts.note(value) }

    /// Stops the system.
    ///
    /// - Returns: How many calls began, how often each ended, and the canaries that were found.
    func end() async -> (began: Int, ends: [Int], leaks: [String]) {
        note(system.startReport)
        note(system.runningCalls)
        await system.shutdown()
        let (began, ends) = await ends.value
        note(log.text)
        return (began, Array(ends.values), texts.leaks)
    }
}
