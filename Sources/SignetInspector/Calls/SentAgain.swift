#if Inspector
import HTTPTypes
import SignetBase
import SignetClient
import SignetJSON
import SignetRPC
import Synchronization

// A call is sent again from what the program asked, before the system signed it: its signature,
// its time and its trace belong to the first one.

extension CallLedger.Entry {
    /// The request or procedure that the page offers to change and to send again; null if it
    /// wasn't kept.
    var again: JSONValue {
        if isRPC {
            guard let asked = contents.first(where: { $0.stage == .building })?.before else {
                return .null
            }
            return [
                "isRPC": true, "method": .string(identity.method),
                "target": PageJSON.text(identity.path), "fields": [],
                "body": .string(asked.body), "kind": .string(asked.bodyKind.rawValue),
            ]
        }
        guard let asked = contents.first(where: { $0.stage == .signing })?.before else {
            return .null
        }
        let head = asked.head.split(separator: " ", maxSplits: 1)
        guard head.count == 2 else { return .null }
        return [
            "isRPC": false, "method": .string(String(head[0])),
            "target": .string(PageJSON.parts(of: String(head[1])).path),
            "fields": .array(
                asked.fields.filter { !Self.made.contains($0.name.lowercased()) }
                    .map { [.string($0.name), .string($0.value)] }),
            "body": .string(asked.body), "kind": .string(asked.bodyKind.rawValue),
        ]
    }

    /// Whether the call is one of a procedure.
    var isRPC: Bool {
        record?.request.method.map { !sameBytes($0.rawValue, identity.method) }
            ?? !identity.isHTTPMethod
    }

    /// The fields that the system makes again for each request.
    private static let made: Set<String> = [
        "host", "content-length", "content-digest", "traceparent", "tracestate", "cookie", "dpop",
        "authorization", "signature", "signature-input", "signet-signature",
    ]
}

/// Sends calls again, a few at a time, until it is stopped.
final class SentAgain: Sendable {
    private struct State {
        var tasks: [Int: Task<Void, Never>] = [:]
        var count = 0
        var isStopped = false
    }

    private let system: NetworkSystem
    private let state = Mutex(State())

    /// The most calls that run at once.
    private static let limit = 16

    init(_ system: NetworkSystem) { self.system = system }

    /// Cancels the calls that run.
    func stop() {
        let tasks = state.withLock { state in
            state.isStopped = true
            return state.tasks.values.map { $0 }
        }
        for task in tasks { task.cancel() }
    }

    /// Sends a request through the whole system, and returns before its response arrives.
    ///
    /// - Throws: `invalid-action`. Then nothing was sent.
    func send(_ action: JSONObject) throws(InspectorError) {
        guard let service = action["service"]?.string.map({ ServiceName($0) }),
            system.serviceURLs[service] != nil
        else { throw InspectorError(.invalidAction, "expected a service of the system") }
        guard let method = action["method"]?.string, !method.isEmpty else {
            throw InspectorError(.invalidAction, "expected a method")
        }
        let body = try Self.body(action["body"])
        var options = RequestOptions()
        options.tags = ["sent-again"]
        if action["isRPC"]?.bool == true {
            let path = action["target"]?.string
            try Self.requireNoMark([method, path ?? "", body])
            let call = RPCCall(RPCMethod(method), parameters: try Self.parameters(body))
            return try start { [system, options] in
                _ = try? await system.call(call, on: service, path: path, options: options)
            }
        }
        guard let httpMethod = HTTPRequest.Method(method) else {
            throw InspectorError(.invalidAction, "expected a method of HTTP")
        }
        guard let target = action["target"]?.string, target.utf8.first == ASCII.slash else {
            throw InspectorError(.invalidAction, "expected a path that begins with /")
        }
        let fields = try Self.fields(action["fields"])
        try Self.requireNoMark([target, body] + fields.map(\.value))
        try start { [system, options] in
            _ = try? await system.exchange(
                service, method: httpMethod, target: target, fields: fields,
                body: Array(body.utf8), options: options)
        }
    }

    private func start(_ work: @escaping @Sendable () async -> Void) throws(InspectorError) {
        let isStarted = state.withLock { state in
            guard state.tasks.count < Self.limit, !state.isStopped else { return false }
            let number = state.count
            state.count += 1
            state.tasks[number] = Task {
                await work()
                self.state.withLock { $0.tasks[number] = nil }
            }
            return true
        }
        guard isStarted else {
            throw InspectorError(
                .invalidAction, "\(Self.limit) calls that were sent again still run, expected fewer"
            )
        }
    }

    // MARK: Reading

    private static func parameters(_ body: String) throws(InspectorError) -> RPCParameters? {
        guard !body.isEmpty else { return nil }
        do {
            return try RPCParameters(parsing: Array(body.utf8))
        } catch {
            throw InspectorError(
                .invalidAction, "expected parameters as an object or an array of JSON")
        }
    }

    private static func body(_ value: JSONValue?) throws(InspectorError) -> String {
        guard let body = (value ?? "").string else {
            throw InspectorError(.invalidAction, "expected a body as a text")
        }
        guard !isSize(body) else {
            throw InspectorError(
                .invalidAction, "found the size in place of a body, expected the body itself")
        }
        return body
    }

    /// Whether a text stands for a body that wasn't kept: `(123 bytes)`, `(streamed)`.
    private static func isSize(_ text: String) -> Bool {
        if sameBytes(text, "(streamed)") { return true }
        let words = text.split(separator: " ", omittingEmptySubsequences: false)
        guard let number = words.first, number.first == "(", Int(number.dropFirst()) != nil else {
            return false
        }
        let rest = String(text.dropFirst(number.count))
        return sameBytes(rest, " bytes)") || sameBytes(rest, " bytes, streamed)")
    }

    private static func fields(_ value: JSONValue?) throws(InspectorError) -> HTTPFields {
        guard let pairs = (value ?? []).array else {
            throw InspectorError(.invalidAction, "expected a list of fields")
        }
        var fields = HTTPFields()
        for pair in pairs {
            guard let pair = pair.array, pair.count == 2, let value = pair[1].string,
                let name = pair[0].string.flatMap({ HTTPField.Name($0) })
            else { throw InspectorError(.invalidAction, "expected fields with valid names") }
            guard HTTPField.isValidValue(value) else {
                throw InspectorError(.invalidAction, "the field \(name) has an invalid value")
            }
            fields.append(HTTPField(name: name, value: value))
        }
        return fields
    }

    /// The mark in place of secrets, which is never sent.
    private static let mark = Array("(redacted)".utf8)

    private static func requireNoMark(_ texts: [String]) throws(InspectorError) {
        guard !texts.contains(where: { Array($0.utf8).firstRange(of: mark) != nil }) else {
            throw InspectorError(
                .invalidAction, "found a mark in place of a secret, expected the value itself")
        }
    }
}
#endif
