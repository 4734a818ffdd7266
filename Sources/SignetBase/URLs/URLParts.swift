/// An absolute URL, split into its parts (RFC 3986, section 3).
///
/// Code that connects to a URL splits it with this type, so that no two parts of a program can
/// disagree about its host.
package struct URLParts: Sendable, Hashable {
    /// The scheme in lower case; empty if the text starts with `://`.
    package let scheme: String
    /// Everything between `//` and the path, as written: the host, and the port and user info if
    /// there are any.
    package let authority: String
    /// The path, empty or beginning with `/`.
    package let path: String
    /// The query without `?`; nil if the URL has none.
    package let query: String?
    /// The fragment without `#`; nil if the URL has none.
    package let fragment: String?

    /// Splits `SCHEME://AUTHORITY`, followed by an optional path, query and fragment.
    ///
    /// - Throws: `HostError` with code `bad-host` if the first colon doesn't begin `://`, or the
    ///   text has a character that no URL contains. The message repeats nothing of the text.
    package init(parsing text: String) throws(HostError) {
        let bytes = Array(text.utf8)
        if let problem = Self.problem(in: bytes) {
            throw HostError("the URL contains \(problem)")
        }
        guard let colon = bytes.firstIndex(of: UInt8(ascii: ":")),
            bytes[colon...].starts(with: "://".utf8)
        else { throw HostError("the URL has no scheme, expected https://HOST/…") }
        var rest = bytes[(colon + 3)...]
        fragment = Self.cut(&rest, at: UInt8(ascii: "#"))
        query = Self.cut(&rest, at: UInt8(ascii: "?"))
        let slash = rest.firstIndex(of: UInt8(ascii: "/")) ?? rest.endIndex
        scheme = String(decoding: bytes[..<colon], as: UTF8.self).lowercased()
        authority = String(decoding: rest[..<slash], as: UTF8.self)
        path = String(decoding: rest[slash...], as: UTF8.self)
    }

    /// Returns the name of a character that makes a URL malformed, or nil.
    ///
    /// Clients disagree about the host of a URL with a backslash, and some drop tabs and line
    /// breaks before they look for it. Such a URL is never repaired.
    package static func problem(in bytes: some Sequence<UInt8>) -> String? {
        for byte in bytes {
            if byte <= 0x20 || byte == 0x7F { return "a space or a control character" }
            if byte == UInt8(ascii: "\\") { return "a backslash" }
        }
        return nil
    }

    /// Removes the first such byte and everything after it. Returns what followed the byte.
    private static func cut(_ rest: inout ArraySlice<UInt8>, at byte: UInt8) -> String? {
        guard let mark = rest.firstIndex(of: byte) else { return nil }
        defer { rest = rest[..<mark] }
        return String(decoding: rest[(mark + 1)...], as: UTF8.self)
    }
}
