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

    /// A key of 32 `Z`s.
    static func keys() throws -> KeySet {
        let text = """
            {"keys":[{"kty":"oct","use":"sig","alg":"HS256","kid":"k",\
            "k":"WlpaWlpaWlpaWlpaWlpaWlpaWlpaWlpaWlpaWlpaWlo"}]}
            """
        return try KeySet(parsing: Array(text.utf8), source: "test")
    }

    let system: NetworkSystem
    private let canaries: Canaries
    private let counts = Counts()
    /// Looks for canaries in the events.
    private let listener: Task<Void, Never>

    /// Counts the starts, and the ends of each call. A listener that falls behind would lose some.
    private final class Counts: CallObserver {
        private let state = Mutex((began: 0, ends: [CallIdentity.ID: Int]()))
        var all: (began: Int, ends: [Int]) { state.withLock { ($0.began, Array($0.ends.values)) } }

        func receive(_ event: CallEvent) {
            state.withLock { state in
                switch event {
                case .started: state.began += 1
                case .finished(let record): state.ends[record.identity.id, default: 0] += 1
                default: break
                }
            }
        }
    }

    private struct Token: CredentialSource {
        let scope = "user"
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
        let canaries = Canaries()
        var options = NetworkSystem.Options()
        options.caFile = authority.caFile
        options.logger = Logger(label: "test") { _ in canaries }
        options.callOptions.credentials = Token()
        var retry = RetryStrategy()
        retry.firstPause = .milliseconds(1)
        options.callOptions.retry = retry
        change(&options)
        var service = ServiceConfiguration(
            baseURL: "\(tls ? "https" : "http")://localhost:\(port)/api", payloadProtocol: .rest,
            signing: .init(scheme: "rfc9421", keyID: "k"), timeout: .seconds(60))
        changeService(&service)
        let rule = try PinRule(
            host: "localhost", pins: [Pin(parsing: authority.intermediate.pin)])
        system = try await NetworkSystem.start(
            services: ["a": service], keys: Self.keys(),
            policy: tls ? PinPolicy(rules: [rule]) : .allowingAll(), options: options)
        self.canaries = canaries
        system.addObserver(counts)
        listener = Task { [events = system.events] in
            for await event in events { canaries.note(event) }
        }
    }

    /// Makes a call; a POST carries its number.
    func call(
        _ number: Int, _ method: HTTPRequest.Method = .get, deadline: Duration? = nil
    ) async -> ClientError? {
        let trace = CallTrace()
        let options = RequestOptions(deadline: deadline, trace: trace)
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
    func note(_ value: some Any) { canaries.note(value) }

    /// Stops the system.
    ///
    /// - Returns: How many calls began, how often each ended, and the canaries that were found.
    func end() async -> (began: Int, ends: [Int], leaks: [String]) {
        note(system.startReport)
        note(system.runningCalls)
        await system.shutdown()
        await listener.value
        return (counts.all.began, counts.all.ends, canaries.leaks)
    }
}

/// Looks for secrets in the lines of a log and in other values, and keeps nothing but those that it
/// found.
final class Canaries: LogHandler, Sendable {
    private static let all = ["ZZZZ", "WlpaWl", "5a5a5a", "5A5A5A", "90, 90, 90"]
    private let found = Mutex<Set<String>>([])
    private let counted = Mutex(0)

    var leaks: [String] { found.withLock { $0.sorted() } }
    /// The number of lines so far.
    var lineCount: Int { counted.withLock { $0 } }
    var logLevel: Logger.Level {
        get { .trace }
        set { _ = newValue }
    }
    var metadata: Logger.Metadata {
        get { [:] }
        set { _ = newValue }
    }
    subscript(metadataKey _: String) -> Logger.Metadata.Value? {
        get { nil }
        set { _ = newValue }
    }

    /// Looks at all texts that can be made of a value.
    func note(_ value: some Any) {
        var text = "\(value)\n\(String(reflecting: value))\n"
        dump(value, to: &text)
        look(at: text)
    }

    func log(event: LogEvent) {
        counted.withLock { $0 += 1 }
        look(at: "\(event.message) \(event.metadata ?? [:])")
    }

    private func look(at text: String) {
        let leaks = Self.all.filter { text.contains($0) }
        if !leaks.isEmpty { found.withLock { $0.formUnion(leaks) } }
    }
}
