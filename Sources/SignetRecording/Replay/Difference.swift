import SignetBase
import SignetJSON

/// A difference between a recorded message and another one.
public struct Difference: Sendable, Hashable, CustomStringConvertible {
    /// The kinds of differences.
    public enum Kind: String, Sendable, Hashable {
        /// Both have the place, with other values.
        case differs
        /// The recording has the place, the other message doesn't.
        case missing
        /// The other message has the place, the recording doesn't.
        case added
    }

    /// The place, such as `request.body.item` or `response.status`.
    public let place: String
    /// The kind.
    public let kind: Kind
    /// The recorded value, redacted and short; nil if it is absent.
    public let recorded: String?
    /// The other value, redacted and short; nil if it is absent.
    public let found: String?

    init(_ place: String, _ kind: Kind, recorded: String? = nil, found: String? = nil) {
        self.place = place
        self.kind = kind
        self.recorded = recorded.map { printable($0, limit: 80) }
        self.found = found.map { printable($0, limit: 80) }
    }

    /// The place and the kind, without values.
    public var description: String { "\(printable(place, limit: 200)) \(Self.words[kind] ?? "")" }

    private static let words: [Kind: String] = [
        .differs: "differs", .missing: "is missing", .added: "is not in the recording",
    ]
}

/// Compares values as trees.
struct TreeComparison {
    /// How values are compared.
    enum Rule {
        /// Equal, but for marks of redaction in the recording, which equal any value.
        case values
        /// The names of members and the types of values alone.
        case shape
    }

    /// The most differences that are listed.
    static let limit = 100

    let rule: Rule
    private(set) var differences: [Difference] = []

    init(_ rule: Rule) { self.rule = rule }

    mutating func compare(_ recorded: JSONValue, _ found: JSONValue, at place: String) {
        guard differences.count < Self.limit else { return }
        switch (recorded, found) {
        case (.object(let left), .object(let right)): compare(left, right, at: place)
        case (.array(let left), .array(let right)): compare(left, right, at: place)
        case (.string(let text), _) where RedactionMark.occurs(in: text):
            guard rule == .values, let other = found.string else { return }
            if !RedactionMark.matches(text, other) { add(recorded, found, at: place) }
        default:
            let isAlike =
                rule == .values ? recorded == found : recorded.typeName == found.typeName
            if !isAlike { add(recorded, found, at: place) }
        }
    }

    private mutating func add(_ recorded: JSONValue, _ found: JSONValue, at place: String) {
        func shown(_ value: JSONValue) -> String {
            rule == .shape ? value.typeName : value.string ?? value.text
        }
        differences.append(
            Difference(place, .differs, recorded: shown(recorded), found: shown(found)))
    }

    private mutating func compare(
        _ recorded: JSONObject, _ found: JSONObject, at place: String
    ) {
        for (name, value) in recorded {
            guard let other = found[name] else {
                differences.append(
                    Difference("\(place).\(name)", .missing, recorded: value.typeName))
                continue
            }
            compare(value, other, at: "\(place).\(name)")
        }
        for (name, value) in found where recorded[name] == nil {
            differences.append(Difference("\(place).\(name)", .added, found: value.typeName))
        }
    }

    private mutating func compare(
        _ recorded: [JSONValue], _ found: [JSONValue], at place: String
    ) {
        if rule == .shape {
            // Lists may have other lengths; each element has the shape of a recorded one.
            guard !recorded.isEmpty else { return }
            for (index, element) in found.enumerated() {
                let trials = recorded.prefix(100).map { candidate in
                    var trial = TreeComparison(.shape)
                    trial.compare(candidate, element, at: "\(place)[\(index)]")
                    return trial.differences
                }
                let nearest = trials.min { $0.count < $1.count } ?? []
                differences += nearest
                if !nearest.isEmpty { return }
            }
            return
        }
        for index in 0..<max(recorded.count, found.count) {
            let place = "\(place)[\(index)]"
            if index >= found.count {
                differences.append(
                    Difference(place, .missing, recorded: recorded[index].typeName))
            } else if index >= recorded.count {
                differences.append(Difference(place, .added, found: found[index].typeName))
            } else {
                compare(recorded[index], found[index], at: place)
            }
        }
    }
}

extension RedactionMark {
    /// Whether a text has a mark.
    static func occurs(in text: String) -> Bool { !all(in: Array(text.utf8)).isEmpty }

    /// Whether a text is a recorded one with anything in the places of its marks.
    static func matches(_ recorded: String, _ text: String) -> Bool {
        let pattern = Array(recorded.utf8)
        var rest = Array(text.utf8)[...]
        var at = 0
        var isFirst = true
        for mark in all(in: pattern) + [(pattern.count..<pattern.count, 0)] {
            let literal = pattern[at..<mark.range.lowerBound]
            at = mark.range.upperBound
            let isLast = mark.range.isEmpty
            if isFirst {
                guard rest.starts(with: literal) else { return false }
                rest = rest.dropFirst(literal.count)
                if isLast { return rest.isEmpty }
            } else if isLast {
                return rest.count >= literal.count
                    && rest.suffix(literal.count).elementsEqual(literal)
            } else if let found = rest.firstRange(of: literal) {
                rest = rest[found.upperBound...]
            } else {
                return false
            }
            isFirst = false
        }
        return true
    }
}
