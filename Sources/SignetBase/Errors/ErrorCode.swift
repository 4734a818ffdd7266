/// The code of an error: a name that scripts rely on, and the class and kind of the failure.
///
/// Each error type has a `Code` of its own, which wraps one of these. The name of a code is written
/// once in the package: codes that several error types have are declared in
/// `ErrorCode+Shared.swift`.
package struct ErrorCode: Sendable, Hashable {
    /// The classes of failures, each of which is an exit status of the tool.
    package enum Class: Sendable, Hashable {
        /// A check failed: the key is wrong, no pin matches, or the server responded with an error.
        case checkFailed
        /// An argument or an input is wrong, or a file of this machine can't be used.
        case usage
        /// The network gave no response that can be used.
        case noResponse
    }

    /// The kinds of failures of a call, which `ClientError.Kind` describes.
    package enum Kind: Sendable, Hashable { case noResponse, refused, malformed, local }

    /// The name in kebab-case.
    package let name: String
    /// The class of the failure.
    package let `class`: Class
    /// The kind of a call's failure.
    package let kind: Kind

    /// Returns a code of the class `checkFailed`.
    package static func checkFailed(_ name: String, kind: Kind = .local) -> ErrorCode {
        ErrorCode(name: name, class: .checkFailed, kind: kind)
    }

    /// Returns a code of the class `usage`.
    package static func usage(_ name: String, kind: Kind = .local) -> ErrorCode {
        ErrorCode(name: name, class: .usage, kind: kind)
    }

    /// Returns a code of the class `noResponse`.
    package static func noResponse(_ name: String, kind: Kind = .local) -> ErrorCode {
        ErrorCode(name: name, class: .noResponse, kind: kind)
    }
}
