internal import HTTPTypes
internal import SignetBase
internal import SignetTransport

/// One cookie of an origin.
struct Cookie: Sendable, Identifiable {
    /// An origin has one cookie with a name and a path.
    struct ID: Hashable {
        let name: String
        let path: String
    }

    let name: String
    private let value: String
    let path: String
    /// Unix seconds; nil for as long as the store lives.
    private let expires: Int64?

    /// 400 days, the longest life of a cookie (RFC 6265bis, section 5.5).
    private static let longestLife: Int64 = 34_560_000

    /// Parses a Set-Cookie field (RFC 6265bis, sections 5.6 and 5.7).
    ///
    /// - Parameters:
    ///   - text: The field's value.
    ///   - url: The URL of the request that the field answers.
    ///   - now: Unix seconds.
    /// - Returns: The cookie, which may have expired already; nil for one that is to be ignored.
    init?(parsing text: String, from url: WebURL, now: Int64) {
        guard text.utf8.allSatisfy({ (0x20..<0x7f).contains($0) || $0 == 0x09 }) else { return nil }
        let parts = text.split(separator: ";", omittingEmptySubsequences: false)
        let pair = Self.pair(parts[0])
        guard let value = pair.value, !pair.name.isEmpty, HTTPField.Name(pair.name) != nil,
            HTTPField.isValidValue(value), pair.name.utf8.count + value.utf8.count <= 4096
        else { return nil }
        var attributes = Attributes()
        for part in parts.dropFirst() { attributes.read(part, now: now) }
        guard attributes.isAllowed(name: pair.name, at: url.origin) else { return nil }
        self.name = pair.name
        self.value = value
        self.path = attributes.path ?? Self.defaultPath(of: url.path)
        self.expires = (attributes.maxAge ?? attributes.expires).map {
            min($0, now + Self.longestLife)
        }
    }

    var id: ID { ID(name: name, path: path) }

    /// `NAME=VALUE`, as it is sent.
    var pair: String { "\(name)=\(value)" }

    var byteCount: Int { name.utf8.count + value.utf8.count }

    func hasExpired(at now: Int64) -> Bool { expires.map { $0 <= now } ?? false }

    /// Whether a request's path is at or below the cookie's (section 5.1.4).
    func matches(path target: String) -> Bool {
        guard target.utf8.starts(with: path.utf8) else { return false }
        let rest = target.utf8.dropFirst(path.utf8.count)
        return rest.isEmpty || path.utf8.last == UInt8(ascii: "/")
            || rest.first == UInt8(ascii: "/")
    }

    /// The names of the cookies in a Cookie field.
    static func names(in field: String) -> [String] {
        field.split(separator: ";").map { pair($0).name }
    }

    private static func defaultPath(of path: String) -> String {
        guard let slash = path.utf8.lastIndex(of: UInt8(ascii: "/")), slash > path.startIndex
        else { return "/" }
        return String(path[..<slash])
    }

    /// Splits `NAME=VALUE` at the first `=`, and trims both.
    private static func pair(_ text: Substring) -> (name: String, value: String?) {
        let parts = text.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
        return (trimmed(parts[0]), parts.count == 2 ? trimmed(parts[1]) : nil)
    }

    private static func trimmed(_ text: Substring) -> String {
        var bytes = text.utf8
        while let first = bytes.first, first == 0x20 || first == 0x09 { bytes.removeFirst() }
        while let last = bytes.last, last == 0x20 || last == 0x09 { bytes.removeLast() }
        return String(Substring(bytes))
    }

    /// The attributes of a Set-Cookie field; the last one of a name holds.
    private struct Attributes {
        /// Unix seconds.
        var expires: Int64?
        /// Unix seconds.
        var maxAge: Int64?
        /// Nil without the attribute.
        var domain: String?
        /// Nil for the default path.
        var path: String?
        var hasPath = false
        var isSecure = false
        var isForOtherSites = false

