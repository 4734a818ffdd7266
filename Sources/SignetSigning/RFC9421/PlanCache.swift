internal import Synchronization

/// Lists of components that verified signatures covered, compiled; few, so that looking through them is
/// cheaper than hashing. Reading takes no lock: entries are added at the end and never leave.
final class PlanCache: Sendable {
    private final class Entry: Sendable {
        let plan: CoveragePlan
        let next = AtomicLazyReference<Entry>()

        init(_ plan: CoveragePlan) { self.plan = plan }
    }

    private static let capacity = 16

    private let first = AtomicLazyReference<Entry>()

    /// The plan of the list that stands in a range of a field.
    func plan(of list: Range<Int>, in dictionary: StructuredDictionary) -> CoveragePlan? {
        var entry = first.load()
        while let current = entry {
            if dictionary.isSame(list, as: current.plan.innerList) { return current.plan }
            entry = current.next.load()
        }
        return nil
    }

    /// Keeps a plan, up to a bound; only those who hold a key can fill the room.
    func add(_ plan: CoveragePlan) {
        let added = Entry(plan)
        var entry = first.storeIfNil(added)
        var count = 1
        while entry !== added, count < Self.capacity {
            if entry.plan.innerList == plan.innerList { return }
            entry = entry.next.storeIfNil(added)
            count += 1
        }
    }
}
