import SignetBase
import SignetPinning

/// The CAs that a call's handshakes trust.
struct TrustStore: Sendable, Hashable {
    /// The path of a PEM file; `nil` is the one that libcurl was built with.
    let caFile: String?
    /// The CAs of a pin rule. With mode `replace`, the file isn't used.
    let authorities: PinAuthorities?
    /// The file's version; `nil` if the file isn't used. A changed file is another store.
    let stamp: FileStamp?

    /// Creates the trust store of a call with the current version of its CA file.
    init(caFile: String?, authorities: PinAuthorities?) {
        let readsFile = authorities?.mode != .replace
        self.caFile = readsFile ? caFile : nil
        self.authorities = authorities
        stamp = readsFile ? FileStamp(caFile: caFile) : nil
    }

    static func == (left: TrustStore, right: TrustStore) -> Bool {
        left.isVersion(of: right) && left.stamp == right.stamp
    }

    /// Whether two stores differ at most in the version of the file.
    func isVersion(of other: TrustStore) -> Bool {
        // Compared as bytes, because names in two Unicode forms are different files.
        caFile.map(ByteName.init) == other.caFile.map(ByteName.init)
            && authorities?.mode == other.authorities?.mode
            && authorities?.digest == other.authorities?.digest
    }

    func hash(into hasher: inout Hasher) {
        hasher.combine(caFile)
        hasher.combine(authorities?.mode)
        hasher.combine(authorities?.digest)
    }
}
