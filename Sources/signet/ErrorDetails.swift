#if Tool
import SignetBase
import SignetClient
import SignetJSON
import SignetPinning
import SignetRPC
import SignetTransport
import SignetVault

extension SignetError {
    /// Further members of the `error` object with `--json`.
    var details: JSONObject {
        if let pinRefusal { return ["pin": .object(pinRefusal.object)] }
        switch self as any SignetError {
        case let error as VaultError where !error.problems.isEmpty:
            return ["errors": .array(error.problems.map(\.object))]
        case let error as PayloadError:
            return error.server.map { ["rpc": .object($0.object)] } ?? [:]
        case let error as ClientError:
            if let problem = error.problem { return ["problem": .object(problem.object)] }
            return error.serverError.map { ["rpc": .object($0.object)] } ?? [:]
        default: return [:]
        }
    }

    /// The refusal of a pin policy with which the error's message ends; nil if none caused it.
    var pinRefusal: PinRefusal? {
        switch self as any SignetError {
        case let error as PinRefusal: error
        case let error as TransportError: error.pinRefusal
        case let error as ClientError: error.pinRefusal
        default: nil
        }
    }
}

extension VaultError {
    /// One of the problems of a configuration.
    fileprivate var object: JSONValue {
        [
            "code": .string(code.name), "key": key.map(JSONValue.string) ?? .null,
            "message": .string(Terminal.printable(message)),
        ]
    }
}

extension PinRefusal {
    /// The values, as `--json` prints them.
    fileprivate var object: JSONObject {
        [
            "host": .string(host.text),
            "rule": rule.map { .string($0.pattern.description) } ?? .null,
            "mode": rule.map { .string($0.mode.rawValue) } ?? .null,
            "chain": pinsJSON(seen), "wanted": .array(expected.map { .string($0.text) }),
            "expires": rule?.expires.map { .string($0.text) } ?? .null,
            "remedy": [
                "kind": .string(remedy.kind.name), "advice": .string(remedy.advice),
                "entry": remedy.entry.map { .string($0) } ?? .null,
            ],
        ]
    }
}
#endif
