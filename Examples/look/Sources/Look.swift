#if Inspector
import SignetCache
import SignetClient
import SignetInspector
import SignetJSON

/// A program to look at: it makes calls that succeed and calls that fail in five ways, and shows
/// them on a page. None leaves this machine.
///
///     swift run look      # with 60, the page keeps the last 60 calls
@main enum Look {
    /// A name that would be a script if a page took it for one.
    static let hostile = "</script><script>document.title=\"pwned\"</script>\u{202e}"

    static func main() async throws {
        let system = try await start()
        var options = InspectorOptions()
        options.title = "look"
        if let count = CommandLine.arguments.dropFirst().first.flatMap({ Int($0) }) {
            options.maximumCalls = count
        }
        options.views = [.init("Orders that failed", filter: "service:orders is:failed")]
        let page = try await system.inspect(options)
        print("Open this link, which is good once: \(page.url)")
        print("Calls are made every two seconds; Ctrl-C ends them.")
        while true {
            await makeCalls(of: system)
            try await Task.sleep(for: .seconds(2))
        }
    }

    private static func start() async throws -> NetworkSystem {
        let pin = try Pin(parsing: Servers.pins.leaf)
        let reserve = try Pin(parsing: "sha256/Vjs8r4z+80wjNcr1YKepWQboSIRi63WsWXhIMN+eWys=")
        let other = try Pin(parsing: "sha256/C5+lpZ7tcVwmwQIMcRtPbsQtWLABXhQzejna0wHFr8M=")
        var services: [ServiceName: ServiceConfiguration] = [
            "orders": service("https://api.example.com/rpc", .jsonRPC2, [pin, reserve]),
            "payments": service("https://pay.example.com/rpc", .jsonRPC2, [reserve, other]),
            "partner": service("https://partner.example.com/v1", .rest, [pin, reserve]),
            "busy": service("https://busy.example.com", .rest, [pin, reserve]),
            "prices": service("https://prices.example.com", .rest, [pin, reserve]),
        ]
        services["orders"]?.addresses = try ["192.0.2.1", "192.0.2.2", "192.0.2.3"]
            .map { try ServiceAddress(parsing: $0) }
        services["busy"]?.attempts = 4
        services["prices"]?.options.cache = .http
        services["prices"]?.attempts = 1
        services["orders"]?.options.responseChecks = [
            BusinessCodeCheck(field: "code", goodCodes: [0])
        ]
        services["orders"]?.options.attemptInterceptors = [NamingClient()]
        var options = NetworkSystem.Options()
        options.runMode = .development
        options.engine = Servers()
        options.cacheStore = MemoryCacheStore(byteLimit: 1 << 20)
        let keys = try KeySet(
            parsing: Array(
                #"{"keys":[{"kty":"oct","use":"sig","alg":"HS256","kid":"orders-2026","k":"bm90LWEtc2VjcmV0LWEtc2VjcmV0LWZvci1kZW1vLTE"}]}"#
                    .utf8), source: "look")
        return try await NetworkSystem.start(services: services, keys: keys, options: options)
    }

    private static func service(
        _ url: String, _ protocol: ServiceConfiguration.PayloadProtocol, _ pins: [Pin]
    ) -> ServiceConfiguration {
        ServiceConfiguration(
            baseURL: url, payloadProtocol: `protocol`,
            signing: .init(scheme: "rfc9421", keyID: "orders-2026"), pins: pins)
    }

    private static func makeCalls(of system: NetworkSystem) async {
        let parameters: JSONObject = ["item": "tea", "cups": 2, "password": "hunter2hunter2"]
        var greeted = RequestOptions()
        greeted.tags = [hostile]
        _ = try? await system.call(RPCCall("orders.list"), on: "orders")
        _ = try? await system.call(
            RPCCall("orders.create", parameters: .object(parameters)), on: "orders")
        _ = try? await system.call(RPCCall("orders.greet"), on: "orders", options: greeted)
        _ = try? await system.call(RPCCall("stock.reserve"), on: "orders")
        _ = try? await system.call(RPCCall("payments.take"), on: "payments")
        _ = try? await system.call(RESTRequest(.get, "/report", query: ["day": 7]), on: "partner")
        _ = try? await system.call(RESTRequest(.get, "/status"), on: "busy")
        _ = try? await system.call(RESTRequest(.get, "/prices"), on: "prices")
    }
}

/// Names the program in each request, as the page then shows.
struct NamingClient: AttemptInterceptor {
    func intercept(_ call: OutgoingCall, next: NextAttempt) async throws -> EngineResponse {
        var call = call
        if let name = HTTPField.Name("X-Client") { call.request.headerFields[name] = "look" }
        return try await next(call)
    }
}
#else
/// Without the page there is nothing to look at.
@main enum Look {
    static func main() { print("look needs the package trait Inspector, which is on by default") }
}
#endif
