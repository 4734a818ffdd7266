internal import SignetBase
import SignetJSON

extension ValueRule {
    /// A rule that is no rule, and why.
    struct Contradiction: Error {
        let problem: String

        init(_ problem: String) { self.problem = problem }
    }

    /// The members of a rule.
    static let members = [
        "type", "minimum", "maximum", "minLength", "maxLength", "minItems", "maxItems",
        "minProperties", "maxProperties", "pattern", "enum", "items",
    ]

    /// Lists of lists of lists: more is a mistake.
    private static let deepest = 8

    /// Reads a rule; members that are none of a rule are the caller's.
    init(_ object: JSONObject, depth: Int = 0) throws(Contradiction) {
        guard let name = object["type"]?.string, let type = ValueType(rawValue: name) else {
            let known = ValueType.allCases.map(\.rawValue).joined(separator: ", ")
            throw Contradiction("\"type\" must be one of \(known)")
        }
        self.init(type: type)
        self.minimum = try Self.limit(object, "minimum", type)
        self.maximum = try Self.limit(object, "maximum", type)
        if let minimum, let maximum, maximum.isBelow(minimum) {
            throw Contradiction("\"minimum\" is above \"maximum\", so no value fits")
        }
        self.length = try Self.counts(
            object, "minLength", "maxLength", fits: type.hasLength, "string, url and bytes", type)
        let items = try Self.counts(
            object, "minItems", "maxItems", fits: type == .array, "array", type)
        let properties = try Self.counts(
            object, "minProperties", "maxProperties", fits: type == .object, "object", type)
        self.count = items ?? properties
        self.pattern = try Self.pattern(object["pattern"], type)
        self.items = try Self.items(object["items"], type, depth)
        self.allowed = try allowed(object["enum"])
    }

    private static func limit(
        _ object: JSONObject, _ member: String, _ type: ValueType
    ) throws(Contradiction) -> TypedValue? {
        guard let value = object[member] else { return nil }
        guard type.isOrdered else {
            throw Contradiction(
                "\"\(member)\" is for integer, number and duration, not \(type.rawValue)")
        }
        guard let limit = try? TypedValue(value, as: type) else {
            throw Contradiction("\"\(member)\" must be \(type.wanted)")
        }
        return limit
    }

    private static func counts(
        _ object: JSONObject, _ least: String, _ most: String, fits: Bool, _ types: String,
        _ type: ValueType
    ) throws(Contradiction) -> ClosedRange<Int>? {
        func count(_ member: String) throws(Contradiction) -> Int? {
            guard let value = object[member] else { return nil }
            guard fits else {
                throw Contradiction("\"\(member)\" is for \(types), not \(type.rawValue)")
            }
            guard let count = value.number?.integer(Int.self), count >= 0 else {
                throw Contradiction("\"\(member)\" must be a whole number from 0")
            }
            return count
        }
        let from = try count(least)
        let to = try count(most)
        guard from != nil || to != nil else { return nil }
        guard from ?? 0 <= to ?? .max else {
            throw Contradiction("\"\(least)\" is above \"\(most)\", so no value fits")
        }
        return (from ?? 0)...(to ?? .max)
    }

    private static func pattern(
        _ value: JSONValue?, _ type: ValueType
    ) throws(Contradiction) -> ValuePattern? {
        guard let value else { return nil }
        guard type.isMatchable else {
            throw Contradiction("\"pattern\" is for string and url, not \(type.rawValue)")
        }
        guard let text = value.string else { throw Contradiction("\"pattern\" must be a string") }
        do throws(PatternFailure) {
            return try ValuePattern(text)
        } catch {
            throw Contradiction(
                "\"pattern\" is no regular expression that can be matched here: \(error.reason)")
        }
    }

    private static func items(
        _ value: JSONValue?, _ type: ValueType, _ depth: Int
    ) throws(Contradiction) -> Items? {
        guard let value else { return nil }
        guard type == .array || type == .object else {
            throw Contradiction("\"items\" is for array and object, not \(type.rawValue)")
        }
        guard depth < deepest else {
            throw Contradiction("\"items\" is nested more than \(deepest) deep")
        }
        guard let object = value.object else {
            throw Contradiction("\"items\": found \(value.article), wanted an object")
        }
        do throws(Contradiction) {
            if let member = object.unknown(beside: members) {
                throw Contradiction("unknown member \(quoted(member))")
            }
            return Items(try ValueRule(object, depth: depth + 1))
        } catch {
            throw Contradiction("\"items\": \(error.problem)")
        }
    }

    /// The list of values, each of which the rest of the rule must let pass.
    private func allowed(_ value: JSONValue?) throws(Contradiction) -> [TypedValue]? {
        guard let value else { return nil }
        guard let list = value.array, !list.isEmpty else {
            throw Contradiction("\"enum\" must be a list of at least one value")
        }
        var allowed: [TypedValue] = []
        for (index, element) in list.enumerated() {
            let place = "element \(index) of \"enum\""
            let typed: TypedValue
            do throws(Refusal) {
                typed = try checked(element)
            } catch {
                throw Contradiction("\(place): \(error.problem) (\(error.code.name))")
            }
            if allowed.contains(where: { $0.isSame(as: typed) }) {
                throw Contradiction("\(place) repeats an earlier one")
            }
            allowed.append(typed)
        }
        return allowed
    }
}

extension JSONObject {
    /// The first member whose name is none of these.
    func unknown(beside known: [String]) -> String? {
        memberNames.first { name in !known.contains { sameBytes($0, name) } }
    }
}
