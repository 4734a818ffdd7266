import SignetCrypto
import Synchronization

/// The key set of a verifier. It can be replaced while other threads read it.
final class VerifierKeys: Sendable {
    /// A key set, and its keys as prepared for a scheme document.
    final class Table: Sendable {
        let set: KeySet
        private let prepared: [ObjectIdentifier: Prepared]

        fileprivate init(_ set: KeySet) {
            self.set = set
            self.prepared = Dictionary(
                set.keys.map { (ObjectIdentifier($0), Prepared()) },
                uniquingKeysWith: { first, _ in first })
        }

        /// Returns the key as prepared for the scheme. Prepares each key of this set once.
        func schemeKey(_ key: CryptoKey, for scheme: CompiledScheme) throws(SigningError)
            -> SchemeKey
        {
            // A key of a replaced set isn't in the table.
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

    private let table: Mutex<Table>

    init(_ set: KeySet) { table = Mutex(Table(set)) }

    var current: Table { table.withLock { $0 } }

    /// Replaces the set. Later reads return the new one.
    func replace(with set: KeySet) {
        let new = Table(set)
        table.withLock { $0 = new }
    }
}
