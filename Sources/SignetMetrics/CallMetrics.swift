#if Metrics
public import Metrics
import HTTPTypes
import SignetBase
public import SignetClient
import SignetTransport

/// Counts and measures calls, with swift-metrics: as an observer, which loses nothing, or from a
/// sequence of events.
///
/// ```swift
/// import SignetClient
/// import SignetMetrics
///
/// func start(_ configuration: GlobalConfiguration) async throws -> NetworkSystem {
///     var options = NetworkSystem.Options()
///     options.observers = [CallMetrics()]
///     return try await NetworkSystem.start(configuration, options: options)
/// }
/// ```
///
/// | metric | kind | dimensions |
/// | --- | --- | --- |
/// | `http.client.request.duration` | recorder, in seconds | `http.request.method`, `server.address`, `server.port`, `http.response.status_code`, `network.protocol.version`, `error.type`, `url.template` |
/// | `signet.client.call.duration` | recorder, in seconds | `service`, `method`, `path`, `engine`, `outcome` |
/// | `signet.client.calls` | counter | `service`, `method`, `path`, `engine`, `outcome` |
/// | `signet.client.retries` | counter | `service`, `reason` |
/// | `signet.client.lost_events` | counter | |
///
/// The first one is OpenTelemetry's. It has one value for each request on the wire, including
/// those of redirects and retries. A redirect to another origin has the address `_OTHER` and
/// the port 0, so that a server can't add series without end. Its `url.template` is the `path` of
/// the others, for the requests that no redirect made. In the others `method` is the
/// name of the remote procedure, or the HTTP method, and `outcome` is either `success` or the
/// code of the error. `path` is the path of a REST call without its values, such as
/// `/orders/{id}`, and is left out if it isn't known. `engine` is the name of the engine that sent
/// the last request (``EngineName``), and is left out if none was sent. Test calls of the
/// configuration (``Probe``) have no metrics.
public struct CallMetrics: CallObserver {
    private let factory: any MetricsFactory
    private let methods: KnownMethods

    /// Creates metrics.
    ///
    /// - Parameters:
    ///   - factory: The factory of the metrics; defaults to the one that the program has set
    ///     up.
    ///   - methods: The HTTP methods that a dimension may name.
    public init(
        factory: any MetricsFactory = MetricsSystem.factory,
        methods: KnownMethods = KnownMethods()
    ) {
        self.factory = factory
        self.methods = methods
    }

    /// Records events until they end, which they do when the system is shut down.
    ///
    /// If events come so fast that some are lost, `signet.client.lost_events` counts them.
    public func record(_ events: CallEvents) async {
        var lost = 0
        for await event in events {
            record(event)
            let all = events.lostCount
            if all > lost {
                Counter(label: "signet.client.lost_events", factory: factory)
                    .increment(by: all - lost)
                lost = all
            }
        }
    }

    /// Records an event that the system observes.
    public func receive(_ event: CallEvent) { record(event) }

    /// Records one event.
    public func record(_ event: CallEvent) {
        switch event {
        case .retrying(let call, let reason, _) where !call.isProbe:
            Counter(
                label: "signet.client.retries",
                dimensions: [("service", call.service.name), ("reason", reason)],
                factory: factory
            ).increment()
        case .finished(let record) where !record.identity.isProbe:
            count(record)
            for attempt in record.attempts {
                let first = attempt.hops.first.flatMap { try? WebURL(parsing: $0.url) }
                for (index, hop) in attempt.hops.enumerated() where !hop.isSimulated {
                    measure(
                        hop, from: first?.origin,
                        template: index == 0 ? record.identity.path : nil)
                }
            }
        default: break
        }
    }

    private func count(_ record: CallRecord) {
        var dimensions = [
            ("service", record.identity.service.name), ("method", record.identity.method),
            ("outcome", record.failure?.name ?? "success"),
        ]
        if let path = record.identity.path { dimensions.append(("path", path)) }
        if let engine = record.lastEngine {
            dimensions.append(("engine", engine.name))
        }
        Counter(label: "signet.client.calls", dimensions: dimensions, factory: factory)
            .increment()
        Recorder(
            label: "signet.client.call.duration", dimensions: dimensions, aggregate: true,
            factory: factory
        ).record(record.duration.inSeconds)
    }

    /// Measures one request of an attempt whose first request went to an origin.
    ///
    /// - Parameter template: The path of the request without its values. It comes from the
    ///   program's code, so that the number of series is limited.
    private func measure(
        _ hop: CallRecord.Exchange, from first: WebOrigin?, template: String?
    ) {
        var dimensions = [
            (
                HTTPConventions.method,
                methods.name(of: hop.method.rawValue) ?? HTTPConventions.otherMethod
            )
        ]
        // A server that redirects to ever new hosts must not make ever new series.
        if let origin = (try? WebURL(parsing: hop.url))?.origin, origin == first {
            dimensions += [
                (HTTPConventions.serverAddress, origin.host.text),
                (HTTPConventions.serverPort, "\(origin.port)"),
            ]
        } else {
            dimensions += [
                (HTTPConventions.serverAddress, HTTPConventions.otherServer),
                (HTTPConventions.serverPort, "0"),
            ]
        }
        if let status = hop.status { dimensions.append((HTTPConventions.status, "\(status)")) }
        if let version = hop.httpVersion {
            dimensions.append(
                (HTTPConventions.protocolVersion, HTTPConventions.version(version)))
        }
        if let error = hop.errorType { dimensions.append((HTTPConventions.errorType, error)) }
        if let template { dimensions.append((HTTPConventions.urlTemplate, template)) }
        Recorder(
            label: HTTPConventions.requestDuration, dimensions: dimensions, aggregate: true,
            factory: factory
        ).record(hop.timings.total.inSeconds)
    }
}

extension CallRecord.Exchange {
    /// The value of `error.type`; nil for a request that succeeded.
    fileprivate var errorType: String? {
        failure
            ?? status.flatMap { $0 >= HTTPConventions.firstErrorStatus ? "\($0)" : nil }
    }
}

extension Duration {
    fileprivate var inSeconds: Double { self / .seconds(1) }
}
#endif
