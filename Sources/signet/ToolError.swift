#if Tool
import ArgumentParser
import SignetBase
import SignetJSON
import SignetPinning
import SignetRPC
import SignetSigning
import SignetTransport
import SignetVault

/// The exit status of the process.
enum ExitStatus: Int32, Sendable {
    /// The work is done.
    case done = 0
    /// The check failed: a bad signature, a wrong pin, a wrong key.
    case refused = 1
    /// Wrong usage, or a file that is malformed or cannot be read or written.
    case usage = 2
    /// The network gave no response that can be used.
    case network = 3
    /// The command of `signet exec` cannot run, as sh says it.
    case notExecutable = 126
    /// The command of `signet exec` was not found, as sh says it.
    case notFound = 127

    /// The status for a class of failures.
    init(_ failure: SignetErrorCode.Class) {
        switch failure {
        case .checkFailed: self = .refused
        case .usage: self = .usage
        case .noResponse: self = .network
        }
    }
}

/// A failure of a command, ready to be printed.
struct ToolError: SignetError {
    var status: ExitStatus
    let code: SignetErrorCode
    var message: String
    /// The lines for people in place of the message; nil if it is one itself.
    var lines: [String]?
    /// Further members of the `error` object with `--json`.
    var details: JSONObject = [:]
    /// Members next to `error` with `--json`.
    var beside = MemberText()

    /// Creates a failure; its status is that of the code's class.
    init(
        _ code: SignetErrorCode, _ message: String, details: JSONObject = [:],
        beside: JSONObject = [:]
    ) {
        self.status = ExitStatus(code.class)
        self.code = code
        self.message = message
        self.details = details
        self.beside = MemberText(beside)
    }

    /// Wrong usage that the argument parser could not see.
    static func usage(_ message: String) -> ToolError { ToolError(.wrongUsage, message) }

    /// The failure that an error of a module means for the tool.
    init(_ error: any SignetError) {
        if let error = error as? ToolError {
            self = error
        } else {
            // A PinError says itself what helps; it shares `rolled-back` with dumps.
            let remedy = error is PinError ? nil : ToolError.remedies[error.code]
            self.init(
                error.code, error.message + (remedy.map { "; \($0)" } ?? ""),
                details: error.details)
            lines = error.pinRefusal?.lines(endingMessage: error.message)
        }
    }

    /// The option that helps against the error, if there is one.
    var remedy: String? { Self.remedies[code] }

    /// The options that help against errors of the modules. Each command that can fail with such a
    /// code has the option, or the text names the commands that have it.
    private static let remedies: [SignetErrorCode: String] = [
        .reservedMethod: "--allow-reserved calls it anyway",
        .tooManyRedirects:
            "--max-redirects NUMBER follows more, at most 20",
        .proxyAuthentication:
            "--proxy-credentials SOURCE gives a user name and a password",
        .timeout: "--timeout SECONDS waits longer",
        .tooOld: "--max-age SECONDS accepts older signatures",
        .createdInFuture:
            "--clock-skew SECONDS accepts a clock that is further ahead",
        .rolledBack: "the commands of signet vault accept an older dump with --accept-rollback",
        .wouldLoseValues:
            "give these values too (a secret as --launch KEY@SOURCE), or drop them with vault seal "
            + "--replace",
        .wouldLoseChanges:
            "vault set gives the keys values that the schema allows, and vault seal --replace drops the "
            + "changes",
        .olderVersion:
            "vault open and vault get read it with --accept-app-version or --accept-system-version, "
            + "and vault rebind brings it up to date",
    ]
}

extension ToolError {
    /// Returns the path of a file that a command writes and that can't be standard output.
    ///
    /// - Parameters:
    ///   - path: The path, or `-`.
    ///   - subject: What is written, such as "a dump".
    static func file(_ path: String, subject: String) throws(ToolError) -> String {
        guard path != "-" else { throw .usage(noFile(for: subject)) }
        return path
    }

    /// Checks an option as `file(_:subject:)` does, while the arguments are parsed.
    static func requireFile(_ path: String?, subject: String) throws(ValidationError) {
        guard path != "-" else { throw ValidationError(noFile(for: subject)) }
    }

    private static func noFile(for subject: String) -> String {
        "found - where \(subject) is written, expected a file (./- is a file of this name)"
    }
}

/// The codes of the tool's own failures.
extension SignetErrorCode {
    static let wrongUsage = usage("usage")
    static let noArguments = usage("no-arguments")
    static let nameCollision = usage("name-collision")
    static let outputFailed = usage("output-failed")
    /// A project file belongs to another user, or others than its owner may write it.
    static let projectFilePermissions = usage("project-file-permissions")
    static let passphraseMismatch = usage("passphrase-mismatch")
    static let inputMismatch = usage("input-mismatch")
    static let secretInArguments = usage("secret-in-arguments")
    static let secretValue = usage("secret-value")
    static let bodyTooLarge = usage("body-too-large")
    static let noValue = checkFailed("no-value")
    static let otherKey = checkFailed("other-key")
    static let mergeConflict = checkFailed("merge-conflict")
    static let dumpChanged = checkFailed("dump-changed")
    static let notVerified = checkFailed("not-verified")
    static let expiresSoon = checkFailed("expires-soon")
    static let lintFindings = checkFailed("lint-findings")
    static let selfCheckFailed = checkFailed("self-check-failed")
}
#endif
