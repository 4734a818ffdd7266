/// The set of Unicode scalars in a class of a pattern.
struct ScalarSet: Sendable {
    typealias Range = ClosedRange<UInt32>

    /// Sorted and disjoint.
    private(set) var ranges: [Range]
    /// Categories of `\p{…}` (included) and `\P{…}`.
    private(set) var categories: [(category: ScalarCategory, isIncluded: Bool)] = []
    var isNegated = false
    var ignoresCase = false

    init(_ ranges: [Range]) { self.ranges = Self.sorted(ranges) }

    init(_ category: ScalarCategory, isIncluded: Bool) {
        self.ranges = []
        self.categories = [(category, isIncluded)]
    }

    /// Creates the union of sets that aren't negated.
    init(joining sets: [ScalarSet]) {
        self.ranges = Self.sorted(sets.flatMap(\.ranges))
        for category in sets.lazy.flatMap(\.categories)
        where !categories.contains(where: { $0 == category }) {
            categories.append(category)
        }
    }

    /// Returns the set of the scalars outside of the ranges.
    static func complement(_ ranges: [Range]) -> ScalarSet {
        var rest: [Range] = []
        var next: UInt32 = 0
        for range in sorted(ranges) {
            if range.lowerBound > next { rest.append(next...(range.lowerBound - 1)) }
            next = range.upperBound + 1
        }
        if next <= 0x10_ffff { rest.append(next...0x10_ffff) }
        return ScalarSet(rest)
    }

    func contains(_ scalar: Unicode.Scalar) -> Bool {
        var isFound = holds(scalar)
        if !isFound, ignoresCase {
            let properties = scalar.properties
            isFound = [properties.lowercaseMapping, properties.uppercaseMapping].contains {
                $0.unicodeScalars.count == 1 && $0.unicodeScalars.first.map(holds) == true
            }
        }
        return isFound != isNegated
    }

    private func holds(_ scalar: Unicode.Scalar) -> Bool {
        let value = scalar.value
        var (low, high) = (0, ranges.count)
        while low < high {
            let middle = (low + high) / 2
            if ranges[middle].upperBound < value { low = middle + 1 } else { high = middle }
        }
        return low < ranges.count && ranges[low].contains(value)
            || categories.contains { $0.category.contains(scalar) == $0.isIncluded }
    }

    private static func sorted(_ ranges: [Range]) -> [Range] {
        var result: [Range] = []
        for range in ranges.sorted(by: { $0.lowerBound < $1.lowerBound }) {
            guard let last = result.last, range.lowerBound <= last.upperBound + 1 else {
                result.append(range)
                continue
            }
            result[result.count - 1] = last.lowerBound...max(last.upperBound, range.upperBound)
        }
        return result
    }

    static let digits: [Range] = [0x30...0x39]
    static let wordCharacters: [Range] = [0x30...0x39, 0x41...0x5a, 0x5f...0x5f, 0x61...0x7a]
    /// White space and line terminators (ECMA-262, sections 12.2 and 12.3).
    static let spaces: [Range] = [
        0x09...0x0d, 0x20...0x20, 0xa0...0xa0, 0x1680...0x1680, 0x2000...0x200a, 0x2028...0x2029,
        0x202f...0x202f, 0x205f...0x205f, 0x3000...0x3000, 0xfeff...0xfeff,
    ]
    /// Line terminators, which `.` doesn't match.
    static let lineEnds: [Range] = [0x0a...0x0a, 0x0d...0x0d, 0x2028...0x2029]
}

/// A general category of Unicode, named by one or two letters: `L` includes `Lu`, `Ll` and so on.
struct ScalarCategory: Sendable, Equatable {
    private let members: Set<Unicode.GeneralCategory>

    init?(_ name: String) {
        self.members = Set(Self.names.lazy.filter { $0.value.startsWithBytes(of: name) }.map(\.key))
        guard !name.isEmpty, !members.isEmpty else { return nil }
    }

    func contains(_ scalar: Unicode.Scalar) -> Bool {
        members.contains(scalar.properties.generalCategory)
    }

    private static let names: [Unicode.GeneralCategory: String] = [
        .uppercaseLetter: "Lu",
        .lowercaseLetter: "Ll",
        .titlecaseLetter: "Lt",
        .modifierLetter: "Lm",
        .otherLetter: "Lo",
        .nonspacingMark: "Mn",
        .spacingMark: "Mc",
        .enclosingMark: "Me",
        .decimalNumber: "Nd",
        .letterNumber: "Nl",
        .otherNumber: "No",
        .connectorPunctuation: "Pc",
        .dashPunctuation: "Pd",
        .openPunctuation: "Ps",
        .closePunctuation: "Pe",
        .initialPunctuation: "Pi",
        .finalPunctuation: "Pf",
        .otherPunctuation: "Po",
        .mathSymbol: "Sm",
        .currencySymbol: "Sc",
        .modifierSymbol: "Sk",
        .otherSymbol: "So",
        .spaceSeparator: "Zs",
        .lineSeparator: "Zl",
        .paragraphSeparator: "Zp",
        .control: "Cc",
        .format: "Cf",
        .privateUse: "Co",
        .unassigned: "Cn",
    ]
}
