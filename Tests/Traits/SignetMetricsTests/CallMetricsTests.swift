import MetricsTestKit
import SignetClient
import SignetMetrics
import SignetTesting
import SignetTransport
import TestSupport
import Testing

@Suite struct CallMetricsTests {
    /// The metrics after some calls.
    private static func metrics(
        _ responses: [StubResponse], methods: [String] = ["GET"],
        changeOptions: (inout NetworkSystem.Options) -> Void = { _ in }
    ) async throws -> TestMetrics {
        let stub = StubEngine()
        let rest = Responses(responses)
        stub.respond { _ throws(TransportError) in rest.next() }
        let system = try await Shop.system(stub, change: changeOptions)
        let (events, metrics) = (system.events, TestMetrics())
        for method in methods { _ = await Shop.call(system, method) }
        await system.shutdown()
        await CallMetrics(factory: metrics).record(events)
        return metrics
    }

    @Test func callsAreCountedByServiceMethodAndOutcome() async throws {
        let metrics = try await Self.metrics(
            [.status(200), .status(200), .failure(.tls), .status(404)],
            methods: ["GET", "GET", "GET", "PUT"])
        func count(_ method: String, _ outcome: String) -> Int64 {
            metrics.counterTotal(
                label: "signet.client.calls",
                dimensions: [
                    ("service", "a"), ("method", method), ("outcome", outcome),
                    ("engine", "standard"),
                ])
        }
        #expect(count("GET", "success") == 2 && count("GET", "tls") == 1)
        // An exchange hands a status over as it is.
        #expect(count("PUT", "success") == 1)
        #expect(metrics.counterTotal(label: "signet.client.calls") == 4)
        #expect(metrics.counters(label: "signet.client.lost_events").isEmpty)
        let durations = metrics.recorders(label: "signet.client.call.duration")
        #expect(durations.reduce(0) { $0 + $1.values.count } == 4)
    }

