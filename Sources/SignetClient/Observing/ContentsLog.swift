import Synchronization

/// The contents of a call before and after its stages, written down redacted.
final class ContentsLog: Sendable {
    typealias Message = StageContents.Message

    /// The maximum number of entries of one call, which interceptors may send any number of times.
    private static let limit = 200
    /// The number of the call among those of its service and method.
    let ordinal: Int
    private let entries = Mutex<[StageContents]>([])

    init(ordinal: Int) { self.ordinal = ordinal }

    var contents: [StageContents] { entries.withLock { $0 } }

    /// Notes what a stage begins with.
    func begin(_ stage: CallRecord.Stage.Name, with before: Message?) {
        entries.withLock { entries in
            guard entries.count < Self.limit else { return }
            entries.append(StageContents(stage: stage, before: before))
        }
    }

    /// Notes what the stage that began last ends with.
    func end(_ stage: CallRecord.Stage.Name, with after: Message, base: SignatureBase? = nil) {
        entries.withLock { entries in
            let index = entries.lastIndex { $0.stage == stage && $0.after == nil }
            guard let index else { return }
            entries[index].after = after
            entries[index].base = base
        }
    }
}

/// Numbers the calls of each service and method.
final class CallOrdinals: Sendable {
    private struct Kind: Hashable {
        let service: ServiceName
        let method: String
    }

    private let counts = Mutex<[Kind: Int]>([:])

    func next(of service: ServiceName, _ method: String) -> Int {
        counts.withLock { counts in
            counts[Kind(service: service, method: method), default: 0] += 1
            return counts[Kind(service: service, method: method)] ?? 1
        }
    }
}
