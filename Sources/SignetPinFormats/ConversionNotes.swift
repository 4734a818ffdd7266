import SignetBase
import SignetPinning

/// The notes of a conversion, without duplicates.
struct ConversionNotes {
    private(set) var lines: [String] = []
    private var known: Set<String> = []

    mutating func add(_ text: String) {
        let line = printable(text)
        if known.insert(line).inserted { lines.append(line) }
    }

    /// Adds a note about a date that a format can't enforce.
    mutating func addExpiry(of rule: PinRule, in format: String) {
        guard let date = rule.expires else { return }
        add(
            "\(rule.pattern): the date \(date.text) is left out: "
                + (rule.afterExpiry == .refuse
                    ? "\(format) can't refuse a host after a date" : "\(format) has no dates")
                + "; the pins apply until they are changed")
    }

    /// Adds a note that a format's pins expire at the start of a day, and the policy's at its end.
    mutating func addNoteForMissingTime(_ day: String, of host: String, in format: String) {
        add("\(host): \(format)'s pins expire at the start of \(day), the policy's at its end")
    }

    mutating func addUnlisted(in format: String) {
        add(
            "\(format) allows hosts that aren't listed; this policy refuses them, unless you set"
                + " \"unlisted\":\"allow\"")
    }
}

extension [Pin] {
    /// The pins in the same order, each once.
    var withoutDuplicates: [Pin] {
        var known: Set<Pin> = []
        return filter { known.insert($0).inserted }
    }
}

extension PinRule {
    /// Whether the rule covers all names below its host. For a format whose rules cover either the
    /// host alone, or the host and all names below it.
    ///
    /// - Throws: `PinError` with code `not-expressible` for a `*.` pattern.
    func includesBelow(in format: String) throws(PinError) -> Bool {
        switch pattern.scope {
        case .exact: return includesSubdomains
        case .anyDepth: return true
        case .oneLabel:
            throw PinError(
                .notExpressible,
                "\(format) can't express \(pattern) (one label): list the hosts, or use **.")
        }
    }
}
