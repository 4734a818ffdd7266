import SignetBase
import SignetJSON

/// Finds what looks like a secret in the entries of a HAR: in their exchanges, in cookies that no
/// field has, and in members that no exchange has, such as comments.
struct HARSecretSearch {
    /// The members that an exchange has, or that are a time, a size or an address.
    private static let read: Set<String> = [
        "request", "response", "_signet", "startedDateTime", "time", "timings", "cache",
        "pageref", "serverIPAddress", "connection",
    ]

    private let marks = RedactionMarks(after: 900_000_000, keeping: .all)
    private let budget: DecodingBudget
    private let redactor: ExchangeRedactor
    private let texts = TextRedactor(judge: SecretJudge(RedactionRules()))

    /// - Parameter budget: The bytes that compressed bodies may have after decompression.
    init(decoding budget: DecodingBudget = DecodingBudget()) {
        self.budget = budget
        redactor = ExchangeRedactor(RedactionRules(), marks: marks, decoding: budget)
    }

    /// Returns the places in an entry, in their order.
    func places(in entry: JSONValue) -> [String] {
        var places: Set<String> = []
        var reader = HAREntryReader(place: "", decoding: budget)
        if let exchange = reader.exchange(entry) {
            // What the exchange has as marks already isn't found again.
            let (known, marks) = (Set(exchange.redactions), exchange.marks)
            for redaction in redactor.redacted(exchange).redactions
            where !known.contains(redaction) && !marks.contains(redaction.mark) {
                places.insert(redaction.place)
            }
        }
        for side in ["request", "response"] {
            let values = (entry[side]?["cookies"]?.array ?? []).compactMap { $0["value"]?.string }
            if values.contains(where: { !$0.isEmpty && RedactionMark.number(of: $0.utf8) == nil }) {
                places.insert("\(side).cookies")
            }
        }
        for (name, value) in entry.object ?? [:] where !Self.read.contains(name) {
            if !self.places(of: value, at: name, named: name).isEmpty { places.insert(name) }
        }
        let (request, response) = (entry["request"], entry["response"])
        let unread = [
            ("request.queryString", request?["queryString"]),
            ("request.postData.params", request?["postData"]?["params"]),
            ("request.comment", request?["comment"]),
            ("response.redirectURL", response?["redirectURL"]),
            ("response.comment", response?["comment"]),
            ("response.content.comment", response?["content"]?["comment"]),
        ]
        for (place, value) in unread {
            guard let value, !self.places(of: value, at: place, named: "").isEmpty else { continue }
            places.insert(place)
        }
        return places.sorted()
    }

    /// Returns the places in a log beside its entries, such as the titles of pages.
    func places(beside log: JSONValue) -> [String] {
        (log.object ?? [:]).filter {
            !["entries", "version", "creator", "_signet"].contains($0.name)
        }
        .flatMap { places(of: $0.value, at: $0.name, named: $0.name) }.sorted()
    }

    /// Returns the places of the texts in a value that look like secrets.
    ///
    /// - Parameter name: The name of the member that has the value.
    private func places(of value: JSONValue, at place: String, named name: String) -> [String] {
        if let object = value.object {
            let pair = object["name"]?.string
            return object.flatMap { member, value in
                places(
                    of: value, at: "\(place).\(member)",
                    named: member == "value" ? pair ?? member : member)
            }
        }
        if let list = value.array {
            return list.enumerated().flatMap { index, value in
                places(of: value, at: "\(place)[\(index)]", named: name)
            }
        }
        guard let text = value.string, RedactionMark.number(of: text.utf8) == nil,
            texts.hasSecret(Array(text.utf8), named: Array(name.utf8), in: RedactionLog(marks))
        else { return [] }
        return [place]
    }
}
