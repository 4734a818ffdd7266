import CFloor

/// One row of the table: our work and the floor, timed in turns in the same run.
struct Row {
    /// The unit of the figures.
    enum Unit: String {
        case nanoseconds = "ns"
        case microseconds = "µs"
        case perSecond = "1/s"
        case bytesPerSecond = "B/s"
        case bytes = "B"

        /// Whether smaller is better.
        var isCost: Bool { self == .nanoseconds || self == .microseconds || self == .bytes }
    }

    /// Which of the rounds counts.
    enum Statistic: String {
        case median
        /// Our best time compared with the floor's best.
        case best
        /// Our worst time compared with the floor's worst.
        case worst
    }

    /// The goal: at most this cost, or at least this rate.
    enum Goal {
        /// Of `value ÷ floor`.
        case ratio(Double)
        /// Of `value` itself, in the row's unit.
        case value(Double)
    }

    var name: String
    var unit: Unit
    var goal: Goal
    /// How often the pair is measured.
    var rounds = 15
    var statistic = Statistic.median
    /// The processor time, if the row measures it.
    var processor: ProcessorTime?
    /// Does our work and returns its figure in `unit`.
    var ours: () async throws -> Double
    /// Does the floor's work and returns its figure in `unit`.
    var floor: () async throws -> Double

    func measure() async throws -> Outcome {
        _ = try await ours()
        _ = try await floor()
        processor?.clear()
        var values: [Double] = []
        var floors: [Double] = []
        for round in 0..<rounds {
            if round.isMultiple(of: 2) { values.append(try await ours()) }
            floors.append(try await floor())
            if !round.isMultiple(of: 2) { values.append(try await ours()) }
        }
        if statistic == .median {
            return Outcome(
                row: self, value: median(values), floor: median(floors),
                ratio: median(zip(values, floors).map { $0 / $1 }))
        }
        let takesLeast = unit.isCost == (statistic == .best)
        let value = (takesLeast ? values.min() : values.max()) ?? 0
        let floor = (takesLeast ? floors.min() : floors.max()) ?? 0
        return Outcome(row: self, value: value, floor: floor, ratio: value / floor)
    }
}

/// The result of a row.
struct Outcome {
    var row: Row
    var value: Double
    var floor: Double
    var ratio: Double

    var goal: Double {
        switch row.goal {
        case .ratio(let goal), .value(let goal): goal
        }
    }

    var meetsGoal: Bool {
        let figure =
            switch row.goal {
            case .ratio: ratio
            case .value: value
            }
        return row.unit.isCost ? figure <= goal : figure >= goal
    }
}

/// Microseconds of processor time that one request takes of this process, ours and the floor's.
final class ProcessorTime: @unchecked Sendable {
    private(set) var ours: [Double] = []
    private(set) var floors: [Double] = []

    func clear() { (ours, floors) = ([], []) }

    /// Runs `count` requests and notes what they took of the whole process, all its threads.
    func note<Result>(
        ours isOurs: Bool, _ count: Int, _ work: () async throws -> Result
    ) async rethrows -> Result {
        let start = floor_process_seconds()
        let result = try await work()
        let each = (floor_process_seconds() - start) / Double(count) * 1e6
        if isOurs { ours.append(each) } else { floors.append(each) }
        return result
    }
}

/// The middle of the values; the mean of the two middle ones where their number is even.
func median(_ values: [Double]) -> Double {
    let sorted = values.sorted()
    let middle = sorted.count / 2
    return sorted.count.isMultiple(of: 2)
        ? (sorted[middle - 1] + sorted[middle]) / 2 : sorted[middle]
}

/// Seconds of processor time of this thread that one of `count` runs takes.
func seconds(_ count: Int, _ work: () throws -> Void) rethrows -> Double {
    let start = floor_thread_seconds()
    for _ in 0..<count { try work() }
    return (floor_thread_seconds() - start) / Double(count)
}

/// Microseconds of processor time of the process, all its threads, for one of `total` calls, which so many
/// callers share. Each call gets its number.
func processorTime(
    callers: Int, total: Int, _ call: @escaping @Sendable (Int) async throws -> Void
) async throws -> Double {
    let start = floor_process_seconds()
    try await withThrowingTaskGroup(of: Void.self) { group in
        for worker in 0..<callers {
            group.addTask {
                for number in stride(from: worker, to: total, by: callers) {
                    try await call(number)
                }
            }
        }
        try await group.waitForAll()
    }
    return (floor_process_seconds() - start) / Double(total) * 1e6
}

/// What one run of some work asks of the heap, in bytes, when it is not the first.
func allocatedBytes(_ work: () throws -> Void) rethrows -> Double {
    let runs = 16
    for _ in 0..<runs { try work() }
    let start = floor_allocated_bytes()
    for _ in 0..<runs { try work() }
    return Double(floor_allocated_bytes() - start) / Double(runs)
}

/// A benchmark's own work came to a wrong result, so its time means nothing.
struct WrongResult: Error {
    var what: String
}

/// Refuses to time a job that gives a wrong result.
func require(_ condition: Bool, _ what: String) throws {
    guard condition else { throw WrongResult(what: what) }
}
