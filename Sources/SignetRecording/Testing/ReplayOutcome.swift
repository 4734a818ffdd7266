public import SignetBase

/// The outcome of sending a recorded request again.
public enum ReplayOutcome: Sendable, Hashable, CustomStringConvertible {
    /// Request and response are as they were recorded.
    case alike
    /// They differ.
    case differs([Difference])
    /// Nothing was sent, for this reason.
    case skipped(String)
    /// The request got no response.
    case unanswered(SignetErrorCode, String)

    /// One line for people, without values.
    public var description: String {
        switch self {
        case .alike: "alike"
        case .differs(let differences):
            "differs: " + differences.prefix(5).map(\.description).joined(separator: "; ")
                + (differences.count > 5 ? "; and \(differences.count - 5) more" : "")
        case .skipped(let reason): "skipped: \(reason)"
        case .unanswered(let code, let message): "no response: \(code.name): \(message)"
        }
    }
}
