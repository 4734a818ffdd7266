import HTTPTypes
import SignetJSON
import SignetPinning
import SignetTransport
import SignetVault
import Synchronization

/// An engine without a network that records its requests and returns scripted responses.
final class RecordingEngine: HTTPEngine {
    /// A response, or a failure instead of it.
    struct Response: Sendable {
        var status = 200
        var body = #"{"jsonrpc":"2.0","id":1,"result":null}"#
        var fields: HTTPFields = [:]
        var failure: TransportError?
    }

    let capabilities: EngineCapabilities
    private let recorded = Mutex<[EngineRequest]>([])
    /// The next responses; after the last one, it is repeated.
    private let responses: Mutex<[Response]>

    init(pins: Bool = true, responses: [Response] = [Response()]) {
        capabilities = EngineCapabilities(
            name: "recording", pinsPublicKeys: pins, speaksHTTP2: false)
        self.responses = Mutex(responses)
    }

    /// Fails so often, and then responds.
    convenience init(pins: Bool = true, failingFirst failures: Int) {
        let down = Response(failure: TransportError(.connect, "down"))
        self.init(pins: pins, responses: Array(repeating: down, count: failures) + [Response()])
    }

    /// The requests so far.
    var requests: [EngineRequest] { recorded.withLock { $0 } }
    var count: Int { requests.count }

    func send(_ request: EngineRequest) async throws(TransportError) -> EngineResponse {
        recorded.withLock { $0.append(request) }
        let response = responses.withLock { $0.count > 1 ? $0.removeFirst() : $0[0] }
        if let failure = response.failure { throw failure }
        return EngineResponse(
            response: HTTPResponse(
                status: .init(code: response.status), headerFields: response.fields),
            body: HTTPResponseBody(bytes: Self.body(of: response, to: request)),
            httpVersion: .init(major: 1, minor: 1))
    }

    func shutdown() async {}

    /// The response's body, with the id of the call if it has one.
    private static func body(of response: Response, to request: EngineRequest) -> [UInt8] {
        guard case .object(var object)? = try? JSONValue(parsing: response.body),
            object["id"] != nil,
            let id = (try? JSONValue(parsing: request.bytes))?["id"]
        else { return Array(response.body.utf8) }
        object["id"] = id
        return JSONValue.object(object).serialized()
    }
}

extension PinPolicy {
    /// A policy without pins: CA, dates and host name alone decide.
    static func allowingAll() throws -> PinPolicy { try PinPolicy(rules: [], unlisted: .allow) }
}

extension EngineRequest {
    /// The body's bytes.
    var bytes: [UInt8] { body.bytes ?? [] }
}

/// A configuration of a few values, under a schema made for just these.
enum Settings {
    /// A service `a` that is never connected to.
    static let service: JSONObject = [
        "services.a.baseURL": "https://api.example.com/rpc", "services.a.protocol": "jsonrpc-2.0",
        "services.a.pins": ["sha256/AQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQE="],
    ]

    /// The values in addition to those of the service `a`.
    ///
    /// - Parameter setBy: The inputs that may set each key; nil for the schema's default.
    static func configuration(
        _ values: JSONObject, setBy: JSONValue? = nil
    ) throws -> GlobalConfiguration {
        var all = service
        for (name, value) in values { all[name] = value }
        let keys = all.map { name, value in
            var rule: JSONObject = ["type": .string(type(of: value, name)), "visibility": "public"]
            rule["setBy"] = setBy
            return (name: name, value: JSONValue.object(rule))
        }
        return try GlobalConfiguration(
            schema: Schema(["keys": .object(JSONObject(keys))]), defaults: .values(all))
    }

    private static func type(of value: JSONValue, _ name: String) -> String {
        if name.hasSuffix("imeout") && name.hasPrefix("services") { return "duration" }
        if value.string != nil, name.hasPrefix("timeouts.") || name.hasSuffix("Pause") {
            return "duration"
        }
        return switch value {
        case .number(let number): number.isInteger ? "integer" : "number"
        case .bool: "boolean"
        default: value.typeName
        }
    }
}
