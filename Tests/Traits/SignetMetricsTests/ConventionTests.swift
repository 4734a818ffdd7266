import Foundation
import InMemoryTracing
import MetricsTestKit
import SignetClient
import SignetMetrics
import SignetTesting
import SignetTransport
import TestSupport
import Testing
import Tracing
import Yams

/// The files of OpenTelemetry's semantic conventions.
private struct Conventions: Sendable {
    /// How an attribute is required.
    enum Level: String {
        case required, recommended, conditional, optIn
    }

    /// A metric, a span, or attributes of both.
    struct Group {
        var facts: [String: String] = [:]
        var levels: [(name: String, level: Level?)] = []
    }

    private(set) var groups: [String: Group] = [:]
    /// The types of attributes in the registry.
    private(set) var types: [String: String] = [:]
    /// The values of `http.request.method`.
    private(set) var methods: [String] = []

    static let all = Result { try Conventions() }

    private init() throws {
        let folder = try #require(SharedVectors.directory).appending(path: "otel")
        for file in ["common", "metrics", "registry", "spans"] {
            let text = try String(
                contentsOf: folder.appending(path: "\(file).yaml"), encoding: .utf8)
            let document = try #require(Yams.load(yaml: text) as? [String: Any])
            for group in try #require(document["groups"] as? [[String: Any]]) {
                let attributes = group["attributes"] as? [[String: Any]] ?? []
                groups[try #require(group["id"] as? String)] = Group(
                    facts: group.compactMapValues { $0 as? String },
                    levels: attributes.compactMap { attribute in
                        (attribute["ref"] as? String).map {
                            ($0, Self.level(attribute["requirement_level"]))
                        }
                    })
                for attribute in attributes { read(attribute) }
            }
        }
    }

    private mutating func read(_ attribute: [String: Any]) {
        guard let id = attribute["id"] as? String else { return }
        // An enumeration has members in place of a type.
        types[id] = attribute["type"] as? String ?? "string"
        let members = (attribute["type"] as? [String: Any])?["members"] as? [[String: Any]]
        if id == "http.request.method" {
            methods = (members ?? []).compactMap { $0["value"] as? String }
        }
    }

    /// The level of an attribute; nil for the inherited one.
    private static func level(_ value: Any?) -> Level? {
        switch value {
        case let text as String: text == "opt_in" ? .optIn : Level(rawValue: text)
        case let rule as [String: Any]:
            rule["conditionally_required"] == nil ? .recommended : .conditional
        default: nil
        }
    }

    /// The levels of a group's attributes, with those that it inherits.
    func levels(of id: String) throws -> [String: Level] {
        let group = try #require(groups[id])
        var levels = try group.facts["extends"].map(levels(of:)) ?? [:]
        for (name, level) in group.levels { levels[name] = level ?? levels[name] ?? .recommended }
        return levels
    }
}

@Suite(.enabled(if: SharedVectors.directory != nil)) struct ConventionTests {
    /// Responses, what has to be true of them, and the number of requests.
    static let outcomes: [(responses: [StubResponse], hasStatus: Bool, isError: Bool)] = [
        ([.status(200)], true, false), ([.status(304)], true, false), ([.status(400)], true, true),
        ([.status(404)], true, true), ([.status(500)], true, true), ([.failure(.tls)], false, true),
        ([.failure(.timeout)], false, true),
    ]

    /// Checks that all required names are there, that conditional ones are there when they have to
    /// be, and that none is unknown or opt-in.
    private static func check(
        _ names: Set<String>, against levels: [String: Conventions.Level], hasStatus: Bool,
        isError: Bool
    ) {
        for (name, level) in levels where level == .required {
            #expect(names.contains(name), "\(name) is required")
        }
        for name in names {
            #expect(levels[name] != nil && levels[name] != .optIn, "\(name)")
        }
        #expect(levels["http.response.status_code"] == .conditional)
        #expect(levels["error.type"] == .conditional)
        #expect(names.contains("http.response.status_code") == hasStatus)
        #expect(names.contains("error.type") == isError)
        #expect(names.contains("network.protocol.version") == hasStatus)
    }

    @Test(arguments: outcomes.indices) func theDurationOfARequest(_ index: Int) async throws {
        let (responses, hasStatus, isError) = Self.outcomes[index]
        let conventions = try Conventions.all.get()
        let group = try #require(conventions.groups["metric.http.client.request.duration"]).facts
        // A recorder that aggregates is a histogram; CallMetricsTests shows that its values are
        // seconds.
        #expect(group["instrument"] == "histogram" && group["unit"] == "s")
        let (stub, rest, metrics) = (StubEngine(), Responses(responses), TestMetrics())
        stub.respond { _ throws(TransportError) in rest.next() }
        let system = try await Shop.system(stub) { $0.callOptions.attempts = 1 }
        let events = system.events
        _ = await Shop.call(system)
        await system.shutdown()
        await CallMetrics(factory: metrics).record(events)
        let name = try #require(group["metric_name"])
        let recorders = metrics.recorders(label: name)
        #expect(recorders.count == 1)
        for recorder in recorders {
            #expect(recorder.aggregate)
            Self.check(
                Set(recorder.dimensions.map(\.0)),
                against: try conventions.levels(of: "metric.http.client.request.duration"),
                hasStatus: hasStatus, isError: isError)
        }
    }

    @Test(arguments: outcomes.indices) func theSpanOfAnAttempt(_ index: Int) async throws {
        let (responses, hasStatus, isError) = Self.outcomes[index]
        let conventions = try Conventions.all.get()
        let levels = try conventions.levels(of: "span.http.client")
        #expect(conventions.groups["span.http.client"]?.facts["span_kind"] == "client")
        #expect(levels["url.full"] == .required)
        let (stub, rest, tracer) = (StubEngine(), Responses(responses), W3CTracer())
        stub.respond { _ throws(TransportError) in rest.next() }
        let system = try await Shop.system(stub) { options in
            options.callOptions.attempts = 1
            options.callOptions.addTracing(CallTracing(tracer: tracer))
        }
        _ = await Shop.call(system)
        await system.shutdown()
        let span = try #require(tracer.spans.first)
        #expect(span.kind == .client && span.operationName == "GET")
        #expect((span.status?.code == .error) == isError)
        Self.check(
            Set(span.texts.keys), against: levels, hasStatus: hasStatus, isError: isError)
        span.attributes.forEach { name, value in
            let type =
                switch value {
                case .int64: "int"
                case .string: "string"
                default: "\(value)"
                }
            // The registry of these files has the names below `http.` alone.
            if !name.hasPrefix("http."), conventions.types[name] == nil { return }
            #expect(conventions.types[name] == type, "\(name)")
        }
    }

    @Test func theMethodsOfTheRegistryAreKnown() async throws {
        let methods = try Conventions.all.get().methods
        #expect(methods.count > 9 && methods.contains("_OTHER"))
        for name in methods where name != "_OTHER" {
            let (stub, tracer) = (StubEngine(), W3CTracer())
            stub.respond(with: .status(200))
            let system = try await Shop.system(stub) {
                $0.callOptions.addTracing(CallTracing(tracer: tracer))
            }
            _ = await Shop.call(system, name)
            await system.shutdown()
            // The call may be refused, but its span has the name.
            #expect(tracer.spans.first?.texts["http.request.method"] == name)
        }
    }
}
