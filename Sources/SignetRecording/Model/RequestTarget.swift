import SignetBase

/// The parts of a recorded URL, read tolerantly.
struct RequestTarget {
    /// Scheme, host and port, in lower case, without user info and a default port.
    let origin: String
    let path: String
    /// Without the question mark; empty if there is none.
    let query: ArraySlice<UInt8>
    /// Path and query, as they are sent.
    let target: String

    init(_ url: String) {
        let bytes = Array(url.utf8)
        var rest = bytes[...]
        var origin = ""
        if let range = bytes.firstRange(of: Array("://".utf8)) {
            let scheme = String(
                decoding: bytes[..<range.lowerBound].map(\.lowercased), as: UTF8.self)
            let authority = bytes[range.upperBound...].prefix { !"/?#".utf8.contains($0) }
            rest = bytes[authority.endIndex...]
            let host = authority.lastIndex(of: ASCII.at).map { authority[($0 + 1)...] } ?? authority
            var text = String(decoding: host.map(\.lowercased), as: UTF8.self)
            let port = scheme == "https" ? ":443" : ":80"
            if text.endsWithBytes(of: port) { text = String(text.dropLast(port.utf8.count)) }
            origin = "\(scheme)://\(text)"
        }
        rest = rest.prefix { $0 != UInt8(ascii: "#") }
        let path = rest.prefix { $0 != ASCII.question }
        self.origin = origin
        self.path = path.isEmpty ? "/" : String(decoding: path, as: UTF8.self)
        query = rest[path.endIndex...].dropFirst()
        target = self.path + String(decoding: rest[path.endIndex...], as: UTF8.self)
    }
}
