#if Inspector
import FoundationEssentials
import SignetClient
import SignetJSON
import Synchronization

/// Keeps the calls of a running system for the page: those that run, and the records of the last
/// ones that ended.
final class CallLedger: CallObserver {
    /// A call: only its identity while it runs.
    struct Entry: Sendable {
        let identity: CallIdentity
        /// The start in Unix milliseconds.
        let start: Int64
        /// Counts the calls in the order in which they began to be kept.
        let number: Int
        var record: CallRecord?
        /// The contents that are shown; empty while it runs.
        var contents: [StageContents] = []
        /// Counts the changes of the ledger up to the call's last one.
        var revision: Int
        /// About the bytes that it takes.
        var size: Int
    }

    private struct State {
        var entries: [String: Entry] = [:]
        /// The ids in the order in which the calls began, from `first`.
        var order: [String] = []
        var first = 0
        /// Revisions with the ids of the calls that changed, in order.
        var changes: [(revision: Int, id: String)] = []
        var revision = 0
        var size = 0
        var dropped = 0
    }

    private let state = Mutex(State())
    let maximumCalls: Int
    private let maximumBytes: Int
    private let values: ShownValues

    init(maximumCalls: Int, maximumBytes: Int, showing values: ShownValues) {
        self.values = values
        self.maximumCalls = max(maximumCalls, 1)
        self.maximumBytes = maximumBytes
    }

    func receive(_ event: CallEvent) {
        switch event {
        case .started(let identity): put(identity, record: nil)
        case .finished(let record): put(record.identity, record: record)
        default: break
        }
    }

    /// The present time in Unix milliseconds.
    static func now() -> Int64 { Int64(Date().timeIntervalSince1970 * 1000) }

    private func put(_ identity: CallIdentity, record: CallRecord?) {
        let id = "\(identity.id)"
        let now = Self.now()
        var contents = record?.counted.contents ?? []
        // A call that began before the page has none with its secrets.
        if values.keepsSecrets, let everything = record?.everything, !everything.isEmpty {
            contents = everything
        }
        let size = 1024 + contents.reduce(0) { $0 + $1.size }
        state.withLock { state in
            state.revision += 1
            let old = state.entries[id]
            // One that began before the page did has no entry yet.
            let start =
                old?.start ?? now - (record.map { Int64($0.duration / .milliseconds(1)) } ?? 0)
            if old == nil { state.order.append(id) }
            state.entries[id] = Entry(
                identity: identity, start: start,
                number: old?.number ?? state.dropped + state.entries.count + 1, record: record,
                contents: contents, revision: state.revision, size: size)
            state.size += size - (old?.size ?? 0)
            state.changes.append((state.revision, id))
            drop(from: &state)
            // Most entries of the changes are those of calls that have changed since.
            if state.changes.count > 4 * state.entries.count + 1000 {
                state.changes.removeAll { state.entries[$0.id]?.revision != $0.revision }
            }
        }
    }

    private func drop(from state: inout State) {
        while state.entries.count > maximumCalls
            || state.size > maximumBytes && state.entries.count > 1
        {
            let id = state.order[state.first]
            state.first += 1
            if let old = state.entries.removeValue(forKey: id) {
                state.size -= old.size
                state.dropped += 1
            }
        }
        if state.first > 1000, state.first > state.order.count / 2 {
            state.order.removeFirst(state.first)
            state.first = 0
        }
    }

    /// The revision of the last change.
    var revision: Int { state.withLock { $0.revision } }

    /// Calls that changed after a revision, in the order of their last changes.
    struct Changes {
        var entries: [Entry] = []
        /// The revision after which the next ones begin.
        var revision: Int
        /// The number of calls that were dropped, which are the first ones.
        var dropped: Int
    }

    /// Returns calls that changed after a revision.
    ///
    /// - Parameter limit: The most calls.
    func changes(after revision: Int, limit: Int) -> Changes {
        state.withLock { state in
            var (low, high) = (0, state.changes.count)
            while low < high {
                let middle = (low + high) / 2
                if state.changes[middle].revision > revision {
                    high = middle
                } else {
                    low = middle + 1
                }
            }
            var found = Changes(revision: revision, dropped: state.dropped)
            while low < state.changes.count, found.entries.count < limit {
                let change = state.changes[low]
                if let entry = state.entries[change.id], entry.revision == change.revision {
                    found.entries.append(entry)
                }
                found.revision = change.revision
                low += 1
            }
            // The last changes may be those of calls that were dropped since.
            if low == state.changes.count { found.revision = state.revision }
            return found
        }
    }

    /// Returns a call; nil if it isn't kept any longer.
    func entry(_ id: String) -> Entry? { state.withLock { $0.entries[id] } }
}

extension StageContents {
    /// About the bytes of the contents.
    fileprivate var size: Int {
        (before?.size ?? 0) + (after?.size ?? 0) + (base?.text.utf8.count ?? 0)
    }
}

extension StageContents.Message {
    fileprivate var size: Int {
        head.utf8.count + body.utf8.count
            + fields.reduce(0) { $0 + $1.name.utf8.count + $1.value.utf8.count + 32 }
    }
}
#endif
