import HTTPTypes
import SignetClient
import SignetJSON
import SignetTesting

@testable import SignetRecording

extension RecordedExchange {
    /// An exchange with a JSON request and a JSON response.
    static func json(
        _ method: String = "POST", _ url: String = "https://api.example.com/orders",
        request: String? = nil, response: String = "{}", status: Int = 200, started: Int64 = 0
    ) -> RecordedExchange {
        let type = RecordedField(name: "Content-Type", value: "application/json")
        var exchange = RecordedExchange(
            request: Request(
                method: method, url: url, fields: request == nil ? [] : [type],
                body: request.map { RecordedBody(text: $0) }),
            response: Response(
                status: status, fields: [type], body: RecordedBody(text: response)))
        exchange.started = started
        return exchange
    }

    /// The exchange, redacted by rules.
    func redacted(by rules: RedactionRules = RedactionRules()) -> RecordedExchange {
        ExchangeRedactor(rules, marks: RedactionMarks()).redacted(self)
    }
}

extension Recording {
    init(_ exchanges: RecordedExchange...) {
        self.init(calls: exchanges.map(RecordedCall.init))
        number()
    }
}

/// Starts a system whose requests go to an engine, in a mode in which recording is allowed.
func startSystem(
    _ engine: any HTTPEngine, services: [ServiceName: ServiceConfiguration]? = nil,
    keys: KeySet? = nil, policy: PinPolicy? = nil,
    change: (inout NetworkSystem.Options) -> Void = { _ in }
) async throws -> NetworkSystem {
    var options = NetworkSystem.Options()
    options.runMode = .development
    options.engine = engine
    options.dangerous.allowUnpinnedServices()
    change(&options)
    return try await NetworkSystem.start(
        services: services ?? [
            "orders": .init(baseURL: "https://api.example.com/rpc", payloadProtocol: .jsonRPC2),
            "shop": .init(baseURL: "https://shop.example.com", payloadProtocol: .rest),
        ], keys: keys, policy: policy, options: options)
}

extension RecordingOptions {
    /// Records in every build: a release build is always in production.
    static var anywhere: RecordingOptions {
        var options = RecordingOptions()
        options.recordsInProduction = true
        return options
    }
}
