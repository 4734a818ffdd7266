import SignetBase

/// Replaces the secrets of URLs: user info, and what looks secret in path, query and fragment.
struct URLRedactor {
    let judge: SecretJudge

    /// Returns an absolute URL, or a target beginning with `/`, without secrets.
    func redacted(_ url: String, at place: String, in log: inout RedactionLog) -> String {
        var rest = Array(url.utf8)[...]
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
                judge.replacingKnown(Array(host), at: place + ".host", in: &log) ?? Array(host)
            rest = rest[authority.upperBound...]
        }
        let path = rest.prefix { $0 != ASCII.question && $0 != UInt8(ascii: "#") }
        result += self.path(path, after: result, at: place + ".path", in: &log)
        rest = rest[path.endIndex...]
        let query = rest.prefix { $0 != UInt8(ascii: "#") }
        if let mark = query.first {
            result.append(mark)
            result += pairs(Array(query.dropFirst()), at: place + ".query", in: &log)
        }
        let fragment = rest[query.endIndex...]
        if let mark = fragment.first {
            result.append(mark)
            result += pairs(Array(fragment.dropFirst()), at: place + ".fragment", in: &log)
        }
        return String(decoding: result, as: UTF8.self)
    }

    private static func authority(of url: ArraySlice<UInt8>) -> Range<Int>? {
        guard let colon = url.firstIndex(of: ASCII.colon),
            url[..<colon].allSatisfy({ $0.isLetterOrDigit || "+-.".utf8.contains($0) }),
            url[(colon + 1)...].starts(with: "//".utf8)
        else { return nil }
        let start = colon + 3
        let end = url[start...].firstIndex { "/?#\\".utf8.contains($0) } ?? url.endIndex
        // A password with a slash ends behind the last `@` in front of the query.
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
        let segments = path.split(separator: ASCII.slash, omittingEmptySubsequences: false).map {
            segment -> [UInt8] in
            let text = PercentCoding.decoded(segment) ?? Array(segment)
            return judge.redacted(text, named: [], at: place, in: &log) ?? Array(segment)
        }
        let result = Array(segments.joined(separator: [ASCII.slash]))
        guard !origin.isEmpty, judge.looksSecret(text: origin + result) else { return result }
        return [ASCII.slash] + log.mark(path, at: place).utf8
    }

    /// Returns the pairs of a query or a form without values that look secret.
    func pairs(_ text: [UInt8], at place: String, in log: inout RedactionLog) -> [UInt8] {
        guard !text.isEmpty else { return text }
        let pairs = text.split(separator: UInt8(ascii: "&"), omittingEmptySubsequences: false)
        let names = pairs.map { Self.decoded($0.prefix { $0 != ASCII.equals }) }
        let isGrant = names.contains { name in
            ["grant_type", "state", "client_id"].contains { name.elementsEqual($0.utf8) }
        }
        var result: [UInt8] = []
        for (index, pair) in pairs.enumerated() {
            if index > 0 { result.append(UInt8(ascii: "&")) }
            let name = pair.prefix { $0 != ASCII.equals }
            guard name.count < pair.count else {
                let text = Self.decoded(pair)
                result += judge.redacted(text, named: [], at: place, in: &log) ?? Array(pair)
                continue
            }
            let shown = String(decoding: names[index], as: UTF8.self)
            let encoded = pair[(name.endIndex + 1)...]
            let value = Self.decoded(encoded)
            if judge.isSecret(name: names[index]) {
                result += log.mark(pair, at: place).utf8
                continue
            }
            result += name + [ASCII.equals]
            if isGrant, names[index].elementsEqual("code".utf8), !value.isEmpty {
                result += log.mark(value, at: "\(place).\(shown)").utf8
            } else if let redacted = judge.redacted(
                value, named: names[index], at: "\(place).\(shown)", in: &log)
            {
                PercentCoding.append(redacted[...], keeping: PercentCoding.unreserved, to: &result)
            } else {
                result += encoded
            }
        }
        return result
    }

    private static func decoded(_ text: some Collection<UInt8>) -> [UInt8] {
        let bytes = Array(text)
        return PercentCoding.decoded(bytes[...], plusIsSpace: true) ?? bytes
    }
}

extension ArraySlice<UInt8> {
    /// Whether the slice, not empty, follows a byte: the digits of a port.
    fileprivate func startsRight(after byte: UInt8, in whole: ArraySlice<UInt8>) -> Bool {
        !isEmpty && startIndex > whole.startIndex && whole[startIndex - 1] == byte
    }
}
