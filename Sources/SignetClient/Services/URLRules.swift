import SignetBase
import SignetVault

/// Regular expressions that decide about a request's URL before anything is sent, also after a
/// redirect.
///
/// In a configuration these are the keys `urlRules.allowed` and `urlRules.refused`.
///
/// ```swift
/// var options = NetworkSystem.Options()
/// options.urlRules = try URLRules(
///     allowed: [#"https://api\.example\.com/v1/.*"#], refused: ["[?&]token="])
/// ```
public struct URLRules: Sendable {
    private let allowed: [ValuePattern]
    private let refused: [ValuePattern]

    /// Compiles patterns.
    ///
    /// - Parameters:
    ///   - allowed: One of these must match scheme, host, port and path as a whole; an empty list
    ///     allows all.
    ///   - refused: None of these may be found anywhere in the URL, its query included.
    /// - Throws: `invalid-service` naming the pattern's place in its list.
    public init(allowed: [String] = [], refused: [String] = []) throws(ClientError) {
        self.allowed = try Self.compile(allowed, key: "urlRules.allowed")
        self.refused = try Self.compile(refused, key: "urlRules.refused")
    }

    /// Reads the arrays of strings `urlRules.allowed` and `urlRules.refused` of a configuration.
    init(_ configuration: GlobalConfiguration) throws(ClientError) {
        func patterns(_ key: String) throws(ClientError) -> [String] {
            guard let value = configuration.value(named: key) else { return [] }
            guard let patterns = [String](value) else {
                throw ClientError(.invalidService, "\(key) is not an array of regular expressions")
            }
            return patterns
        }
        try self.init(
            allowed: patterns("urlRules.allowed"), refused: patterns("urlRules.refused"))
    }

    /// Whether every URL passes.
    var isEmpty: Bool { allowed.isEmpty && refused.isEmpty }

    /// Checks a URL.
    ///
    /// - Throws: `refused-url`; the query is not repeated.
    func check(_ url: WebURL) throws(ClientError) {
        if isEmpty { return }
        let text = "\(url.scheme)://\(url.authority)\(url.path)"
        let isAllowed = allowed.contains { $0.matches(text) }
        guard allowed.isEmpty || isAllowed else {
            throw .refusedURL("no rule of urlRules.allowed fits \(text)")
        }
        let whole = url.query.map { "\(text)?\($0)" } ?? text
        // A rule that takes too long to evaluate counts as matching: what is refused stays refused.
        let place = refused.firstIndex { $0.isFound(in: whole) ?? true }
        if let place {
            throw .refusedURL("rule \(place + 1) of urlRules.refused fits \(text)")
        }
    }

    private static func compile(
        _ patterns: [String], key: String
    ) throws(ClientError) -> [ValuePattern] {
        var compiled: [ValuePattern] = []
        for (index, pattern) in patterns.enumerated() {
            do throws(PatternFailure) {
                compiled.append(try ValuePattern(pattern))
            } catch {
                throw ClientError(
                    .invalidService,
                    "\(key): pattern \(index + 1) is not a regular expression: \(error.reason)")
            }
        }
        return compiled
    }
}
