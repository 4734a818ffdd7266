/// A compiled pattern of a schema. The whole value must match it.
///
/// Values and patterns may be untrusted, so matching reads the text once for any pattern: nested
/// repetitions don't make it slow. It compares Unicode scalars, so that a character can't hide a
/// combining mark.
package final class ValuePattern: Sendable {
    enum Instruction: Sendable {
        case scalars(ScalarSet)
        /// Continues at both positions.
        case split(Int, Int)
        case jump(Int)
        case textStart
        case textEnd
        case match
    }

    /// The pattern as written in the schema.
    package let text: String
    let program: [Instruction]

    /// The maximum length of a program. Only unreasonable counts need more.
    private static let instructionLimit = 20_000

    /// Compiles a pattern.
    ///
    /// - Throws: `PatternFailure`, which says what is wrong and where, without repeating the
    ///   pattern.
    package init(_ text: String) throws(PatternFailure) {
        self.text = text
        var compiler = Compiler()
        try compiler.add(try PatternParser.parse(text))
        try compiler.append(.match)
        self.program = compiler.program
    }

    /// Returns whether the whole text matches. Returns false if that takes more work than a
    /// realistic value needs.
    package func matches(_ text: String) -> Bool {
        var matcher = PatternMatcher(program: program, isSearch: false)
        return matcher.matches(text)
    }

    /// Returns whether the pattern matches somewhere in the text, or nil if that takes too much
    /// work.
    package func isFound(in text: String) -> Bool? {
        var matcher = PatternMatcher(program: program, isSearch: true)
        let isFound = matcher.matches(text)
        return matcher.isExhausted ? nil : isFound
    }

    private struct Compiler {
        var program: [Instruction] = []
        /// The number of compiled nodes and instructions. Copied nodes count even if they add no
        /// instruction.
        private var steps = 0

        mutating func append(_ instruction: Instruction) throws(PatternFailure) {
            try step()
            program.append(instruction)
        }

        private mutating func step() throws(PatternFailure) {
            steps += 1
            guard steps <= ValuePattern.instructionLimit else {
                throw PatternFailure(reason: "the counts make it too large")
            }
        }

        mutating func add(_ node: PatternNode) throws(PatternFailure) {
            try step()
            switch node {
            case .scalars(let set): try append(.scalars(set))
            case .textStart: try append(.textStart)
            case .textEnd: try append(.textEnd)
            case .sequence(let nodes): for node in nodes { try add(node) }
            case .choice(let branches):
                var ends: [Int] = []
                for branch in branches.dropLast() {
                    let split = program.count
                    try append(.split(split + 1, split + 1))
                    try add(branch)
                    ends.append(program.count)
                    try append(.jump(0))
                    program[split] = .split(split + 1, program.count)
                }
                if let last = branches.last { try add(last) }
                for end in ends { program[end] = .jump(program.count) }
            case .repeated(let node, let minimum, let maximum):
                for _ in 0..<minimum { try add(node) }
                if let maximum {
                    var splits: [Int] = []
                    for _ in minimum..<maximum {
                        splits.append(program.count)
                        try append(.split(0, 0))
                        try add(node)
                    }
                    for split in splits { program[split] = .split(split + 1, program.count) }
                } else {
                    let split = program.count
                    try append(.split(0, 0))
                    try add(node)
                    try append(.jump(split))
                    program[split] = .split(split + 1, program.count)
                }
            }
        }
    }
}

/// Matches one text with a lazy deterministic automaton (K. Thompson, CACM 11(6), 1968). A state is
/// the set of positions in the program that are reached together. Each state caches the next state
/// for each scalar.
struct PatternMatcher {
    private struct State {
        let positions: [Int]
        /// The next state for each ASCII scalar, or -1 if it's not known yet.
        var next = [Int](repeating: -1, count: 128)
        var others: [UInt32: Int] = [:]
        let holdsMatch: Bool
    }

    private let program: [ValuePattern.Instruction]
    private let isSearch: Bool
    private var states: [State] = []
    private var numbers: [[Int]: Int] = [:]
    private var marks: [Int]
    private var round = 0
    private var work = 0
    /// Whether the work exceeded its limit; then nothing matches.
    private(set) var isExhausted = false

    /// The maximum number of visited positions, about one or two seconds.
    private static let workLimit = 1 << 24
    private static let stateLimit = 2000
    private static let otherLimit = 1000

    init(program: [ValuePattern.Instruction], isSearch: Bool) {
        self.program = program
        self.isSearch = isSearch
        self.marks = [Int](repeating: 0, count: program.count)
    }

    mutating func matches(_ text: String) -> Bool {
        var state = number(of: closure([0], atStart: true, atEnd: false))
        for scalar in text.unicodeScalars {
            if isSearch, states[state].holdsMatch { return true }
            if !isSearch, states[state].positions.isEmpty { return false }
            state = self.state(after: state, reading: scalar)
            if isExhausted { return false }
        }
        return holdsMatch(closure(states[state].positions, atStart: text.isEmpty, atEnd: true))
    }

    private mutating func state(after state: Int, reading scalar: Unicode.Scalar) -> Int {
        let value = scalar.value
        if value < 128 {
            let known = states[state].next[Int(value)]
            if known >= 0 { return known }
        } else if let known = states[state].others[value] {
            return known
        }
        var reached: [Int] = []
        for position in states[state].positions {
            work += 1
            if case .scalars(let set) = program[position], set.contains(scalar) {
                reached.append(position + 1)
            }
        }
        if isSearch { reached.append(0) }
        let positions = closure(reached, atStart: false, atEnd: false)
        if work > Self.workLimit { isExhausted = true }
        if states.count >= Self.stateLimit {
            // Clear the cache. Its states can be computed again.
            states.removeAll(keepingCapacity: true)
            numbers.removeAll(keepingCapacity: true)
            return number(of: positions)
        }
        let next = number(of: positions)
        if value < 128 {
            states[state].next[Int(value)] = next
        } else if states[state].others.count < Self.otherLimit {
            states[state].others[value] = next
        }
        return next
    }

    private mutating func number(of positions: [Int]) -> Int {
        if let number = numbers[positions] { return number }
        let number = states.count
        numbers[positions] = number
        states.append(State(positions: positions, holdsMatch: holdsMatch(positions)))
        return number
    }

    private func holdsMatch(_ positions: [Int]) -> Bool {
        positions.contains { if case .match = program[$0] { true } else { false } }
    }

    /// Returns the positions that are reached without reading a scalar and that wait for one, in
    /// order.
    private mutating func closure(_ positions: [Int], atStart: Bool, atEnd: Bool) -> [Int] {
        round += 1
        var reached: [Int] = []
        var open = positions
        while let position = open.popLast() {
            guard marks[position] != round else { continue }
            marks[position] = round
            work += 1
            switch program[position] {
            case .jump(let target): open.append(target)
            case .split(let left, let right):
                open.append(right)
                open.append(left)
            case .textStart: if atStart { open.append(position + 1) }
            case .textEnd:
                reached.append(position)
                if atEnd { open.append(position + 1) }
            case .scalars, .match: reached.append(position)
            }
        }
        return reached.sorted()
    }
}
