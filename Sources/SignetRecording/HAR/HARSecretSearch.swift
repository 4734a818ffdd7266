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
    private let redactor: ExchangeRedactor
    private let texts = TextRedactor(judge: SecretJudge(RedactionRules()))

    init() { redactor = ExchangeRedactor(RedactionRules(), marks: marks) }

    /// Returns the places in an entry, in their order.
    func places(in entry: JSONValue) -> [String] {
        var places: Set<String> = []
        var reader = HAREntryReader(place: "")
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
            let bytes = value.string.map { Array($0.utf8) } ?? value.serialized()
            if texts.hasSecret(bytes, named: Array(name.utf8), in: RedactionLog(marks)) {
                places.insert(name)
            }
        }
        return places.sorted()
    }
}
