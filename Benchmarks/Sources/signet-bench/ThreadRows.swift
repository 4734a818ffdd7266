import CFloor
import Foundation
import Synchronization

/// Two threads that share one signer or verifier, beside one thread with the same work. Each has
/// messages of its own.
///
/// A machine that does other work too gives two threads less than two cores, which says nothing of
/// the library. So `-2-threads` is the best of many short bursts by the wall clock, and
/// `-2-threads-cpu` the median by each thread's own processor time, which sees what threads that run
/// at once cost one another (shared cache lines), but not what they wait for.
enum ThreadRows {
    private static let jobs = SigningJob.all.filter {
        $0.name.hasPrefix("rfc9421") || $0.name.hasPrefix("sigv4")
    }
    static let names = jobs.flatMap { ["\($0.name)-2-threads", "\($0.name)-2-threads-cpu"] }

    static func rows() throws -> [Row] {
        try jobs.flatMap { job in
            let maker = try job.make(1 << 10).ours
            return [
                Row(
                    name: "\(job.name)-2-threads", unit: .perSecond, goal: .ratio(1.8),
                    rounds: 201, statistic: .best,
                    ours: { try burst(2, maker).perSecond },
                    floor: { try burst(1, maker).perSecond }),
                Row(
                    name: "\(job.name)-2-threads-cpu", unit: .perSecond, goal: .ratio(1.8),
                    rounds: 51,
                    ours: { try burst(2, maker).perProcessorSecond },
                    floor: { try burst(1, maker).perProcessorSecond }),
            ]
        }
    }

    private static let runs = 400

    /// What some threads did between the first one's beginning and the last one's end.
    private struct Burst {
        /// Runs of all threads a second of the wall clock.
        var perSecond: Double
        /// Runs a second of its own processor time, of all threads together.
        var perProcessorSecond: Double
    }

    /// One thread's part.
    private struct Part {
        var start: Double
        var end: Double
        var processor: Double
    }

    private final class Gate: Sendable {
        let waiting = Atomic<Int>(0)
        let parts = Mutex<[Result<Part, any Error>]>([])
        let done = DispatchSemaphore(value: 0)
    }

    /// Lets threads begin at once, each with the same number of runs.
    private static func burst(
        _ threads: Int, _ maker: @escaping SigningJob.Maker
    ) throws -> Burst {
        let gate = Gate()
        for _ in 0..<threads {
            Thread.detachNewThread {
                let own = Result { try part(gate, threads, maker) }
                gate.parts.withLock { $0.append(own) }
                gate.done.signal()
            }
        }
        for _ in 0..<threads { gate.done.wait() }
        let parts = try gate.parts.withLock { $0 }.map { try $0.get() }
        let start = parts.map(\.start).min() ?? 0
        let end = parts.map(\.end).max() ?? 0
        return Burst(
            perSecond: Double(threads * runs) / (end - start),
            perProcessorSecond: parts.map { Double(runs) / $0.processor }.reduce(0, +))
    }

    private static func part(
        _ gate: Gate, _ threads: Int, _ maker: SigningJob.Maker
    ) throws -> Part {
        let work = try maker()
        for _ in 0..<20 { try work() }
        gate.waiting.add(1, ordering: .sequentiallyConsistent)
        while gate.waiting.load(ordering: .acquiring) < threads {}
        let processor = floor_thread_seconds()
        let start = floor_wall_seconds()
        for _ in 0..<runs { try work() }
        return Part(
            start: start, end: floor_wall_seconds(), processor: floor_thread_seconds() - processor)
    }
}
