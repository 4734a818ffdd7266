internal import SignetCrypto

/// Times that signatures can have: from 1970 to the end of the year 9999.
enum SigningTime {
    static let latest = UnixTime.latest

    static var outOfRange: SigningError {
        SigningError(
            .invalidTime,
            "a time is out of range: expected 0 to \(latest), in the years 1970 to 9999")
    }
}

/// Texts that travel as strings of RFC 9651.
enum SigningText {
    /// Demands printable ASCII, at most 256 bytes and at least one.
    static func requirePrintable(_ text: String, name: String) throws(SigningError) {
        guard (1...256).contains(text.utf8.count), text.isPrintableASCII else {
            throw SigningError(
                .invalidValue, "\(name) must have 1 to 256 printable characters of ASCII")
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
