import Synchronization

/// The contents of a call before and after its stages, written down redacted.
final class ContentsLog: Sendable {
    typealias Message = StageContents.Message

    /// The maximum number of entries of one call, which interceptors may send any number of times.
    private static let limit = 200
    /// The number of the call among those of its service and method.
    let ordinal: Int
    /// The same contents with their secrets; nil unless a page asked for them.
    let everything: ContentsLog?
    private let entries = Mutex<[StageContents]>([])

    /// - Parameter keepsSecrets: Whether the secrets are kept too.
    init(ordinal: Int, keepsSecrets: Bool) {
        self.ordinal = ordinal
        everything = keepsSecrets ? ContentsLog(ordinal: ordinal, keepsSecrets: false) : nil
    }

    /// Creates a log for work that the call of another one shares.
    convenience init(for first: ContentsLog) {
        self.init(ordinal: first.ordinal, keepsSecrets: first.everything != nil)
    }

    var contents: [StageContents] { entries.withLock { $0 } }

    /// Notes what a stage begins with.
    func note(_ stage: CallRecord.Stage.Name, before: Message?) {
        entries.withLock { entries in
            guard entries.count < Self.limit else { return }
            entries.append(StageContents(stage: stage, before: before))
        }
    }

    /// Notes what the stage that began last ends with.
    func note(_ stage: CallRecord.Stage.Name, after: Message, base: SignatureBase?) {
        entries.withLock { entries in
            let index = entries.lastIndex { $0.stage == stage && $0.after == nil }
            guard let index else { return }
            entries[index].after = after
            entries[index].base = base
        }
    }
}

/// Counts the pages of a system that show secrets. Calls that start while there is one keep theirs,
/// unless they run in production.
package final class SecretKeeping: Sendable {
    private let pages = Atomic(0)

    var isOn: Bool { pages.load(ordering: .relaxed) > 0 }

    #if DEBUG
    /// Begins to keep the secrets of calls (`CallRecord.everything`).
    package func begin() { pages.add(1, ordering: .relaxed) }
    #endif

    /// Ends one beginning.
    package func end() { pages.subtract(1, ordering: .relaxed) }
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
