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
