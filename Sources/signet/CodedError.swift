#if Tool
import SignetBase
import SignetClient
import SignetCrypto
import SignetJSON
import SignetPinning
import SignetRPC
import SignetSigning
import SignetSystem
import SignetTransport
import SignetVault
#if Storage
import SignetStorage
#endif

/// An error with a code that scripts rely on.
protocol CodedError: Error {
    /// The code, whose class decides the exit status.
    var errorCode: ErrorCode { get }
    /// One line for people: found, expected and where.
    var message: String { get }
    /// Further members of the `error` object with `--json`.
    var details: JSONObject { get }
    /// The refusal of a pin policy that caused the error, with which its message ends; nil if none
    /// did.
    var pinRefusal: PinRefusal? { get }
}

extension CodedError {
    var details: JSONObject { pinRefusal.map { ["pin": .object($0.object)] } ?? [:] }
    var pinRefusal: PinRefusal? { nil }
}

extension CryptoFailure: CodedError {}
extension FileFailure: CodedError {}
extension X509Failure: CodedError {}

extension HostError: CodedError {
    var errorCode: ErrorCode { code.value }
}

extension JSONError: CodedError {
    var errorCode: ErrorCode { code.value }
}

extension KeyError: CodedError {
    var errorCode: ErrorCode { code.value }
}

#if Storage
extension StorageError: CodedError {
    var errorCode: ErrorCode { code.value }
}
#endif

extension SigningError: CodedError {
    var errorCode: ErrorCode { code.value }
}

extension VaultError: CodedError {
    var errorCode: ErrorCode { code.value }

    /// All problems of a configuration.
    var details: JSONObject {
        guard !problems.isEmpty else { return [:] }
        return [
            "errors": .array(
                problems.map { problem in
                    [
                        "code": .string(problem.code.name),
                        "key": problem.key.map(JSONValue.string) ?? .null,
                        "message": .string(Terminal.printable(problem.message)),
                    ]
                })
        ]
    }
}

extension PinError: CodedError {
    var errorCode: ErrorCode { code.value }
}

extension PinRefusal: CodedError {
    var errorCode: ErrorCode { code.value }
    var pinRefusal: PinRefusal? { self }
}

extension TransportError: CodedError {
    var errorCode: ErrorCode { code.value }
}

extension PayloadError: CodedError {
    var errorCode: ErrorCode { code.value }
    var details: JSONObject { server.map { ["rpc": .object($0.object)] } ?? [:] }
}

extension ClientError: CodedError {
    var errorCode: ErrorCode { code.value }

    /// The server's own error with its data, the problem that it describes (RFC 9457), or a
    /// policy's refusal.
    var details: JSONObject {
        if let pinRefusal { return ["pin": .object(pinRefusal.object)] }
        if let problem { return ["problem": .object(problem.object)] }
        return serverError.map { ["rpc": .object($0.object)] } ?? [:]
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
