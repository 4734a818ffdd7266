internal import SignetPinning

/// Whom the handshakes of one loop trust. Two that are equal share a loop, its connections and its TLS
/// sessions; two that differ share nothing.
struct TrustStore: Sendable, Hashable {
    /// A PEM file; nil is the one that libcurl was built with.
    let caFile: String?
    /// What a rule brings; with `replace` the file is not looked at.
    let authorities: PinAuthorities?

    /// Takes what a call trusts.
    init(caFile: String?, authorities: PinAuthorities?) {
        self.caFile = authorities?.mode == .replace ? nil : caFile
        self.authorities = authorities
    }

    static func == (left: TrustStore, right: TrustStore) -> Bool {
        // Two Unicode forms of one name are two files.
        left.caFile.map { Array($0.utf8) } == right.caFile.map { Array($0.utf8) }
            && left.authorities?.mode == right.authorities?.mode
            && left.authorities?.digest == right.authorities?.digest
    }

    func hash(into hasher: inout Hasher) {
        hasher.combine(caFile)
        hasher.combine(authorities?.mode)
        hasher.combine(authorities?.digest)
    }
}
