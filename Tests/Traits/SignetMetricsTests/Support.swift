import InMemoryTracing
import MetricsTestKit
import SignetClient
import SignetMetrics
import SignetTesting
import SignetTransport
import Synchronization
import Tracing

/// A tracer whose context is sent as W3C Trace Context, together with baggage.
struct W3CTracer: Tracer {
    let base: InMemoryTracer
    /// The values to inject instead of the valid ones.
    var injected: [String: String] = [:]

    init() {
        let last = Mutex(0)
        @Sendable func next(_ count: Int) -> String {
            let text = last.withLock { last in
                last += 1
                return String(last, radix: 16)
            }
            return String(repeating: "0", count: count - text.count) + text
        }
        base = InMemoryTracer(
            idGenerator: .init(nextTraceID: { next(32) }, nextSpanID: { next(16) }))
    }

    var spans: [FinishedInMemorySpan] { base.finishedSpans }

    func startSpan<Instant: TracerInstant>(
        _ operationName: String, context: @autoclosure () -> ServiceContext, ofKind kind: SpanKind,
        at instant: @autoclosure () -> Instant, function: String, file fileID: String, line: UInt
    ) -> InMemorySpan {
        base.startSpan(
            operationName, context: context(), ofKind: kind, at: instant(), function: function,
            file: fileID, line: line)
    }

    func forceFlush() {}

    func extract<Carrier, Extract: Extractor>(
        _ carrier: Carrier, into context: inout ServiceContext, using extractor: Extract
    ) where Extract.Carrier == Carrier {}

    func inject<Carrier, Inject: Injector>(
        _ context: ServiceContext, into carrier: inout Carrier, using injector: Inject
    ) where Inject.Carrier == Carrier {
        guard let span = context.inMemorySpanContext else { return }
        var values = [
            "Traceparent": "00-\(span.traceID)-\(span.spanID)-01", "tracestate": "shop=1",
            "baggage": "user=ZZZZZZ",
        ]
        values.merge(injected) { $1 }
        for (name, value) in values { injector.inject(value, forKey: name, into: &carrier) }
    }
}

extension FinishedInMemorySpan {
    /// The attributes as text, an integer as one.
    var texts: [String: String] {
        var texts: [String: String] = [:]
        attributes.forEach { name, value in
            switch value {
            case .string(let text): texts[name] = text
            case .int64(let number): texts[name] = "\(number)"
            default: texts[name] = "\(value)"
            }
        }
        return texts
    }
}

/// A service `a` on a stub engine.
enum Shop {
    static func system(
        _ stub: StubEngine, keys: KeySet? = nil, signing: ServiceConfiguration.Signing? = nil,
        change: (inout NetworkSystem.Options) -> Void
    ) async throws -> NetworkSystem {
        var options = NetworkSystem.Options()
        var retry = RetryStrategy()
        retry.firstPause = .milliseconds(1)
        options.callOptions.retry = retry
        change(&options)
        var service = ServiceConfiguration(
            baseURL: "https://api.example.com:8443/v1", payloadProtocol: .rest)
        service.signing = signing
        return try await NetworkSystem.start(
            services: ["a": service], stub: stub, keys: keys, options: options)
    }

    /// Makes a call whose query is secret, and ignores its outcome.
    static func call(
        _ system: NetworkSystem, _ method: String = "GET",
        change: (inout RequestOptions) -> Void = { _ in }
    ) async -> ClientError.Code? {
        var options = RequestOptions()
        options.fields[.authorization] = "ZZZZZZ"
        change(&options)
        do throws(ClientError) {
            _ = try await system.exchange(
                "a", method: .init(method) ?? .get, target: "/v1/orders/7?k=ZZZZZZ", fields: [:],
                body: [], options: options)
            return nil
        } catch {
            return error.code
        }
    }
}

/// Responses one after another; the last one is repeated.
final class Responses: Sendable {
    private let rest: Mutex<[StubResponse]>

    init(_ responses: [StubResponse]) { rest = Mutex(responses) }

    func next() -> StubResponse { rest.withLock { $0.count > 1 ? $0.removeFirst() : $0[0] } }
}
