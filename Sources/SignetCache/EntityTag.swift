import HTTPTypes
import SignetBase

/// An entity tag (RFC 9110, section 8.8.3).
struct EntityTag: Sendable, Hashable {
    let isWeak: Bool
    /// The bytes between the quotes.
    let opaque: [UInt8]

    /// Reads the tag at the start of a text and removes it.
    private init?(removingFrom rest: inout ArraySlice<UInt8>) {
        var text = rest
        isWeak = text.starts(with: "W/".utf8)
        if isWeak { text = text.dropFirst(2) }
        guard text.first == ASCII.quote else { return nil }
        text = text.dropFirst()
        opaque = Array(text.prefix { $0 != ASCII.quote })
        text = text.dropFirst(opaque.count)
        guard text.popFirst() == ASCII.quote, opaque.allSatisfy({ $0 > 0x20 && $0 != 0x7F }) else {
            return nil
        }
        rest = text
    }

    /// Reads one tag; nil for another form, such as a tag without quotes.
    init?(_ text: String?) {
        guard let text else { return nil }
        var rest = Array(text.utf8)[...]
        self.init(removingFrom: &rest)
        guard rest.isEmpty else { return nil }
    }

    /// Reads the tags of `If-None-Match`; nil if the list is malformed.
    static func list(_ text: String) -> [EntityTag]? {
        var tags: [EntityTag] = []
        var rest = Array(text.utf8)[...]
        while true {
            rest = rest.drop { $0 == ASCII.comma || $0.isBlank }
            if rest.isEmpty { return tags }
            guard let tag = EntityTag(removingFrom: &rest) else { return nil }
            rest = rest.drop(while: \.isBlank)
            guard rest.isEmpty || rest.first == ASCII.comma else { return nil }
            tags.append(tag)
        }
    }

    /// The weak comparison (section 8.8.3.2).
    func weaklyMatches(_ other: EntityTag) -> Bool { opaque == other.opaque }

    /// The strong comparison: a weak tag matches nothing.
    func stronglyMatches(_ other: EntityTag) -> Bool {
        !isWeak && !other.isWeak && opaque == other.opaque
    }
}

extension UnixTime {
    /// Reads an HTTP date without regard to the case of its letters, as RFC 9111, section 4.2, asks
    /// of a cache.
    static func cacheDate(_ text: String?, now: Int64) -> Int64? {
        guard let text else { return nil }
        if let time = parseHTTPDate(text) { return time }
        let words = text.split(separator: " ", omittingEmptySubsequences: false).map { word in
            word.lowercased() == "gmt" ? "GMT" : capitalized(word)
        }
        return parseHTTPDate(inAnyForm: words.joined(separator: " "), now: now)
    }

    private static func capitalized(_ word: Substring) -> String {
        var bytes: [UInt8] = []
        for byte in word.utf8 {
            let isFirst = bytes.last?.isLetter != true
            bytes.append(isFirst && byte.isLowercaseLetter ? byte & 0xDF : byte)
            if !isFirst { bytes[bytes.count - 1] = byte.lowercased }
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}
