internal import SignetCrypto
internal import SignetSystem
internal import Synchronization

/// The key set of a verifier. It can be replaced while other threads read it.
///
/// Each thread uses one of several stripes, each with its own lock and reference, so that threads
/// wait for one another only if they share a stripe.
final class VerifierKeys: Sendable {
    /// A key set, and its keys as prepared for a scheme document.
    final class Table: Sendable {
        let set: KeySet
        private let prepared: [ObjectIdentifier: Prepared]

        fileprivate init(set: KeySet, prepared: [ObjectIdentifier: Prepared]) {
            self.set = set
            self.prepared = prepared
        }

        /// Returns the key as prepared for the scheme. Prepares each key of this set once.
        func schemeKey(_ key: Key, for scheme: CompiledScheme) throws(SigningError) -> SchemeKey {
            // The key is from a replaced set.
            guard let place = prepared[ObjectIdentifier(key)] else {
                return try SchemeKey(key, for: scheme)
            }
            if let known = place.key.load() { return known }
            return place.key.storeIfNil(try SchemeKey(key, for: scheme))
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
    /// Allows one replacement at a time.
    private let replacing = Mutex<Void>(())

    init(_ set: KeySet) {
        stripes = Self.tables(of: set).map { Stripe($0) }
    }

    /// The table of this thread's stripe.
    var current: Table {
        stripes[ThreadStripe.index(of: stripes.count)].table.withLock { $0 }
    }

    /// Replaces the set. Later reads return the new one.
    func replace(with set: KeySet) {
        let tables = Self.tables(of: set)
        replacing.withLock { _ in
            for (stripe, table) in zip(stripes, tables) { stripe.table.withLock { $0 = table } }
        }
    }

    /// Returns a table for each stripe, so that threads don't share a reference count.
    private static func tables(of set: KeySet) -> [Table] {
        let prepared = Dictionary(
            set.keys.map { (ObjectIdentifier($0), Prepared()) },
            uniquingKeysWith: { first, _ in first })
        return (0..<8).map { _ in Table(set: set, prepared: prepared) }
    }
}
