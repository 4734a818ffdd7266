import HTTPTypes
import InMemoryTracing
import SignetClient
import SignetMetrics
import SignetTesting
import SignetTransport
import Testing
import Tracing

@Suite struct CallTracingTests {
    /// The stub and the spans after one call.
    private static func trace(
        _ responses: [StubResponse], tracer: W3CTracer = W3CTracer(), method: String = "GET",
        changeTracing: (inout CallTracing) -> Void = { _ in },
        change: (inout RequestOptions) -> Void = { _ in }
    ) async throws -> (stub: StubEngine, spans: [FinishedInMemorySpan]) {
        let (stub, rest) = (StubEngine(), Responses(responses))
        stub.respond { _ throws(TransportError) in rest.next() }
        var tracing = CallTracing(tracer: tracer)
        changeTracing(&tracing)
        let added = tracing
        let system = try await Shop.system(stub) { $0.callOptions.addTracing(added) }
        _ = await Shop.call(system, method, change: change)
        await system.shutdown()
        return (stub, tracer.spans)
    }

    private static let parent = HTTPField.Name("traceparent")
    private static let state = HTTPField.Name("tracestate")

    private static func values(
        _ stub: StubEngine, _ name: HTTPField.Name?
    ) -> [String?] {
        stub.requests.map { request in name.flatMap { request.request.headerFields[$0] } }
    }

