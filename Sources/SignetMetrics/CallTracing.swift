#if Metrics
import HTTPTypes
import SignetBase
public import SignetClient
public import SignetRPC
public import SignetTransport
import Synchronization
public import Tracing

/// Spans of calls and their attempts, with swift-distributed-tracing, and the trace context on
/// the wire.
///
/// ```swift
/// import SignetClient
/// import SignetMetrics
///
/// var options = NetworkSystem.Options()
/// options.callOptions.addTracing(CallTracing())
/// ```
///
/// A call has a span of the kind `internal`, named `SERVICE METHOD`. Each attempt has a span of
/// the kind `client` inside it, named by its HTTP method, with the attributes of
/// OpenTelemetry's conventions for HTTP clients. It ends when the header of the response has
/// arrived; redirects belong to it. Its `url.full` has no query. Of an error it has
/// only the code, because the message may contain details that must not be recorded.
///
/// The tracer injects its context into each attempt before it is signed. Of what it injects,
/// only the fields of ``propagated`` are sent, and `traceparent` and `tracestate` only if they
/// are valid (W3C Trace Context, section 3). A redirect to another origin doesn't carry them.
public struct CallTracing: CallInterceptor, AttemptInterceptor {
    /// The names of the fields that the tracer may send, in lower case.
    public var propagated: Set<String> = ["traceparent", "tracestate"]

    private let chosenTracer: (any Tracer)?
    private let methods: KnownMethods

    /// Counts how often a call was sent.
    private final class Sends: Sendable {
        private let count = Mutex(0)

        /// Returns the number of sends before this one.
        func next() -> Int {
            count.withLock { count in
                defer { count += 1 }
                return count
            }
        }
    }

    @TaskLocal private static var sends: Sends?

    /// Creates spans.
    ///
    /// - Parameters:
    ///   - tracer: The tracer that makes the spans; nil for the one that the program has set
    ///     up.
    ///   - methods: The HTTP methods that an attribute may name.
    public init(tracer: (any Tracer)? = nil, methods: KnownMethods = KnownMethods()) {
        chosenTracer = tracer
        self.methods = methods
    }

    private var tracer: any Tracer { chosenTracer ?? InstrumentationSystem.tracer }

    /// Makes the span of a call.
    public func intercept(_ call: PendingCall, next: NextCall) async throws -> UnboxedResponse {
        let identity = call.identity
        let span: any Span = tracer.startSpan(
            "\(identity.service.name) \(identity.method)", ofKind: .internal)
        defer { span.end() }
        span.updateAttributes { attributes in
            attributes["signet.service"] = identity.service.name
            attributes["signet.method"] = identity.method
            attributes["signet.call"] = "\(identity.id)"
        }
        return try await Self.$sends.withValue(Sends()) {
            try await run(within: span) { try await next(call) }
        }
    }

    /// Makes the span of an attempt, and puts the trace context into its request.
    public func intercept(
        _ call: OutgoingCall, next: NextAttempt
    ) async throws -> EngineResponse {
        let (request, template) = (call.request, call.identity.path)
        let method = methods.name(of: request.method.rawValue)
        let span: any Span = tracer.startSpan(method ?? "HTTP", ofKind: .client)
        defer { span.end() }
        let resends = Self.sends?.next() ?? (call.attempt ?? 1) - 1
        span.updateAttributes { attributes in
            attributes[HTTPConventions.method] = method ?? HTTPConventions.otherMethod
            if method == nil {
                attributes[HTTPConventions.originalMethod] = request.method.rawValue
            }
            if let template {
                attributes[HTTPConventions.urlTemplate] = template
            }
            if resends > 0 { attributes[HTTPConventions.resendCount] = resends }
            guard let url = try? WebURL(request) else { return }
            attributes[HTTPConventions.serverAddress] = url.origin.host.text
            attributes[HTTPConventions.serverPort] = url.origin.port
            attributes[HTTPConventions.fullURL] = "\(url.origin)\(url.path)"
        }
        var call = call
        var carrier = TraceFields()
        tracer.inject(span.context, into: &carrier, using: TraceFieldInjector())
        carrier.add(propagated, to: &call.request.headerFields)
        let sent = call
        let response = try await run(within: span) { try await next(sent) }
        let status = response.response.status.code
        span.updateAttributes { attributes in
            attributes[HTTPConventions.status] = status
            attributes[HTTPConventions.protocolVersion] = HTTPConventions.version(
                response.httpVersion)
            guard status >= HTTPConventions.firstErrorStatus else { return }
            attributes[HTTPConventions.errorType] = "\(status)"
        }
        if status >= HTTPConventions.firstErrorStatus { span.setStatus(.init(code: .error)) }
        return response
    }

    /// Runs work within a span. If it throws, the span gets the error's code.
    private func run<Output>(
        within span: any Span, _ work: () async throws -> Output
    ) async throws -> Output {
        do {
            return try await ServiceContext.withValue(span.context) { try await work() }
        } catch {
            span.attributes[HTTPConventions.errorType] = HTTPConventions.errorType(error)
            span.setStatus(.init(code: .error))
            throw error
        }
    }
}

extension RequestOptions {
    /// Adds spans to calls and their attempts. Interceptors that were added before run around
    /// them.
    public mutating func addTracing(_ tracing: CallTracing) {
        interceptors.append(tracing)
        attemptInterceptors.append(tracing)
    }
}
#endif
