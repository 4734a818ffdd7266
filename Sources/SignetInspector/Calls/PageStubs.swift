#if Inspector
import HTTPTypes
import SignetBase
import SignetClient
import SignetJSON
import SignetTransport
import Synchronization

/// The answers that a person puts in the place of servers. They act as stubs for debugging, and so
/// in the run modes staging and development alone.
final class PageStubs: CallStub {
    /// An answer to the calls of a service or a method.
    struct Answer: Sendable, Hashable {
        /// The service's name; empty for all.
        let service: String
        /// The procedure's name or the HTTP method; empty for all.
        let method: String
        let status: Int
        let body: String

        /// - Throws: `invalid-action` for a status that isn't 200...599.
        init(_ json: JSONValue) throws(InspectorError) {
            guard let status = json["status"]?.number?.int64, (200...599).contains(status) else {
                throw InspectorError(.invalidAction, "expected a stub's status of 200 to 599")
            }
            guard let service = (json["service"] ?? "").string,
                let method = (json["method"] ?? "").string, let body = (json["body"] ?? "").string
            else {
                throw InspectorError(.invalidAction, "expected a stub's members as texts")
            }
            self.service = service
            self.method = method
            self.status = Int(status)
            self.body = body
        }

        var json: JSONObject {
            [
                "service": .string(service), "method": .string(method),
                "status": PageJSON.number(status), "body": .string(body),
            ]
        }

        func concerns(_ call: CallIdentity) -> Bool {
            (service.isEmpty || sameBytes(service, call.service.name))
                && (method.isEmpty || sameBytes(method, call.method))
        }

        /// The answer as a response. The id of a JSON-RPC request is put into an answer that has
        /// none, so that it fits.
        func response(to request: EngineRequest) -> EngineResponse {
            var fields = HTTPFields()
            var bytes = Array(body.utf8)
            if var object = try? JSONValue(parsing: bytes).object {
                fields[.contentType] = "application/json"
                let sent = request.body.bytes.flatMap { try? JSONValue(parsing: $0) }
                if let id = sent?["id"], sent?["jsonrpc"] != nil, object["id"] == nil {
                    object["jsonrpc"] = object["jsonrpc"] ?? "2.0"
                    object["id"] = id
                    bytes = JSONValue.object(object).serialized()
                }
            }
            return EngineResponse(
                response: HTTPResponse(
                    status: .init(code: status), headerFields: fields),
                body: HTTPResponseBody(bytes: bytes), httpVersion: .init(major: 1, minor: 1))
        }
    }

    private struct State {
        var answers: [Answer] = []
        var installation: StubInstallation?
    }

    private let place: CallStubs
    private let state = Mutex(State())

    init(_ place: CallStubs) { self.place = place }

    /// The answers that act.
    var answers: [Answer] { state.withLock { $0.answers } }

    /// Replaces the answers. Without one, the system has no stub, which would cost its calls time.
    func replace(with answers: [Answer]) {
        state.withLock { state in
            state.answers = answers
            if answers.isEmpty {
                state.installation?.remove()
                state.installation = nil
            } else if state.installation == nil {
                state.installation = place.add(self, for: .debugging)
            }
        }
    }

    func beforeEngine(
        _ request: EngineRequest, of call: CallIdentity
    ) async throws -> EngineResponse? {
        answers.first { $0.concerns(call) }?.response(to: request)
    }
}
#endif