    @Test func oneSpanPerAttemptInsideTheCalls() async throws {
        let (stub, spans) = try await Self.trace([
            .failure(.connect), .status(503), .status(200),
        ])
        #expect(spans.map(\.operationName) == ["GET", "GET", "GET", "a GET"])
        let call = try #require(spans.last)
        #expect(call.kind == .internal && call.parentSpanID == nil && call.status == nil)
        #expect(call.texts == ["signet.service": "a", "signet.method": "GET", "signet.call": "1"])
        for (index, span) in spans.dropLast().enumerated() {
            #expect(span.kind == .client && span.parentSpanID == call.spanID)
            #expect(span.traceID == call.traceID && span.errors.isEmpty)
            let resends = span.texts["http.request.resend_count"]
            #expect(resends == (index == 0 ? nil : "\(index)"))
            // Each attempt sends its own span.
            #expect(
                Self.values(stub, Self.parent)[index] == "00-\(span.traceID)-\(span.spanID)-01")
        }
        #expect(spans[0].texts["error.type"] == "connect" && spans[0].status?.code == .error)
        #expect(spans[1].texts["error.type"] == "503" && spans[1].status?.code == .error)
        #expect(spans[2].texts["error.type"] == nil && spans[2].status == nil)
        #expect(Self.values(stub, Self.state) == ["shop=1", "shop=1", "shop=1"])
    }

    @Test func aRequestHasItsPathsTemplate() async throws {
        let (stub, tracer) = (StubEngine(), W3CTracer())
        stub.respond(with: .status(200))
        let system = try await Shop.system(stub) {
            $0.callOptions.addTracing(CallTracing(tracer: tracer))
        }
        let id = "ZZZ1"
        _ = try await system.call(RESTRequest(.get, "/orders/\(id)"), on: "a")
        await system.shutdown()
        #expect(tracer.spans.map { $0.texts["url.template"] } == ["/orders/{}", nil])
    }

    @Test func theProgramsSpanIsTheParent() async throws {
        let tracer = W3CTracer()
        var traceID = ""
        try await tracer.withSpan("outer") { outer in
            traceID = outer.traceID
            _ = try await Self.trace([.status(200)], tracer: tracer)
        }
        #expect(tracer.spans.count == 3 && Set(tracer.spans.map(\.traceID)) == [traceID])
    }

    @Test func addedFieldsAreSigned() async throws {
        let keys = try KeySet(
            parsing: Array(
                #"{"keys":[{"kty":"oct","use":"sig","alg":"HS256","kid":"HS","k":"MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY"}]}"#
                    .utf8), source: "test")
        let stub = StubEngine()
        stub.respond(with: .status(200))
        let system = try await Shop.system(
            stub, keys: keys,
            signing: .init(
                scheme: "rfc9421", keyID: "HS", covered: ["@method", "@target-uri", "traceparent"])
        ) { $0.callOptions.addTracing(CallTracing(tracer: W3CTracer())) }
        #expect(await Shop.call(system) == nil)
        await system.shutdown()
        let input = HTTPField.Name("Signature-Input").flatMap {
            stub.requests.first?.request.headerFields[$0]
        }
        #expect(input?.contains("\"traceparent\"") == true)
        #expect(Self.values(stub, Self.parent).first != .some(nil))
    }

    @Test(arguments: [
        "", "00", "00-\(String(repeating: "0", count: 32))-00f067aa0ba902b7-01",
        "00-4bf92f3577b34da6a3ce929d0e0e4736-0000000000000000-01",
        "00-4BF92F3577B34DA6A3CE929D0E0E4736-00f067aa0ba902b7-01",
        "01-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
        "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01-x",
        "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7",
        "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01\r\nX-Injected: 1",
    ])
    func aWrongParentIsNotSent(_ value: String) async throws {
        var tracer = W3CTracer()
        tracer.injected = ["Traceparent": value]
        let (stub, _) = try await Self.trace([.status(200)], tracer: tracer)
        #expect(Self.values(stub, Self.parent) == [nil] && Self.values(stub, Self.state) == [nil])
    }

    @Test(arguments: [
        "", "shop", "shop=", "=1", "shop=1,", "a=b=c", "shop=1\r\nX-Injected: 1", "shop=ä",
        Array(repeating: "k=v", count: 33).joined(separator: ","),
        "k=" + String(repeating: "v", count: 511),
    ])
    func aWrongStateIsNotSent(_ value: String) async throws {
        var tracer = W3CTracer()
        tracer.injected = ["tracestate": value]
        let (stub, _) = try await Self.trace([.status(200)], tracer: tracer)
        #expect(Self.values(stub, Self.parent) != [nil] && Self.values(stub, Self.state) == [nil])
    }

    @Test func baggageIsSentOnlyIfItIsNamed() async throws {
        let baggage = HTTPField.Name("baggage")
        let (without, _) = try await Self.trace([.status(200)])
        #expect(Self.values(without, baggage) == [nil])
        let (with, _) = try await Self.trace([.status(200)]) { $0.propagated.insert("baggage") }
        #expect(Self.values(with, baggage) == ["user=ZZZZZZ"])
    }

    @Test func aRedirectToAnotherOriginCarriesNoContext() async throws {
        let (stub, spans) = try await Self.trace([
            .status(302, fields: [.location: "/v1/other"]),
            .status(302, fields: [.location: "https://api.example.com/away"]), .status(200),
        ])
        let parents = Self.values(stub, Self.parent)
        #expect(parents.count == 3 && parents[0] != nil && parents[0] == parents[1])
        #expect(parents.last == .some(nil))
        #expect(spans.count == 2)
    }

    @Test func anUnknownMethodIsNotTheName() async throws {
        let (_, spans) = try await Self.trace([.status(200)], method: "ZZZ")
        #expect(spans[0].operationName == "HTTP")
        #expect(spans[0].texts["http.request.method"] == "_OTHER")
        #expect(spans[0].texts["http.request.method_original"] == "ZZZ")
    }

    @Test func nothingSecretIsInASpan() async throws {
        for response in [StubResponse.status(500, body: Array("ZZZZZZ".utf8)), .failure(.cutOff)] {
            let (_, spans) = try await Self.trace([response], method: "PUT")
            var text = ""
            for span in spans {
                text += "\(span.operationName) \(span.texts) \(span.errors) \(span.events)"
                text += span.status?.message ?? ""
            }
            #expect(text.contains("https://api.example.com:8443/v1/orders/7"))
            #expect(!text.contains("ZZZZZZ"))
        }
    }

    @Test func withoutATracerNothingIsSent() async throws {
        let stub = StubEngine()
        stub.respond(with: .status(200))
        let system = try await Shop.system(stub) { $0.callOptions.addTracing(CallTracing()) }
        #expect(await Shop.call(system) == nil)
        await system.shutdown()
        #expect(Self.values(stub, Self.parent) == [nil])
    }
}