        mutating func read(_ text: Substring, now: Int64) {
            let pair = Cookie.pair(text)
            let value = pair.value ?? ""
            guard value.utf8.count <= 1024 else { return }
            switch pair.name.lowercased() {
            case "expires": if let time = CookieDate.parse(value) { expires = time }
            case "max-age": if let seconds = Self.seconds(value) { maxAge = now + seconds }
            case "domain":
                domain = value.startsWithBytes(of: ".") ? String(value.dropFirst()) : value
            case "path":
                path = value.startsWithBytes(of: "/") ? value : nil
                hasPath = true
            case "secure": isSecure = true
            case "samesite": isForOtherSites = value.lowercased() == "none"
            default: break
            }
        }

        /// Whether an origin may set a cookie of a name with these attributes.
        func isAllowed(name: String, at origin: WebOrigin) -> Bool {
            if isSecure, !origin.isSecure { return false }
            if isForOtherSites, !isSecure { return false }
            let name = name.lowercased()
            if name.startsWithBytes(of: "__secure-"), !isSecure { return false }
            if name.startsWithBytes(of: "__host-") {
                guard isSecure, domain == nil, hasPath, path == "/" else { return false }
            }
            guard let domain, !domain.isEmpty else { return true }
            // A parent's domain would give the cookie to sibling hosts, or to a public suffix.
            let host = try? Authority(parsing: domain)
            return host?.host == origin.host && host?.writtenPort == nil
        }

        /// Reads a Max-Age, no longer than the longest life.
        private static func seconds(_ text: String) -> Int64? {
            let isNegative = text.utf8.first == UInt8(ascii: "-")
            let digits = text.utf8.dropFirst(isNegative ? 1 : 0)
            guard !digits.isEmpty, digits.allSatisfy(\.isDigit) else {
                return nil
            }
            if isNegative { return 0 }
            return min(Int64(text) ?? longestLife, longestLife)
        }
    }
}

/// Reads the date of a cookie's Expires, which has many spellings (RFC 6265bis, section 5.1.1).
enum CookieDate {
    /// Returns Unix seconds; nil for a text without a date, or a date that doesn't exist.
    static func parse(_ text: String) -> Int64? {
        var (time, day, month, year): (Int64?, Int64?, Int64?, Int64?) = (nil, nil, nil, nil)
        for token in text.utf8.split(whereSeparator: isDelimiter) {
            if time == nil, let found = self.time(token) {
                time = found
            } else if day == nil, let found = number(token, digits: 1...2) {
                day = found
            } else if month == nil, let found = self.month(token) {
                month = found
            } else if year == nil, let found = number(token, digits: 2...4) {
                year = found
            }
        }
        guard let time, let day, let month, var year else { return nil }
        if (70...99).contains(year) { year += 1900 }
        if (0...69).contains(year) { year += 2000 }
        guard year >= 1601 else { return nil }
        func padded(_ number: Int64) -> String { number < 10 ? "0\(number)" : "\(number)" }
        return UnixTime.parseDate("\(year)-\(padded(month))-\(padded(day))").map { $0 + time }
    }

    private static func isDelimiter(_ byte: UInt8) -> Bool {
        switch byte {
        case 0x09, 0x20...0x2f, 0x3b...0x40, 0x5b...0x60, 0x7b...0x7e: true
        default: false
        }
    }

    /// Reads `HH:MM:SS`, with one or two digits each, as seconds of the day.
    private static func time(_ token: Substring.UTF8View) -> Int64? {
        let parts = token.split(
            separator: UInt8(ascii: ":"), maxSplits: 2, omittingEmptySubsequences: false)
        guard parts.count == 3, parts[0].allSatisfy(\.isDigit), parts[1].allSatisfy(\.isDigit),
            let hours = number(parts[0], digits: 1...2), hours < 24,
            let minutes = number(parts[1], digits: 1...2), minutes < 60,
            let seconds = number(parts[2], digits: 1...2), seconds < 60
        else { return nil }
        return hours * 3600 + minutes * 60 + seconds
    }

    private static func month(_ token: Substring.UTF8View) -> Int64? {
        let name = String(Substring(token.prefix(3))).lowercased()
        return UnixTime.months.firstIndex { $0.lowercased() == name }.map { Int64($0) + 1 }
    }

    /// Reads the digits that a token begins with.
    private static func number(
        _ token: Substring.UTF8View, digits: ClosedRange<Int>
    ) -> Int64? {
        let prefix = token.prefix { $0.isDigit }
        guard digits.contains(prefix.count) else { return nil }
        return Int64(String(Substring(prefix)))
    }
}
