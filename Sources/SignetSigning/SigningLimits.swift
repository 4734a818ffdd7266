import SignetBase
import SignetCrypto

/// The range of a signature's times: 1970 to the end of the year 9999.
enum SigningTime {
    static let latest = UnixTime.latest

    static var outOfRange: SigningError {
        SigningError(
            .invalidTime,
            "a time is out of range: expected 0 to \(latest) (year 9999)")
    }
}

/// Checks of texts that become strings of RFC 9651.
enum SigningText {
    /// Requires 1 to 256 bytes of printable ASCII.
    static func requirePrintable(_ text: String, name: String) throws(SigningError) {
        guard (1...256).contains(text.utf8.count), text.isPrintableASCII else {
            throw SigningError(
                .invalidValue, "\(name): expected 1 to 256 printable ASCII characters")
        }
    }

    /// Refuses settings for a scheme without settings.
    static func requireNone(
        _ settings: [String: String], of scheme: String
    ) throws(SigningError) {
        guard let name = settings.keys.min() else { return }
        throw SigningError(
            .unsupportedOption,
            "found the setting \(printable(name)), but \(scheme) has no settings")
    }
}
