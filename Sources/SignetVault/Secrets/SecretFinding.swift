/// The reason that a value looks like a secret, described without any part of the value.
struct SecretFinding: Equatable {
    let reason: String
    /// Whether the value has the format of a secret, and isn't only random or named like one.
    let isCertain: Bool

    static func certain(_ reason: String) -> SecretFinding {
        SecretFinding(reason: reason, isCertain: true)
    }
    static func likely(_ reason: String) -> SecretFinding {
        SecretFinding(reason: reason, isCertain: false)
    }
}
