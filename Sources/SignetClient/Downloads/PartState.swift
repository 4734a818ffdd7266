import HTTPTypes
import SignetBase
import SignetCrypto
import SignetJSON

/// The notes about a partial download: the digest of its URL, and the validator by which the server
/// recognises the resource.
struct PartState: Sendable, Hashable {
    /// SHA-256 of method and URL, so that no query is written down.
    var source: String
    /// The place that the bytes came from, if a redirect led there, as another such SHA-256.
    var place: String
    /// A strong entity tag, or a Last-Modified that is strong (RFC 9110, section 8.8); nil if the
    /// server sent none; the download then can't be resumed.
    var validator: String?
    /// The length of the whole file, if the server sent it.
    var total: Int64?

    init(source: String, place: String, _ fields: HTTPFields, total: Int64?) {
        self.source = source
        self.place = place
        self.validator = Self.validator(fields)
        self.total = total
    }

    init?(_ bytes: [UInt8]?) {
        guard let bytes, let object = (try? JSONValue(parsing: bytes))?.object,
            let source = object["source"]?.string
        else { return nil }
        self.source = source
        place = object["place"]?.string ?? source
        validator = object["validator"]?.string
        total = object["total"]?.number?.int64
    }

    var serialized: [UInt8] {
        var object: JSONObject = ["source": .string(source)]
        if place != source { object["place"] = .string(place) }
        if let validator { object["validator"] = .string(validator) }
        if let total { object["total"] = .number(JSONNumber(total)) }
        return JSONValue.object(object).serialized()
    }

    /// The strong validator of a response (RFC 9110, section 13.1.5).
    static func validator(_ fields: HTTPFields) -> String? {
        if let tag = fields[.eTag] {
            let bytes = Array(tag.utf8)
            let isStrong =
                bytes.count >= 2 && bytes.first == 0x22 && bytes.last == 0x22
                && !bytes.dropFirst().dropLast().contains(0x22)
            return isStrong ? tag : nil
        }
        // Require a minute between the dates: clocks differ, and a file can change twice within a
        // second.
        func time(_ text: String) -> Int64? {
            UnixTime.parseHTTPDate(inAnyForm: text, now: UnixTime.now())
        }
        guard let text = fields[.lastModified], let changed = time(text),
            let date = fields[.date].flatMap(time), date - changed >= 60
        else { return nil }
        return text
    }
}

/// The contents of a Content-Range field (RFC 9110, section 14.4).
struct ContentRange: Hashable {
    /// Nil in the response to a range that cannot be had (416).
    var range: ClosedRange<Int64>?
    /// The length of the whole file; nil if the server doesn't know it.
    var total: Int64?

    /// Reads `bytes 0-9/100`, `bytes 0-9/*` or `bytes */100`; nil for any other form.
    init?(_ text: String?) {
        // The unit is compared without case (RFC 9110, section 14.1).
        guard let text, text.prefix(6).lowercased() == "bytes " else { return nil }
        let parts = text.dropFirst(6).split(separator: "/", omittingEmptySubsequences: false)
        guard parts.count == 2 else { return nil }
        if parts[1] != "*" {
            guard let total = Self.number(parts[1]) else { return nil }
            self.total = total
        }
        if parts[0] == "*" {
            guard total != nil else { return nil }
            return
        }
        let ends = parts[0].split(separator: "-", omittingEmptySubsequences: false)
        guard ends.count == 2, let first = Self.number(ends[0]), let last = Self.number(ends[1]),
            first <= last, last < total ?? .max
        else { return nil }
        range = first...last
    }

    private static func number(_ text: Substring) -> Int64? {
        guard !text.isEmpty, text.utf8.allSatisfy(\.isDigit) else { return nil }
        return Int64(text)
    }
}
