internal import SignetPinning

/// Whom the handshakes of one loop trust. Two that are equal share a loop, its connections and its TLS
/// sessions; two that differ share nothing.
struct TrustStore: Sendable, Hashable {
    /// A PEM file; nil is the one that libcurl was built with.
    let caFile: String?
    /// What a rule brings; with `replace` the file is not looked at.
    let authorities: PinAuthorities?
    /// The file's version; nil where the file is not looked at. A changed file is another store.
    let stamp: FileStamp?

    /// Takes what a call trusts, and looks at the file.
    init(caFile: String?, authorities: PinAuthorities?) {
        let readsFile = authorities?.mode != .replace
        self.caFile = readsFile ? caFile : nil
        self.authorities = authorities
        stamp = readsFile ? FileStamp(caFile: caFile) : nil
    }

    static func == (left: TrustStore, right: TrustStore) -> Bool {
        left.isVersion(of: right) && left.stamp == right.stamp
    }

    /// Whether the two are equal but for what the file held at the time.
    func isVersion(of other: TrustStore) -> Bool {
        // Two Unicode forms of one name are two files.
        caFile.map { Array($0.utf8) } == other.caFile.map { Array($0.utf8) }
            && authorities?.mode == other.authorities?.mode
            && authorities?.digest == other.authorities?.digest
    }

    func hash(into hasher: inout Hasher) {
        hasher.combine(caFile)
        hasher.combine(authorities?.mode)
        hasher.combine(authorities?.digest)
    }
}
