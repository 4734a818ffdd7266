#if Configuration
import SignetBase
import Configuration
import SignetVault

/// A key's values in the snapshots of a configuration, each only if it differs from the one
/// before.
struct ValueUpdates: AsyncSequence, Sendable {
    typealias Element = Result<LookupResult, any Error>
    typealias Failure = Never

    let snapshots: LiveConfiguration.Snapshots
    let key: AbsoluteConfigKey
    let type: ConfigType
    let sharesSecrets: Bool

    func makeAsyncIterator() -> Iterator {
        Iterator(
            snapshots: snapshots.makeAsyncIterator(), key: key, type: type,
            sharesSecrets: sharesSecrets)
    }

    struct Iterator: AsyncIteratorProtocol {
        var snapshots: LiveConfiguration.Snapshots.Iterator
        let key: AbsoluteConfigKey
        let type: ConfigType
        let sharesSecrets: Bool
        private var last: Result<LookupResult, VaultError>?

        init(
            snapshots: LiveConfiguration.Snapshots.Iterator, key: AbsoluteConfigKey,
            type: ConfigType, sharesSecrets: Bool
        ) {
            self.snapshots = snapshots
            self.key = key
            self.type = type
            self.sharesSecrets = sharesSecrets
        }

        mutating func next(
            isolation actor: isolated (any Actor)? = #isolation
        ) async -> Result<LookupResult, any Error>? {
            while let snapshot = await snapshots.next(isolation: actor) {
                let found = Result { () throws(VaultError) in
                    try snapshot.lookUp(key, as: type, sharesSecrets: sharesSecrets)
                }
                if let last, isSame(found, as: last) { continue }
                last = found
                return found.mapError { $0 }
            }
            return nil
        }
    }
}

/// Whether two results are the same. Compares text as bytes, because a service may distinguish
/// two Unicode forms.
private func isSame(
    _ left: Result<LookupResult, VaultError>, as right: Result<LookupResult, VaultError>
) -> Bool {
    guard left == right else { return false }
    switch ((try? left.get())?.value?.content, (try? right.get())?.value?.content) {
    case (.string(let left), .string(let right)):
        return sameBytes(left, right)
    case (.stringArray(let left), .stringArray(let right)):
        return left.elementsEqual(right) { sameBytes($0, $1) }
    default: return true
    }
}
#endif
