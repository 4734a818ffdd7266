import SignetPinning
import SignetTransport
import Synchronization

/// The trusts of one engine, made once for each set of CAs, version of its file, and client
/// certificate.
///
/// If a file has changed, a new trust replaces the old one, so that no new call uses connections
/// and TLS sessions of the old CAs.
final class TrustPool: Sendable {
    private struct Key: Hashable {
        let store: TrustStore
        /// The client certificate's hash; empty without one.
        let certificate: [UInt8]

        func isVersion(of other: Key) -> Bool {
            store.isVersion(of: other.store) && certificate == other.certificate
        }
    }

    private struct Entry {
        let trust: HandshakeTrust
        /// The client certificate with its private key; nil once it was replaced everywhere.
        weak var version: ClientCertificate.Version?
        var lastUse: Int
    }

    private struct State {
        var entries: [Key: Entry] = [:]
        var uses = 0

        mutating func find(_ key: Key) -> HandshakeTrust? {
            uses += 1
            entries[key]?.lastUse = uses
            return entries[key]?.trust
        }

        mutating func add(
            _ trust: HandshakeTrust, for key: Key, showing version: ClientCertificate.Version?
        ) -> HandshakeTrust {
            if let other = find(key) { return other }
            // The private key of a certificate that was replaced isn't kept.
            for (old, entry) in entries where !old.certificate.isEmpty && entry.version == nil {
                entries[old] = nil
            }
            for old in entries.keys where old.isVersion(of: key) { entries[old] = nil }
            if entries.count >= TrustPool.maximumCount,
                let oldest = entries.min(by: { $0.value.lastUse < $1.value.lastUse })
            {
                entries[oldest.key] = nil
            }
            entries[key] = Entry(trust: trust, version: version, lastUse: uses)
            return trust
        }
    }

    /// The number of trusts that are kept. One that was dropped is made again, for new connections.
    private static let maximumCount = 2048

    private let caFile: String?
    private let state = Mutex(State())

    /// - Parameter caFile: The engine's own CA file.
    init(caFile: String?) { self.caFile = caFile }

    /// Returns the trust of a call.
    ///
    /// - Throws: `TransportError`: `trust-store` if a CA file can't be used, `resources`.
    func trust(
        caFile: String?, authorities: PinAuthorities?, certificate: ClientCertificate.Version?
    ) throws(TransportError) -> HandshakeTrust {
        let store = TrustStore(caFile: caFile ?? self.caFile, authorities: authorities)
        let key = Key(store: store, certificate: certificate?.fingerprint ?? [])
        if let known = state.withLock({ $0.find(key) }) { return known }
        let made: HandshakeTrust
        if let certificate {
            let base = try trust(caFile: caFile, authorities: authorities, certificate: nil)
            made = try HandshakeTrust(base, showing: certificate)
        } else if authorities?.mode == .add {
            let base = try trust(caFile: caFile, authorities: nil, certificate: nil)
            made = try HandshakeTrust(store, addedTo: base)
        } else {
            if let file = store.caFile { try LibcurlCheck.check(caFile: file) }
            made = try HandshakeTrust(store, addedTo: nil)
        }
        return state.withLock { $0.add(made, for: key, showing: certificate) }
    }
}
