/// Signing and verifying a POST, beside its digests and MACs with contexts made beforehand.
///
/// Each job is measured with a body of 1 KiB, and of 100 KiB (`-100k`), where the digest is nearly all.
/// `-bytes` is what one run asks of the heap with the large body beside the small one: bodies are
/// never copied, so the two must be the same.
enum SigningRows {
    static let names = SigningJob.all.flatMap { job in
        [job.name, job.name + "-100k", job.name + "-bytes"]
    }

    static func rows() throws -> [Row] {
        try SigningJob.all.flatMap { job in
            let small = try work(job, 1 << 10)
            let large = try work(job, 100 << 10)
            return [
                time(job.name, job, small, count: 2000),
                time(job.name + "-100k", job, large, count: 100),
                Row(
                    name: job.name + "-bytes", unit: .bytes, goal: .ratio(1), rounds: 3,
                    ours: { try allocatedBytes(large.ours) },
                    floor: { try allocatedBytes(small.ours) }),
            ]
        }
    }

    private typealias Pair = (ours: SigningJob.Work, floor: SigningJob.Work)

    private static func work(_ job: SigningJob, _ size: Int) throws -> Pair {
        let made = try job.make(size)
        return (try made.ours(), made.floor)
    }

    private static func time(
        _ name: String, _ job: SigningJob, _ work: Pair, count: Int
    ) -> Row {
        Row(
            name: name, unit: .microseconds, goal: .ratio(job.goal),
            ours: { try seconds(count, work.ours) * 1e6 },
            floor: { try seconds(count, work.floor) * 1e6 })
    }
}
