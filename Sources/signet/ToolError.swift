import SignetJSON

/// How the process ends.
enum ExitStatus: Int32, Sendable {
    /// The work is done.
    case done = 0
    /// The check failed: a bad signature, a wrong pin, a wrong key.
    case refused = 1
    /// Wrong usage, or a file that is malformed or cannot be read or written.
    case usage = 2
    /// No usable answer came from the network.
    case network = 3
    /// The command of `signet exec` cannot run, as sh says it.
    case notExecutable = 126
    /// The command of `signet exec` was not found, as sh says it.
    case notFound = 127
}

/// An error of a module with a code that scripts rely on.
protocol CodedError: Error {
    /// The code in kebab-case.
    var codeName: String { get }
    /// One line for people: what was found, what was wanted, and where.
    var message: String { get }
    /// Further members of the `error` object with `--json`.
    var details: JSONObject { get }
}

extension CodedError {
    var details: JSONObject { [:] }
}

/// A failure of a command, ready to be told.
struct ToolError: CodedError {
    var status: ExitStatus
    var codeName: String
    var message: String
    /// Further members of the `error` object with `--json`.
    var details: JSONObject = [:]
    /// Members beside `error` with `--json`.
    var beside = MemberText()

    init(
        _ status: ExitStatus, _ codeName: String, _ message: String, details: JSONObject = [:],
        beside: JSONObject = [:]
    ) {
        self.status = status
        self.codeName = codeName
        self.message = message
        self.details = details
        self.beside = MemberText(beside)
    }

    /// Wrong usage that the argument parser could not see.
    static func usage(_ message: String) -> ToolError { ToolError(.usage, "usage", message) }

    /// The failure that an error of a module means for the tool.
    init(_ error: any CodedError) {
        if let error = error as? ToolError {
            self = error
        } else {
            self.init(
                ToolError.status(ofCode: error.codeName), error.codeName,
                error.message + (ToolError.remedies[error.codeName].map { "; \($0)" } ?? ""),
                details: error.details)
        }
    }

    /// What helps against the error, if an option does.
    var remedy: String? { Self.remedies[codeName] }

    /// The options that help against errors of the modules, by code. Each command that can fail with such a
    /// code has the option, or the text names the commands that have it.
    private static let remedies: [String: String] = [
        "reserved-method": "--allow-reserved calls it all the same",
        "too-many-redirects": "--max-redirects NUMBER follows more, at most 20",
        "proxy-authentication": "--proxy-credentials SOURCE gives a user name and a password",
        "timeout": "--timeout SECONDS waits longer",
        "too-old": "--max-age SECONDS accepts older signatures",
        "created-in-future": "--clock-skew SECONDS accepts a clock that is further ahead",
        "rolled-back": "--accept-rollback lets it pass",
        "would-lose-changes":
            "vault set gives the keys values that the schema allows, and vault seal --replace drops the "
            + "changes",
        "older-version":
            "vault open and vault get read it with --accept-app-version or --accept-system-version, "
            + "and vault rebind brings it up to date",
    ]

    /// The exit status of a code; what is not listed is wrong usage or a bad file.
    static func status(ofCode code: String) -> ExitStatus {
        if refusals.contains(code) { return .refused }
        if networkFailures.contains(code) { return .network }
        return .usage
    }

    private static let refusals: Set<String> = [
        // Vault
        "wrong-key", "tampered", "newer-version", "older-version", "other-version", "wrong-app",
        "wrong-system", "unknown-key", "key-revoked", "key-expired", "key-not-yet-valid",
        "wrong-key-use", "key-too-short", "rolled-back", "state-tampered", "would-lose-changes",
        // Pins
        "pin-mismatch", "unlisted-host", "policy-expired", "cleartext-to-pinned-host",
        "update-expired", "update-not-yet-valid", "lint-findings",
        // Adapters
        "rpc-error", "http-status",
        // Redirects
        "redirect-refused",
        // Self-check
        "self-check-failed",
        // Downloads
        "wrong-digest",
    ]

    private static let networkFailures: Set<String> = [
        "name", "connect", "tls", "timeout", "cut-off", "malformed-reply", "reply-too-large",
        "batch-incomplete", "cancelled", "not-running", "body-not-replayable",
        "resources", "redirect-loop", "too-many-redirects", "proxy", "proxy-refused",
        "proxy-authentication", "unsupported-encoding",
    ]
}
