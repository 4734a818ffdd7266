#if Inspector
import SignetJSON

/// Values as the page reads them.
enum PageJSON {
    /// A text, or null.
    static func text(_ text: String?) -> JSONValue { text.map(JSONValue.string) ?? .null }

    /// A whole number, or null.
    static func number(_ number: (some BinaryInteger)?) -> JSONValue {
        number.map { .number(JSONNumber($0)) } ?? .null
    }

    /// Milliseconds with microseconds behind the dot, or null.
    static func time(_ duration: Duration?) -> JSONValue {
        guard let duration else { return .null }
        let (seconds, attoseconds) = duration.components
        let micro = seconds.multipliedReportingOverflow(by: 1_000_000)
        guard !micro.overflow else { return .null }
        let whole = micro.partialValue + attoseconds / 1_000_000_000_000
        return JSONNumber(Double(whole) / 1000).map(JSONValue.number) ?? .null
    }

    /// The host and the path of a URL.
    static func parts(of url: String) -> (host: String, path: String) {
        let pieces = url.split(separator: "/", maxSplits: 3, omittingEmptySubsequences: false)
        guard pieces.count >= 3 else { return ("", url) }
        return (String(pieces[2]), pieces.count > 3 ? "/\(pieces[3])" : "/")
    }
}
#endif
