import HTTPTypes
import SignetBase
import SignetTransport

/// One cookie of an origin.
struct Cookie: Sendable, Identifiable {
    /// An origin has one cookie with a name and a path.
    struct ID: Hashable {
        let name: [UInt8]
        let path: String
    }

    let name: [UInt8]
    private let value: [UInt8]
    let path: String
    /// Unix seconds; nil for as long as the store lives.
    private let expires: Int64?

    /// 400 days, the longest life of a cookie (RFC 6265bis, section 5.5).
    private static let longestLife: Int64 = 34_560_000

    /// Parses a Set-Cookie field as a browser does (RFC 6265bis, sections 5.6 and 5.7): a server
    /// may set what the RFC's grammar for servers forbids. Only control characters are refused.
    ///
    /// - Parameters:
    ///   - field: The field's value, which may not be UTF-8.
    ///   - url: The URL of the request that the field answers.
    ///   - now: Unix seconds.
    /// - Returns: The cookie, which may have expired already; nil for one that is to be ignored.
    init?(parsing field: [UInt8], from url: WebURL, now: Int64) {
        guard field.allSatisfy({ $0 >= 0x20 && $0 != 0x7f || $0 == ASCII.tab }) else { return nil }
        let parts = field.split(separator: ASCII.semicolon, omittingEmptySubsequences: false)
        let (name, value) = Self.pair(parts[0])
        guard (1...4096).contains(name.count + value.count) else { return nil }
        var attributes = Attributes()
        for part in parts.dropFirst() { attributes.read(part, now: now) }
        guard attributes.isAllowed(name: name, value: value, at: url.origin) else { return nil }
        self.name = name
        self.value = value
        self.path = attributes.path ?? Self.defaultPath(of: url.path)
        self.expires = (attributes.maxAge ?? attributes.expires).map {
            min($0, now + Self.longestLife)
        }
    }

    var id: ID { ID(name: name, path: path) }

    /// `NAME=VALUE`, as it is sent; a cookie without a name is its value alone (section 5.8.3).
    var pair: [UInt8] { name.isEmpty ? value : name + [ASCII.equals] + value }

    var byteCount: Int { name.count + value.count }

    func hasExpired(at now: Int64) -> Bool { expires.map { $0 <= now } ?? false }

    /// Whether a request's path is at or below the cookie's (section 5.1.4).
    func matches(path target: String) -> Bool {
        guard target.utf8.starts(with: path.utf8) else { return false }
        let rest = target.utf8.dropFirst(path.utf8.count)
        return rest.isEmpty || path.utf8.last == UInt8(ascii: "/")
            || rest.first == UInt8(ascii: "/")
    }

    /// The names of the cookies in a Cookie field.
    static func names(in field: [UInt8]) -> [[UInt8]] {
        field.split(separator: ASCII.semicolon).map { pair($0).name }
    }

    private static func defaultPath(of path: String) -> String {
        guard let slash = path.utf8.lastIndex(of: UInt8(ascii: "/")), slash > path.startIndex
        else { return "/" }
        return String(path[..<slash])
    }

    /// Splits `NAME=VALUE` at the first `=`, and trims both. Without a `=` all is the value.
    private static func pair(_ bytes: ArraySlice<UInt8>) -> (name: [UInt8], value: [UInt8]) {
        guard let mark = bytes.firstIndex(of: ASCII.equals) else {
            return ([], Array(bytes.trimmingBlanks()))
        }
        return (
            Array(bytes[..<mark].trimmingBlanks()), Array(bytes[(mark + 1)...].trimmingBlanks())
        )
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

        mutating func read(_ attribute: ArraySlice<UInt8>, now: Int64) {
            let hasValue = attribute.contains(ASCII.equals)
            let pair = Cookie.pair(attribute)
            let (name, bytes) = hasValue ? pair : (pair.value, [])
            guard bytes.count <= 1024 else { return }
            let value = String(decoding: bytes, as: UTF8.self)
            switch String(decoding: name, as: UTF8.self).lowercased() {
            case "expires": if let time = CookieDate.parse(value) { expires = time }
            case "max-age": if let seconds = Self.seconds(value) { maxAge = now + seconds }
            case "domain":
                domain = value.startsWithBytes(of: ".") ? String(value.dropFirst()) : value
            case "path":
                path = value.startsWithBytes(of: "/") ? value : nil
                hasPath = true
            case "secure": isSecure = true
            default: break
            }
        }

        /// Whether an origin may set a cookie with these attributes.
        func isAllowed(name: [UInt8], value: [UInt8], at origin: WebOrigin) -> Bool {
            if isSecure, !origin.isSecure { return false }
            // Without a name, the value is what a server reads as the name.
            let read = String(decoding: name.isEmpty ? value : name, as: UTF8.self).lowercased()
            let isPrefixed = ["__secure-", "__host-"].contains { read.startsWithBytes(of: $0) }
            if isPrefixed, !isSecure || name.isEmpty { return false }
            if read.startsWithBytes(of: "__host-") {
                guard domain == nil, hasPath, path == "/" else { return false }
            }
            return domain.map { $0.isEmpty || Self.matches($0, origin.host) } ?? true
        }

        /// Whether a domain is the host, or one above it (section 5.1.3).
        private static func matches(_ domain: String, _ host: HostName) -> Bool {
            guard let parsed = try? Authority(parsing: domain), parsed.writtenPort == nil
            else { return false }
            return parsed.host == host
                || parsed.host.kind == .name && host.kind == .name
                    && host.text.endsWithBytes(of: ".\(parsed.host.text)")
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
