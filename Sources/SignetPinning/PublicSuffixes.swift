internal import SignetSystem

/// Suffixes such as `co.uk` and `github.io` below which hosts have different owners
/// (publicsuffix.org).
public struct PublicSuffixes: Sendable {
    /// The path of the list that Debian's package publicsuffix installs.
    public static let systemPath = "/usr/share/publicsuffix/public_suffix_list.dat"
    /// The largest list that is read, 4 MiB. The list of 2023 has a sixteenth of that.
    static let maximumByteCount = 4 << 20

    /// The list's origin, for messages.
    public let source: String
    private let exact: Set<String>
    /// The suffixes of wildcards, `ck` for `*.ck`.
    private let wildcards: Set<String>
    /// The hosts that a wildcard doesn't cover, such as `www.ck`.
    private let exceptions: Set<String>

    /// A short list of well-known suffixes, for machines without the complete one.
    public static let builtIn = PublicSuffixes(
        source: "a short built-in list",
        exact: [
            "ac.uk", "appspot.com", "azurewebsites.net", "blogspot.com", "cloudfront.net", "co.in",
            "co.jp", "co.kr", "co.nz", "co.uk", "co.za", "com.ar", "com.au", "com.br", "com.cn",
            "com.hk", "com.mx", "com.sg", "com.tr", "com.tw", "edu.cn", "firebaseapp.com",
            "github.io", "gitlab.io", "gov.cn", "gov.uk", "herokuapp.com", "net.au", "net.cn",
            "netlify.app", "or.jp", "org.au", "org.cn", "org.uk", "pages.dev", "vercel.app",
            "web.app", "workers.dev",
        ], wildcards: [], exceptions: [])

    /// Returns the list that the system's package manager installs, or the built-in one if that
    /// can't be read.
    ///
    /// - Parameter path: The list's file.
    public static func system(path: String = systemPath) -> PublicSuffixes {
        guard
            let bytes = try? PrivateFile.read(path, limit: maximumByteCount, requirePrivate: false),
            let list = PublicSuffixes(parsing: bytes, source: path)
        else { return builtIn }
        return list
    }

    private init(
        source: String, exact: Set<String>, wildcards: Set<String>, exceptions: Set<String>
    ) {
        self.source = source
        self.exact = exact
        self.wildcards = wildcards
        self.exceptions = exceptions
    }

    /// Reads a list in the format of publicsuffix.org: one rule a line up to the first space, `//`
    /// before a comment, `*.` for one label, `!` before an exception.
    ///
    /// - Parameters:
    ///   - bytes: The whole list.
    ///   - source: The list's origin, for messages.
    /// - Returns: nil if the list isn't UTF-8 or has no rule.
    public init?(parsing bytes: [UInt8], source: String) {
        guard let text = String(validating: bytes, as: UTF8.self) else { return nil }
        var exact: Set<String> = []
        var wildcards: Set<String> = []
        var exceptions: Set<String> = []
        for line in text.utf8.split(whereSeparator: { $0 == 0x0A || $0 == 0x0D }) {
            var rule = line.prefix { $0 > 0x20 }
            if rule.isEmpty || rule.starts(with: "//".utf8) { continue }
            var isWildcard = false
            var isException = false
            if rule.starts(with: "*.".utf8) {
                isWildcard = true
                rule = rule.dropFirst(2)
            } else if rule.first == UInt8(ascii: "!") {
                isException = true
                rule = rule.dropFirst()
            }
            guard let host = try? HostName.canonical(String(decoding: rule, as: UTF8.self)),
                host.kind == .name
            else { continue }
            if isWildcard {
                wildcards.insert(host.text)
            } else if isException {
                exceptions.insert(host.text)
            } else {
                exact.insert(host.text)
            }
        }
        guard !exact.isEmpty else { return nil }
        self.init(source: source, exact: exact, wildcards: wildcards, exceptions: exceptions)
    }

    /// Whether anyone can register a name directly below a host. True for every single label.
    public func contains(_ host: HostName) -> Bool {
        guard host.kind == .name else { return false }
        guard let dot = host.text.firstIndex(of: ".") else { return true }
        if exceptions.contains(host.text) { return false }
        return exact.contains(host.text)
            || wildcards.contains(String(host.text[host.text.index(after: dot)...]))
    }
}
