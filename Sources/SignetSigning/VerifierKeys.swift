internal import SignetCrypto
internal import Synchronization

/// The key set of a verifier, which may be exchanged while others read it.
///
/// Readers are parted by thread: each stripe has a reference of its own behind a lock of its own, so that
/// they wait for one another only where two threads share a stripe.
final class VerifierKeys: Sendable {
    /// A key set with its keys as a scheme's document uses them.
    final class Table: Sendable {
        let set: KeySet
        private let prepared: [ObjectIdentifier: Prepared]

        fileprivate init(set: KeySet, prepared: [ObjectIdentifier: Prepared]) {
            self.set = set
            self.prepared = prepared
        }

        /// The key as the scheme uses it, made once for a key of this set.
        func schemeKey(_ key: Key, _ plan: SchemePlan) throws(SigningError) -> SchemeKey {
            // A key of the set before is made for this once.
            guard let place = prepared[ObjectIdentifier(key)] else {
                return try SchemeKey(key, plan)
            }
            if let known = place.key.load() { return known }
            return place.key.storeIfNil(try SchemeKey(key, plan))
        }
    }

    fileprivate final class Prepared: Sendable {
        let key = AtomicLazyReference<SchemeKey>()
    }

    private final class Stripe: Sendable {
        let table: Mutex<Table>

        init(_ table: Table) { self.table = Mutex(table) }
    }

    private let stripes: [Stripe]
    /// One who replaces them at a time.
    private let replacing = Mutex<Void>(())

    init(_ set: KeySet) {
        stripes = Self.tables(of: set).map { Stripe($0) }
    }

    /// What this thread reads now.
    var current: Table {
        stripes[ThreadStripe.index(of: stripes.count)].table.withLock { $0 }
    }

    /// Puts another set in the place of the one that is there. Whoever asks after this gets it.
    func replace(with set: KeySet) {
        let tables = Self.tables(of: set)
        replacing.withLock { _ in
            for (stripe, table) in zip(stripes, tables) { stripe.table.withLock { $0 = table } }
        }
    }

    /// A table for each stripe, so that threads do not count references on one object.
    private static func tables(of set: KeySet) -> [Table] {
        let prepared = Dictionary(
            set.keys.map { (ObjectIdentifier($0), Prepared()) },
            uniquingKeysWith: { first, _ in first })
        return (0..<8).map { _ in Table(set: set, prepared: prepared) }
    }
}
