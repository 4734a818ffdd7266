import SignetClient
import SignetJSON
import SignetPinning
import SignetRPC
import SignetTransport

extension ClientError: CodedError {
    var codeName: String { code.name }

    /// The members that `--json` adds to the error: the server's own error with its data, the problem
    /// that it describes (RFC 9457), or a policy's refusal.
    var details: JSONObject {
        if let pinRefusal { return ["pin": .object(pinRefusal.object)] }
        if let problem { return ["problem": .object(problem.object)] }
        guard let serverError else { return [:] }
        return ["rpc": .object(serverError.object)]
    }
}

extension RPCError: CodedError {
    var codeName: String { code.name }

    var details: JSONObject {
        guard let server else { return [:] }
        return ["rpc": .object(server.object)]
    }
}

extension TransportError: CodedError {
    var codeName: String { code.name }

    var details: JSONObject { pinRefusal.map { ["pin": .object($0.object)] } ?? [:] }
}

extension PinRefusal {
    /// The values, as `--json` prints them.
    var object: JSONObject {
        [
            "host": .string(host.text),
            "rule": rule.map { .string($0.pattern.description) } ?? .null,
            "mode": rule.map { .string($0.mode.rawValue) } ?? .null,
            "chain": pinsJSON(seen), "wanted": .array(wanted.map { .string($0.text) }),
            "expires": rule?.expires.map { .string($0.text) } ?? .null,
            "mend": [
                "kind": .string(remedy.kind.name), "advice": .string(remedy.advice),
                "entry": remedy.entry.map { .string($0) } ?? .null,
            ],
        ]
    }
}
