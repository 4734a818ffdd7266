import SignetSystem

/// Suffixes such as `co.uk` and `github.io` below which hosts have different owners
/// (publicsuffix.org).
public struct PublicSuffixes: Sendable {
    /// The path of the list that Debian's package publicsuffix installs.
    public static let systemPath = "/usr/share/publicsuffix/public_suffix_list.dat"
    /// The largest list that is read, 4 MiB. The list of 2023 has a sixteenth of that.
    static let maximumByteCount = 4 << 20

    /// The list's origin, for messages.
    public let source: String
    /// Suffixes such as `co.uk`, wildcards such as `*.ck`, and hosts that a wildcard doesn't cover,
    /// such as `!www.ck`.
    private let rules: Set<String>

    /// A short list of well-known suffixes, for machines without the complete one.
    public static let builtIn = PublicSuffixes(
        source: "a short built-in list",
        rules: [
            "ac.uk", "appspot.com", "azurewebsites.net", "blogspot.com", "cloudfront.net", "co.in",
            "co.jp", "co.kr", "co.nz", "co.uk", "co.za", "com.ar", "com.au", "com.br", "com.cn",
            "com.hk", "com.mx", "com.sg", "com.tr", "com.tw", "edu.cn", "firebaseapp.com",
            "github.io", "gitlab.io", "gov.cn", "gov.uk", "herokuapp.com", "net.au", "net.cn",
            "netlify.app", "or.jp", "org.au", "org.cn", "org.uk", "pages.dev", "vercel.app",
            "web.app", "workers.dev",
        ])

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

    private init(source: String, rules: Set<String>) {
        self.source = source
        self.rules = rules
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
        var rules: Set<String> = []
        var hasSuffix = false
        for line in text.utf8.split(whereSeparator: { $0 == 0x0A || $0 == 0x0D }) {
            let rule = line.prefix { $0 > 0x20 }
            if rule.isEmpty || rule.starts(with: "//".utf8) { continue }
            let mark = ["*.", "!"].first { rule.starts(with: $0.utf8) } ?? ""
            let name = rule.dropFirst(mark.utf8.count)
            guard let host = try? HostName.canonical(String(decoding: name, as: UTF8.self)),
                host.kind == .name
            else { continue }
            rules.insert(mark + host.text)
            hasSuffix = hasSuffix || mark.isEmpty
        }
        guard hasSuffix else { return nil }
        self.init(source: source, rules: rules)
    }

    /// Whether anyone can register a name directly below a host. True for every single label.
    public func contains(_ host: HostName) -> Bool {
        guard host.kind == .name else { return false }
        guard let parent = host.text[...].droppingFirstLabel else { return true }
        if rules.contains("!" + host.text) { return false }
        return rules.contains(host.text) || rules.contains("*.\(parent)")
    }
}
