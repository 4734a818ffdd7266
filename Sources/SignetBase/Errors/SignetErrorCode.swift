/// An error of Signet. Catch this type if any of its errors may come.
///
/// Each type of error documents its own members. All of them have a code and a message.
public protocol SignetError: Error {
    /// The code, which scripts and programs can rely on.
    var code: SignetErrorCode { get }
    /// One line for people: what was found, what was expected, and where. It contains no secret.
    var message: String { get }
}

/// The code of an error: the name that programs compare and that the tool prints, and what kind of
/// failure it is.
///
/// All errors share this type, so that a code has one name and one kind wherever it is noticed.
/// Each module adds its own codes. New codes may be added, so a `switch` needs a default.
public struct SignetErrorCode: Sendable, Hashable, CustomStringConvertible {
    /// The kinds of failures of a call.
    public enum Kind: String, Sendable, Hashable {
        /// No response, or only a part of one: name, connection, TLS, pins, timeout, cut off.
        case noResponse = "no-response"
        /// The server refused: a status that isn't 2xx, an RPC error or a business code.
        case refused
        /// The server sent what its protocol forbids, or too much.
        case malformed
        /// The program, its configuration or this machine is the cause, or the caller cancelled.
        case local
    }

    /// The classes of failures, each of which is an exit status of the tool.
    package enum Class: Sendable, Hashable {
        /// A check failed: the key is wrong, no pin matches, or the server responded with an error.
        case checkFailed
        /// An argument or an input is wrong, or a file of this machine can't be used.
        case usage
        /// The network gave no response that can be used.
        case noResponse
    }

    /// The name in kebab-case, as in the tool's `--json` output.
    public let name: String
    /// The kind of every failure of a call with this code.
    public let kind: Kind
    /// The class of the failure.
    package let `class`: Class

    /// The name.
    public var description: String { name }

    /// Returns a code of the class `checkFailed`.
    package static func checkFailed(_ name: String, kind: Kind = .local) -> SignetErrorCode {
        SignetErrorCode(name: name, kind: kind, class: .checkFailed)
    }

    /// Returns a code of the class `usage`.
    package static func usage(_ name: String, kind: Kind = .local) -> SignetErrorCode {
        SignetErrorCode(name: name, kind: kind, class: .usage)
    }

    /// Returns a code of the class `noResponse`.
    package static func noResponse(_ name: String, kind: Kind = .local) -> SignetErrorCode {
        SignetErrorCode(name: name, kind: kind, class: .noResponse)
    }
}
