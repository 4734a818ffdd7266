import SignetClient
import SignetJSON
import Testing

/// Options and services may hold secrets, so neither a description nor a dump shows them.
@Suite struct SettingsDumpTests {
    private static let canary = "ZZZZZZ"

    private struct Token: CredentialSource, CallInterceptor, AttemptInterceptor, ResponseCheck {
        let secret = canary
        var scope: String { secret }

        func credential(
            replacing old: Credential?, for call: CallIdentity
        ) async throws -> Credential { .bearer(secret) }

        func intercept(_ call: PendingCall, next: NextCall) async throws -> UnboxedResponse {
            try await next(call)
        }

        func intercept(_ call: OutgoingCall, next: NextAttempt) async throws -> EngineResponse {
            try await next(call)
        }

        func failure(in response: UnboxedResponse) -> String? { nil }
    }

    private static func options() -> RequestOptions {
        var options = RequestOptions(scenario: "interactive", deadline: .seconds(3), tags: ["seen"])
        options.fields = [.authorization: canary, .cookie: canary]
        options.baseURL = "https://api.example.com/seen?token=\(canary)"
        options.testBaseURL = "https://user:\(canary)@api.example.com/"
        options.credentials = Token()
        options.interceptors = [Token()]
        options.attemptInterceptors = [Token()]
        options.responseChecks = [Token(), BusinessCodeCheck(field: "code", goodCodes: [0])]
        return options
    }

    private static func service() -> ServiceConfiguration {
        var service = ServiceConfiguration(
            baseURL: "https://api.example.com/seen?key=\(canary)", payloadProtocol: .rest,
            signing: .init(scheme: "rfc9421", keyID: "seen", settings: ["sf.x": canary]),
            commonFields: [.authorization: canary], commonParameters: ["client": .string(canary)])
        service.sets["php"] = RequestDefaults(
            fields: [.authorization: canary], parameters: ["client": .string(canary)])
        service.options = options()
        service.scenarios["interactive"] = options()
        service.methods["GET"] = options()
        service.cookies = CookieStore()
        service.staging = .init(
            baseURL: "https://staging.example.com/?key=\(canary)",
            signing: .init(scheme: "rfc9421", keyID: "seen", settings: ["sf.x": canary]))
        return service
    }

    private static func check(_ value: some Sendable, shows names: [String]) {
        var text = "\(value) \(String(reflecting: value)) \([value])"
        dump(value, to: &text)
        dump(Optional(value), to: &text)
        #expect(!text.contains(canary) && !text.contains("90, 90"), "\(text)")
        for name in names { #expect(text.contains(name), "\(name) in \(text)") }
    }

    @Test func optionsShowNoValue() {
        Self.check(
            Self.options(),
            shows: ["authorization", "Token", "interactive", "https://api.example.com/seen"])
        #expect(Array(Mirror(reflecting: RequestOptions()).children).isEmpty)
    }

    @Test func aServiceShowsNoValue() {
        Self.check(Self.service(), shows: ["client", "php", "rfc9421, key seen", "interactive"])
    }

    @Test func aSetShowsNoValue() {
        Self.check(
            RequestDefaults(
                fields: [.authorization: Self.canary], parameters: ["client": "ZZZZZZ"]),
            shows: ["authorization", "client"])
    }

    @Test func theSystemsOptionsShowNoValue() throws {
        var options = NetworkSystem.Options()
        options.callOptions = Self.options()
        options.scenarios["interactive"] = Self.options()
        options.proxies = ProxyRules(
            try Proxy(
                parsing: "http://seen:\(Self.canary)@proxy.example.com:3128",
                allowsCredentials: true))
        Self.check(options, shows: ["authorization", "proxy.example.com"])
    }

    @Test func aCallThatIsAValueShowsNoValue() {
        var call = ProcedureCall.procedure(
            "seen", on: "a", parameters: ["client": .string(Self.canary)])
        call.callOptions = Self.options()
        Self.check(call, shows: ["seen", "authorization"])
        Self.check(RESTCall.get("/x", on: "a", query: ["client": "ZZZZZZ"]), shows: ["GET"])
    }
}
