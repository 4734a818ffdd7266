import SignetBase

/// Replaces the secrets of URLs: user info, and what looks secret in path, query and fragment. All
/// else keeps its bytes.
struct URLRedactor {
    /// Redacts the values.
    let texts: any NestedTexts
    private var judge: SecretJudge { texts.judge }

    /// Returns an absolute URL, or a target beginning with `/`, without secrets.
    func redacted(_ url: [UInt8], at place: String, in log: inout RedactionLog) -> [UInt8] {
        var rest = url[...]
        var result: [UInt8] = []
        if let authority = Self.authority(of: rest) {
            result += rest[..<authority.lowerBound]
            var host = rest[authority]
            if let at = host.lastIndex(of: ASCII.at) {
                if at > host.startIndex {
                    _ = log.mark(host[..<at], at: place + ".userinfo")
                }
                host = host[(at + 1)...]
            }
            result +=
                judge.replacingKnown(Array(host), at: place + ".host", in: &log)
            rest = rest[authority.upperBound...]
        }
        let path = rest.prefix { $0 != ASCII.question && $0 != UInt8(ascii: "#") }
        result += self.path(path, after: result, at: place + ".path", in: &log)
        rest = rest[path.endIndex...]
        let query = rest.prefix { $0 != UInt8(ascii: "#") }
        if let mark = query.first {
            result.append(mark)
            result += pairs(query.dropFirst(), at: place + ".query", in: &log)
        }
        let fragment = rest[query.endIndex...]
        if let mark = fragment.first {
            result.append(mark)
            // Also a route with a query of its own: `#/login?token=…`.
            let parts = fragment.dropFirst().split(
                separator: ASCII.question, omittingEmptySubsequences: false)
            for (index, part) in parts.enumerated() {
                if index > 0 { result.append(ASCII.question) }
                result += pairs(part, at: place + ".fragment", in: &log)
            }
        }
        return result
    }

    private func pairs(
        _ text: ArraySlice<UInt8>, at place: String, in log: inout RedactionLog
    ) -> [UInt8] {
        PairsRedactor(texts: texts).redacted(Array(text), at: place, in: &log)
    }

    private static func authority(of url: ArraySlice<UInt8>) -> Range<Int>? {
        guard let colon = url.firstIndex(of: ASCII.colon),
            url[..<colon].allSatisfy({ $0.isLetterOrDigit || "+-.".utf8.contains($0) }),
            url[(colon + 1)...].starts(with: "//".utf8)
        else { return nil }
        let start = colon + 3
        let end = url[start...].firstIndex { "/?#\\".utf8.contains($0) } ?? url.endIndex
        // A password with a slash ends at the last `@` in front of the query.
        let beforeQuery = url[start...].prefix { $0 != ASCII.question }
        if !url[start..<end].contains(ASCII.at), url[start..<end].contains(ASCII.colon),
            let at = beforeQuery.lastIndex(of: ASCII.at),
            !url[start..<end].suffix(while: \.isDigit).startsRight(after: ASCII.colon, in: url)
        {
            return start..<(url[at...].firstIndex { "/?#".utf8.contains($0) } ?? url.endIndex)
        }
        return start..<end
    }

    /// Returns a path without the segments that look secret; as a whole, if it is a webhook's.
    private func path(
        _ path: ArraySlice<UInt8>, after origin: [UInt8], at place: String,
        in log: inout RedactionLog
    ) -> [UInt8] {
        guard path.count > 1 else { return Array(path) }
        let segments = path.split(separator: ASCII.slash, omittingEmptySubsequences: false)
        var result: [UInt8] = []
        for (index, segment) in segments.enumerated() {
            if index > 0 { result.append(ASCII.slash) }
            // A segment may have parameters: `/orders;jsessionid=…`.
            let parts = segment.split(separator: ASCII.semicolon, omittingEmptySubsequences: false)
            for (index, part) in parts.enumerated() {
                if index > 0 { result.append(ASCII.semicolon) }
                result += self.part(part, at: place, in: &log)
            }
        }
        guard !origin.isEmpty, judge.looksSecret(url: origin + result) else { return result }
        return [ASCII.slash] + log.mark(path, at: place).utf8
    }

    private func part(
        _ part: ArraySlice<UInt8>, at place: String, in log: inout RedactionLog
    ) -> [UInt8] {
        if part.contains(ASCII.equals) {
            return PairsRedactor(texts: texts).pair(part, at: place, in: &log)
        }
        var text: [UInt8] = []
        PercentCoding.appendDecoded(part, to: &text)
        guard RedactionMark.number(of: text) == nil, texts.hasSecret(text, named: [], in: log)
        else { return Array(part) }
        return Array(log.mark(text, at: place).utf8)
    }
}

extension ArraySlice<UInt8> {
    /// Whether the slice, not empty, follows a byte: the digits of a port.
    fileprivate func startsRight(after byte: UInt8, in whole: ArraySlice<UInt8>) -> Bool {
        !isEmpty && startIndex > whole.startIndex && whole[startIndex - 1] == byte
    }
}