    @Test func eachRequestIsMeasured() async throws {
        let metrics = try await Self.metrics([
            .failure(.connect), .status(503),
            .status(302, fields: [.location: "/v1/other?k=ZZZZZZ"]), .status(200),
        ])
        let recorders = metrics.recorders(label: "http.client.request.duration")
        let found = Set(
            recorders.map { recorder in
                recorder.dimensions.filter { $0.0.contains("status") || $0.0 == "error.type" }
                    .map { "\($0.0)=\($0.1)" }.joined(separator: " ")
            })
        #expect(
            found == [
                "error.type=connect", "http.response.status_code=503 error.type=503",
                "http.response.status_code=302", "http.response.status_code=200",
            ])
        for recorder in recorders {
            #expect(recorder.aggregate && recorder.values.count == 1)
            #expect(recorder.values.allSatisfy { (0..<60).contains($0) })
        }
        #expect(
            metrics.counterTotal(
                label: "signet.client.retries",
                dimensions: [("service", "a"), ("reason", "connect")]) == 1)
        #expect(metrics.counterTotal(label: "signet.client.retries") == 2)
    }

    @Test func anUnknownMethodMakesNoDimension() async throws {
        let metrics = try await Self.metrics([.status(200)], methods: ["ZZZ", "QUERY"])
        let methods = metrics.recorders(label: "http.client.request.duration").map { recorder in
            recorder.dimensions.first { $0.0 == "http.request.method" }?.1
        }
        #expect(Set(methods) == ["_OTHER", "QUERY"])
    }

    @Test func redirectsAddNoSeriesOfOtherServers() async throws {
        // Other ports of the host that the pins are for: the policy refuses other hosts.
        let metrics = try await Self.metrics([
            .status(302, fields: [.location: "https://api.example.com:1/"]),
            .status(302, fields: [.location: "https://api.example.com:2/"]), .status(200),
        ])
        let hosts = metrics.recorders(label: "http.client.request.duration").map { recorder in
            recorder.dimensions.filter { $0.0.contains("server") }.map(\.1).joined(separator: ":")
        }
        #expect(Set(hosts) == ["api.example.com:8443", "_OTHER:0"])
    }

    @Test func aCallHasItsPathsTemplateAndItsEngine() async throws {
        let (stub, metrics) = (StubEngine(), TestMetrics())
        stub.respond(with: .status(200))
        let system = try await Shop.system(stub) { $0.engines = ["other": stub] }
        let events = system.events
        for id in ["ZZZ1", "ZZZ2"] {
            var options = RequestOptions()
            options.engine = EngineChoice("other")
            _ = try await system.call(
                RESTRequest(.get, "/orders/\(id)"), on: "a", options: options)
        }
        await system.shutdown()
        await CallMetrics(factory: metrics).record(events)
        let count = metrics.counterTotal(
            label: "signet.client.calls",
            dimensions: [
                ("service", "a"), ("method", "GET"), ("outcome", "success"),
                ("path", "/orders/{}"), ("engine", "other"),
            ])
        #expect(count == 2)
        // One series of OpenTelemetry's, and none of a value.
        let recorders = metrics.recorders(label: "http.client.request.duration")
        let templates = recorders.map { recorder in
            recorder.dimensions.filter { $0.0 == "url.template" }.map(\.1)
        }
        #expect(templates == [["/orders/{}"]] && recorders.first?.values.count == 2)
    }

    /// A server that redirects to ever new paths makes no template of them, and a call without a
    /// template has none.
    @Test func onlyTheProgramsCodeMakesTemplates() async throws {
        let (stub, metrics) = (StubEngine(), TestMetrics())
        stub.respond(
            with: .status(302, fields: [.location: "/v1/ZZZ1"]),
            .status(302, fields: [.location: "/v1/ZZZ2"]), .status(200))
        let system = try await Shop.system(stub) { _ in }
        let events = system.events
        let id = "ZZZ3"
        _ = try await system.call(RESTRequest(.get, "/orders/\(id)"), on: "a")
        _ = await Shop.call(system, "GET")
        await system.shutdown()
        await CallMetrics(factory: metrics).record(events)
        let templates = metrics.recorders(label: "http.client.request.duration").flatMap {
            $0.dimensions.filter { $0.0 == "url.template" }.map(\.1)
        }
        #expect(templates == ["/orders/{}"])
        let dimensions = metrics.recorders.flatMap { $0.dimensions.map(\.1) }
        #expect(!dimensions.contains { $0.contains("ZZZ") })
    }

    @Test(.features("000-45")) func aTrialIsComparedByItsEngines() async throws {
        let (standard, trial, metrics) = (StubEngine(), StubEngine(), TestMetrics())
        standard.respond(with: .status(200))
        trial.respond(with: .status(200), .failure(.cutOff))
        var options = NetworkSystem.Options()
        (options.engine, options.engines["http1"]) = (standard, trial)
        options.observers = [CallMetrics(factory: metrics)]
        options.callOptions.engine = EngineChoice(.standard, trial: .init("http1", percent: 50))
        options.callOptions.attempts = 1
        options.dangerous.allowUnpinnedServices()
        let service = ServiceConfiguration(
            baseURL: "https://api.example.com", payloadProtocol: .rest)
        let system = try await NetworkSystem.start(services: ["a": service], options: options)
        for _ in 0..<100 { _ = await Shop.call(system) }
        await system.shutdown()
        func count(_ engine: String, _ outcome: String) -> Int {
            Int(
                metrics.counterTotal(
                    label: "signet.client.calls",
                    dimensions: [
                        ("service", "a"), ("method", "GET"), ("outcome", outcome),
                        ("engine", engine),
                    ]))
        }
        #expect(count("standard", "success") == standard.requests.count)
        #expect(count("http1", "success") == 1)
        #expect(count("http1", "cut-off") == trial.requests.count - 1)
        #expect(standard.requests.count + trial.requests.count == 100)
        let engines = metrics.recorders(label: "signet.client.call.duration").map { recorder in
            recorder.dimensions.first { $0.0 == "engine" }?.1
        }
        #expect(Set(engines) == ["standard", "http1"])
    }

    @Test func nothingSecretIsADimension() async throws {
        let metrics = try await Self.metrics([.failure(.connect), .status(500)], methods: ["PUT"])
        let text =
            metrics.recorders.map { "\($0.label) \($0.dimensions)" }.joined()
            + metrics.counters.map { "\($0.label) \($0.dimensions)" }.joined()
        #expect(text.contains("api.example.com") && !text.contains("ZZZZZZ"))
        #expect(!text.contains("orders"))
    }
}
