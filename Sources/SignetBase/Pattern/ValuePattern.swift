/// A schema's pattern, compiled once; the whole value must match it.
///
/// Values come from others and patterns may too, so matching goes over the text once, whatever the
/// pattern: no repetition within a repetition makes it slow. It goes by Unicode scalars, so that no
/// combining mark hides in a character.
package final class ValuePattern: Sendable {
    enum Instruction: Sendable {
        case scalars(ScalarSet)
        /// Goes on at both places.
        case split(Int, Int)
        case jump(Int)
        case textStart
        case textEnd
        case match
    }

    /// The pattern as the schema has it.
    package let text: String
    let program: [Instruction]

    /// A pattern that needs more has counts that nobody meant.
    private static let mostInstructions = 20_000

    /// Compiles a pattern.
    ///
    /// - Throws: `PatternFailure`, which says what is wrong and where, without repeating the pattern.
    package init(_ text: String) throws(PatternFailure) {
        self.text = text
        var compiler = Compiler()
        try compiler.add(try PatternParser.parse(text))
        try compiler.append(.match)
        self.program = compiler.program
    }

    /// Whether the whole text matches; a text that takes more work than any real value does not.
    package func matches(_ text: String) -> Bool {
        var matcher = PatternMatcher(program: program, isSearch: false)
        return matcher.matches(text)
    }

    /// Whether the pattern matches somewhere in the text; nil where that takes too much work to tell.
    package func isFound(in text: String) -> Bool? {
        var matcher = PatternMatcher(program: program, isSearch: true)
        let isFound = matcher.matches(text)
        return matcher.isExhausted ? nil : isFound
    }

    private struct Compiler {
        var program: [Instruction] = []
        /// Copies of parts that add no instruction count too.
        private var steps = 0

        mutating func append(_ instruction: Instruction) throws(PatternFailure) {
            try step()
            program.append(instruction)
        }

        private mutating func step() throws(PatternFailure) {
            steps += 1
            guard steps <= ValuePattern.mostInstructions else {
                throw PatternFailure(reason: "its counts make it too large")
            }
        }

        mutating func add(_ node: PatternNode) throws(PatternFailure) {
            try step()
            switch node {
            case .empty: break
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
            case .repeated(let node, let least, let most):
                for _ in 0..<least { try add(node) }
                if let most {
                    var splits: [Int] = []
                    for _ in least..<most {
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

/// One match: the places in the program that are reached together are one state, kept with where each
/// scalar leads from it (a lazy deterministic automaton; K. Thompson, CACM 11(6), 1968).
struct PatternMatcher {
    private struct State {
        let places: [Int]
        /// By ASCII scalar: the next state, -1 where it is not known yet.
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
    /// Whether the work went beyond its bound; then nothing matches.
    private(set) var isExhausted = false

    /// Places looked at: a second or two.
    private static let mostWork = 1 << 24
    private static let mostStates = 2000
    private static let mostOthers = 1000

    init(program: [ValuePattern.Instruction], isSearch: Bool) {
        self.program = program
        self.isSearch = isSearch
        self.marks = [Int](repeating: 0, count: program.count)
    }

    mutating func matches(_ text: String) -> Bool {
        var state = number(of: closure([0], atStart: true, atEnd: false))
        for scalar in text.unicodeScalars {
            if isSearch, states[state].holdsMatch { return true }
            if !isSearch, states[state].places.isEmpty { return false }
            state = step(state, scalar)
            if isExhausted { return false }
        }
        return closure(states[state].places, atStart: text.isEmpty, atEnd: true)
            .contains { if case .match = program[$0] { true } else { false } }
    }

    private mutating func step(_ state: Int, _ scalar: Unicode.Scalar) -> Int {
        let value = scalar.value
        if value < 128 {
            let known = states[state].next[Int(value)]
            if known >= 0 { return known }
        } else if let known = states[state].others[value] {
            return known
        }
        var reached: [Int] = []
        for place in states[state].places {
            work += 1
            if case .scalars(let set) = program[place], set.contains(scalar) {
                reached.append(place + 1)
            }
        }
        if isSearch { reached.append(0) }
        let places = closure(reached, atStart: false, atEnd: false)
        if work > Self.mostWork { isExhausted = true }
        if states.count >= Self.mostStates {
            // Begins to collect anew; what was learnt is lost, not what is true.
            states.removeAll(keepingCapacity: true)
            numbers.removeAll(keepingCapacity: true)
            return number(of: places)
        }
        let next = number(of: places)
        if value < 128 {
            states[state].next[Int(value)] = next
        } else if states[state].others.count < Self.mostOthers {
            states[state].others[value] = next
        }
        return next
    }

    private mutating func number(of places: [Int]) -> Int {
        if let number = numbers[places] { return number }
        let number = states.count
        numbers[places] = number
        let holdsMatch = places.contains {
            if case .match = program[$0] { true } else { false }
        }
        states.append(State(places: places, holdsMatch: holdsMatch))
        return number
    }

    /// The places that are reached without a scalar, in order, of those that wait for something.
    private mutating func closure(_ places: [Int], atStart: Bool, atEnd: Bool) -> [Int] {
        round += 1
        var reached: [Int] = []
        var open = places
        while let place = open.popLast() {
            guard marks[place] != round else { continue }
            marks[place] = round
            work += 1
            switch program[place] {
            case .jump(let target): open.append(target)
            case .split(let left, let right):
                open.append(right)
                open.append(left)
            case .textStart: if atStart { open.append(place + 1) }
            case .textEnd:
                reached.append(place)
                if atEnd { open.append(place + 1) }
            case .scalars, .match: reached.append(place)
            }
        }
        return reached.sorted()
    }
}
