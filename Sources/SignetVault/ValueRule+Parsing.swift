import SignetBase
import SignetJSON

extension ValueRule {
    /// The reason that a rule is invalid.
    struct InvalidRule: Error {
        let problem: String

        init(_ problem: String) { self.problem = problem }
    }

    /// The members of a rule that only some types have.
    private static let limits: [(members: [String], types: [ValueType])] = [
        (["minimum", "maximum"], [.integer, .number, .duration]),
        (["minLength", "maxLength"], [.string, .url, .bytes]),
        (["minItems", "maxItems"], [.array]),
        (["minProperties", "maxProperties"], [.object]),
        (["pattern"], [.string, .url]),
        (["items"], [.array, .object]),
    ]

    /// The members of a rule.
    static let members = ["type", "enum"] + limits.flatMap(\.members)

    /// The maximum depth of `items` in `items`.
    private static let maximumDepth = 8

    /// Reads a rule. Ignores members that aren't in `members`.
    init(_ object: JSONObject, depth: Int = 0) throws(InvalidRule) {
        guard let name = object["type"]?.string, let type = ValueType(rawValue: name) else {
            let known = ValueType.allCases.map(\.rawValue).joined(separator: ", ")
            throw InvalidRule(
                Self.listAdvice(object["type"]) ?? "\"type\" must be one of \(known)")
        }
        for (members, types) in Self.limits where !types.contains(type) {
            guard let member = members.first(where: { object[$0] != nil }) else { continue }
            let names = types.map(\.rawValue)
            let first = names.dropLast().joined(separator: ", ")
            let list = first.isEmpty ? names[0] : "\(first) and \(names[names.count - 1])"
            throw InvalidRule("\"\(member)\" is for \(list), not \(type.rawValue)")
        }
        self.init(type: type)
        self.minimum = try Self.limit("minimum", in: object, type: type)
        self.maximum = try Self.limit("maximum", in: object, type: type)
        if let minimum, let maximum, maximum.isBelow(minimum) {
            throw InvalidRule("\"minimum\" is above \"maximum\", so no value fits")
        }
        self.length = try Self.counts(from: "minLength", to: "maxLength", in: object)
        let isList = type == .array
        self.count = try Self.counts(
            from: isList ? "minItems" : "minProperties",
            to: isList ? "maxItems" : "maxProperties", in: object)
        self.pattern = try Self.pattern(object["pattern"])
        self.items = try Self.items(object["items"], depth: depth)
        self.allowed = try allowed(object["enum"])
    }

    /// Returns how to write a type such as `array of string`, which lists of keys print; nil for
    /// other texts.
    private static func listAdvice(_ type: JSONValue?) -> String? {
        let words = type?.string?.split(separator: " ").map(String.init) ?? []
        guard words.count == 3, words[1] == "of", let outer = ValueType(rawValue: words[0]),
            outer == .array || outer == .object, let inner = ValueType(rawValue: words[2])
        else { return nil }
        return "found \"type\":\"\(outer.rawValue) of \(inner.rawValue)\", expected "
            + "\"type\":\"\(outer.rawValue)\",\(itemsExample(inner))"
    }

    private static func itemsExample(_ type: ValueType) -> String {
        "\"items\":{\"type\":\"\(type.rawValue)\"}"
    }

    private static func limit(
        _ member: String, in object: JSONObject, type: ValueType
    ) throws(InvalidRule) -> TypedValue? {
        guard let value = object[member] else { return nil }
        guard let limit = try? TypedValue(value, as: type) else {
            throw InvalidRule("\"\(member)\" must be \(type.expectation)")
        }
        return limit
    }

    private static func counts(
        from least: String, to most: String, in object: JSONObject
    ) throws(InvalidRule) -> ClosedRange<Int>? {
        func count(_ member: String) throws(InvalidRule) -> Int? {
            guard let value = object[member] else { return nil }
            guard let count = value.number?.integer(Int.self), count >= 0 else {
                throw InvalidRule("\"\(member)\" must be a whole number of at least 0")
            }
            return count
        }
        let from = try count(least)
        let to = try count(most)
        guard from != nil || to != nil else { return nil }
        guard from ?? 0 <= to ?? .max else {
            throw InvalidRule("\"\(least)\" is above \"\(most)\", so no value fits")
        }
        return (from ?? 0)...(to ?? .max)
    }

    private static func pattern(_ value: JSONValue?) throws(InvalidRule) -> ValuePattern? {
        guard let value else { return nil }
        guard let text = value.string else { throw InvalidRule("\"pattern\" must be a string") }
        do {
            return try ValuePattern(text)
        } catch {
            throw InvalidRule("\"pattern\" is not a supported regular expression: \(error.reason)")
        }
    }

    private static func items(_ value: JSONValue?, depth: Int) throws(InvalidRule) -> Items? {
        guard let value else { return nil }
        guard depth < maximumDepth else {
            throw InvalidRule("\"items\" is nested more than \(maximumDepth) deep")
        }
        guard let object = value.object else {
            let example = value.string.flatMap(ValueType.init).map {
                ", such as \(itemsExample($0))"
            }
            throw InvalidRule(
                "\"items\": found \(value.article), expected an object" + (example ?? ""))
        }
        do throws(InvalidRule) {
            if let member = object.unknown(beside: members) {
                throw InvalidRule("unknown member \(quoted(member))")
            }
            return Items(try ValueRule(object, depth: depth + 1))
        } catch {
            throw InvalidRule("\"items\": \(error.problem)")
        }
    }

    /// Reads the list of allowed values. Each must pass the rest of the rule.
    private func allowed(_ value: JSONValue?) throws(InvalidRule) -> [TypedValue]? {
        guard let value else { return nil }
        guard let list = value.array, !list.isEmpty else {
            throw InvalidRule("\"enum\" must be a list of at least one value")
        }
        var allowed: [TypedValue] = []
        for (index, element) in list.enumerated() {
            let place = "element \(index) of \"enum\""
            let typed: TypedValue
            do throws(Refusal) {
                typed = try checked(element)
            } catch {
                throw InvalidRule("\(place): \(error.problem) (\(error.code.name))")
            }
            if allowed.contains(where: { $0.isSame(as: typed) }) {
                throw InvalidRule("\(place) repeats an earlier one")
            }
            allowed.append(typed)
        }
        return allowed
    }
}

extension JSONObject {
    /// Returns the first member whose name isn't one of these.
    func unknown(beside known: [String]) -> String? {
        memberNames.first { name in !known.contains { sameBytes($0, name) } }
    }
}
