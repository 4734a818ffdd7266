import SignetBase
public import SignetJSON
public import SignetRPC
import SignetVault

/// A test call of the configuration, by which an operator sees whether a service does its work.
///
/// The keys `probes.NAME.…` say which service is called, how, and what is expected. The self-check
/// makes the call through the whole pipeline, with the tag `probe`. It isn't counted, and its
/// response is neither taken from a cache nor kept.
///
/// Only GET, HEAD and OPTIONS of a REST service can be called, because a test call must change
/// nothing. A remote procedure's name doesn't tell; the author of the configuration vouches for it.
public struct Probe: Sendable, Hashable {
    /// The name in the configuration.
    public let name: String
    /// The service.
    public let service: ServiceName
    /// The procedure, or the HTTP method; GET for a REST service that names none.
    public let method: RPCMethod
    /// The path below a REST service's URL; nil for none.
    public let path: String?
    /// The parameters; nil for none.
    public let parameters: RPCParameters?
    /// The value that the result must have. Of objects only the members that it names are compared.
    /// Nil if any success is good.
    public let expectation: JSONValue?
    /// The time for the call. Defaults to 10 seconds.
    public let timeout: Duration

    private static let members = ["service", "method", "path", "parameters", "expect", "timeout"]

    /// Reads the test calls of a configuration, in the order of their names.
    ///
    /// - Returns: For each name the call, or the `invalid-configuration` that names its key.
    static func all(
        in configuration: GlobalConfiguration, of services: [ServiceName: ServiceConfiguration]
    ) -> [(name: String, probe: Result<Probe, ClientError>)] {
        let reader = SettingsReader(configuration)
        var names: [String] = []
        for key in reader.names(after: "probes.") {
            let name = key.split(separator: ".", omittingEmptySubsequences: false).first ?? ""
            if !names.contains(where: { sameBytes($0, String(name)) }) {
                names.append(String(name))
            }
        }
        return names.sorted().map { name in
            let own = SettingsReader(configuration, prefix: "probes.\(name).")
            return (
                name, Result { () throws(ClientError) in try Probe(name, own, of: services) }
            )
        }
    }

    private init(
        _ name: String, _ reader: SettingsReader, of services: [ServiceName: ServiceConfiguration]
    ) throws(ClientError) {
        self.name = name
        for member in reader.names() where !Self.members.contains(member) {
            throw reader.invalid(
                member,
                reason: "isn't a key of a test call, expected one of "
                    + Self.members.joined(separator: ", "))
        }
        guard let service = try reader.read("service", as: String.self) else {
            throw reader.invalid("service", reason: "has no value")
        }
        self.service = ServiceName(service)
        guard let called = services[self.service] else {
            throw reader.invalid("service", reason: "isn't the name of a service")
        }
        let isREST =
            called.adapter.map { $0 is any RESTBoxing } ?? (called.payloadProtocol == .rest)
        let method = try reader.read("method", as: String.self)
        if isREST {
            let name = method ?? "GET"
            guard ["GET", "HEAD", "OPTIONS"].contains(name) else {
                throw reader.invalid(
                    "method",
                    reason: "isn't GET, HEAD or OPTIONS: a test call must change nothing")
            }
            self.method = RPCMethod(name)
        } else {
            guard let method, !method.isEmpty else {
                throw reader.invalid("method", reason: "has no value, expected a procedure's name")
            }
            self.method = RPCMethod(method)
        }
        path = try reader.read("path", as: String.self)
        if let path, !path.startsWithBytes(of: "/") {
            throw reader.invalid("path", reason: "doesn't begin with /")
        }
        parameters = try reader.read("parameters", as: JSONValue.self).map {
            value throws(ClientError) in
            do throws(PayloadError) {
                return try RPCParameters(value)
            } catch {
                throw reader.invalid("parameters", reason: "is neither an object nor an array")
            }
        }
        expectation = try reader.read("expect", as: JSONValue.self)
        timeout = try reader.positiveDuration("timeout") ?? .seconds(10)
    }

    /// Returns where a result isn't as expected, as a path such as `$.items[0].id`; nil if it is.
    func mismatch(in result: JSONValue?) -> String? {
        guard let expectation else { return nil }
        guard let result else { return "$" }
        return Self.mismatch(of: result, with: expectation, at: "$")
    }

    private static func mismatch(
        of found: JSONValue, with expected: JSONValue, at path: String
    ) -> String? {
        switch (found, expected) {
        case (.object(let found), .object(let expected)):
            for (name, value) in expected {
                let place = "\(path).\(printable(name, limit: 40))"
                guard let member = found[name] else { return place }
                if let inside = mismatch(of: member, with: value, at: place) { return inside }
            }
            return nil
        case (.array(let found), .array(let expected)) where found.count == expected.count:
            for (index, (found, expected)) in zip(found, expected).enumerated() {
                let place = "\(path)[\(index)]"
                if let inside = mismatch(of: found, with: expected, at: place) { return inside }
            }
            return nil
        default: return found == expected ? nil : path
        }
    }
}
