import SignetBase
import SignetJSON

/// A finding about a HAR.
public struct RecordingFinding: Sendable, Hashable {
    /// The kinds of findings.
    public enum Code: String, Sendable, Hashable {
        /// A member is missing, or has another type than HAR 1.2 wants.
        case schema
        /// An entry or a body can't be read.
        case unreadable
        /// A value looks like a secret; ``Recording/redacted(by:)`` redacts it.
        case secret
    }

    /// The kind.
    public let code: Code
    /// The place, such as `log.entries[3].request`.
    public let place: String
    /// The words for people: found and expected, without a value.
    public let message: String
}

extension Recording {
    /// Returns the findings about a HAR: what breaks HAR 1.2, what can't be read, and what looks
    /// like a secret.
    ///
    /// - Throws: `RecordingError` with `malformed-recording` if it isn't JSON, or has no
    ///   `log.entries`.
    public static func findings(inHAR bytes: [UInt8]) throws(RecordingError) -> [RecordingFinding] {
        try findings(inHAR: bytes, decoding: DecodingBudget())
    }

    static func findings(
        inHAR bytes: [UInt8], decoding budget: DecodingBudget
    ) throws(RecordingError) -> [RecordingFinding] {
        let document = try Self.document(ofHAR: bytes)
        let recording = try Recording(harDocument: document, decoding: budget)
        var findings: [RecordingFinding] = []
        if bytes.hasByteOrderMark {
            findings.append(
                RecordingFinding(
                    code: .schema, place: "byte 0",
                    message: "found a byte order mark, expected none"))
        }
        var check = HARCheck()
        check.check(document, as: "har", at: "")
        findings += check.findings
        findings += recording.problems.map {
            RecordingFinding(code: .unreadable, place: $0.place, message: $0.message)
        }
        let search = HARSecretSearch(decoding: DecodingBudget(budget.size))
        findings += search.places(beside: document["log"] ?? .null).map { place in
            RecordingFinding(
                code: .secret, place: "log.\(printable(place))",
                message: "found what looks like a secret, expected a mark")
        }
        for (index, entry) in (document["log"]?["entries"]?.array ?? []).enumerated() {
            findings += search.places(in: entry).map { place in
                RecordingFinding(
                    code: .secret, place: "log.entries[\(index)].\(printable(place))",
                    message: "found what looks like a secret, expected a mark")
            }
        }
        return findings
    }
}

/// Compares a document with HAR 1.2: the members that it must have, and their types.
private struct HARCheck {
    private enum Kind {
        case text, number, boolean
        case object(String)
        case list(String)
    }

    private(set) var findings: [RecordingFinding] = []

    private static let required: [String: [(String, Kind)]] = [
        "har": [("log", .object("log"))],
        "log": [
            ("version", .text), ("creator", .object("creator")), ("entries", .list("entry")),
        ],
        "creator": [("name", .text), ("version", .text)],
        "entry": [
            ("startedDateTime", .text), ("time", .number), ("request", .object("request")),
            ("response", .object("response")), ("cache", .object("cache")),
            ("timings", .object("timings")),
        ],
        "request": [
            ("method", .text), ("url", .text), ("httpVersion", .text), ("cookies", .list("cookie")),
            ("headers", .list("pair")), ("queryString", .list("pair")), ("headersSize", .number),
            ("bodySize", .number),
        ],
        "response": [
            ("status", .number), ("statusText", .text), ("httpVersion", .text),
            ("cookies", .list("cookie")), ("headers", .list("pair")),
            ("content", .object("content")),
            ("redirectURL", .text), ("headersSize", .number), ("bodySize", .number),
        ],
        "content": [("size", .number), ("mimeType", .text)],
        "postData": [("mimeType", .text)],
        "pair": [("name", .text), ("value", .text)],
        "cookie": [("name", .text), ("value", .text)],
        "timings": [("send", .number), ("wait", .number), ("receive", .number)],
    ]
    private static let optional: [String: [(String, Kind)]] = [
        "log": [("comment", .text)],
        "entry": [("serverIPAddress", .text), ("connection", .text), ("comment", .text)],
        "request": [("postData", .object("postData")), ("comment", .text)],
        "content": [("text", .text), ("encoding", .text), ("compression", .number)],
        "postData": [("text", .text)],
        "cookie": [
            ("path", .text), ("domain", .text), ("httpOnly", .boolean), ("secure", .boolean),
        ],
        "timings": [
            ("blocked", .number), ("dns", .number), ("connect", .number), ("ssl", .number),
        ],
    ]

    mutating func check(_ value: JSONValue, as name: String, at place: String) {
        guard let object = value.object else {
            return add(place, "found \(value.typeName), expected an object")
        }
        for (member, kind) in Self.required[name] ?? [] {
            let path = place.isEmpty ? member : "\(place).\(member)"
            guard let value = object[member] else {
                add(path, "found no \(member), expected one")
                continue
            }
            check(value, kind, at: path)
        }
        for (member, kind) in Self.optional[name] ?? [] {
            if let value = object[member] { check(value, kind, at: "\(place).\(member)") }
        }
    }

    private mutating func check(_ value: JSONValue, _ kind: Kind, at place: String) {
        switch kind {
        case .text where value.string == nil: add(place, "found \(value.typeName), expected text")
        case .number where value.number == nil:
            add(place, "found \(value.typeName), expected a number")
        case .boolean where value.bool == nil:
            add(place, "found \(value.typeName), expected a boolean")
        case .object(let name): check(value, as: name, at: place)
        case .list(let name):
            guard let elements = value.array else {
                return add(place, "found \(value.typeName), expected an array")
            }
            for (index, element) in elements.enumerated() {
                check(element, as: name, at: "\(place)[\(index)]")
            }
        default: return
        }
    }

    private mutating func add(_ place: String, _ message: String) {
        findings.append(RecordingFinding(code: .schema, place: place, message: message))
    }
}
