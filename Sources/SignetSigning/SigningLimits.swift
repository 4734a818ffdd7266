internal import SignetCrypto

/// Times that a structured field's integer can hold.
enum SigningTime {
    static let latest: Int64 = 999_999_999_999_999

    static var outOfRange: SigningError {
        SigningError(.invalidTime, "a time lies before 1970 or has more than 15 digits")
    }
}

/// Texts that travel as strings of RFC 9651.
enum SigningText {
    /// Demands printable ASCII, at most 256 bytes and at least one.
    static func require(_ text: String, _ what: String) throws(SigningError) {
        guard (1...256).contains(text.utf8.count), text.isPrintableASCII else {
            throw SigningError(
                .invalidValue, "\(what) must have 1 to 256 printable characters of ASCII")
        }
    }

    /// Refuses settings for a scheme that has none.
    static func requireNone(
        _ settings: [String: String], of scheme: SigningScheme
    ) throws(SigningError) {
        guard let name = settings.keys.min() else { return }
        throw SigningError(
            .unsupportedOption, "\(scheme.name) has no setting \(printable(name)): it has none")
    }
}
