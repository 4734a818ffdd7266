internal import SignetBase

/// What a sealed dump is bound to: an app and a network system, each with its version.
///
/// Ids and versions are compared as UTF-8 bytes, as given; nothing is trimmed or normalised.
public struct VersionBinding: Sendable, Hashable {
    /// An id and a version, each of 1 to 255 bytes and without control characters.
    public struct Identity: Sendable, Hashable {
        /// Who: for an app a reverse domain name, such as `com.example.shop`.
        public let id: String
        /// Which: dotted numbers have an order (1.10.0 is newer than 1.9.0), other spellings none.
        public let version: String

        /// Takes an id and a version as they are; sealing and opening refuse unusable ones.
        public init(_ id: String, _ version: String) {
            self.id = id
            self.version = version
        }

        /// Whether ids and versions are the same bytes.
        public static func == (left: Identity, right: Identity) -> Bool {
            sameBytes(left.id, right.id) && sameBytes(left.version, right.version)
        }

        /// Feeds id and version as bytes.
        public func hash(into hasher: inout Hasher) {
            hasher.combine(ByteName(id))
            hasher.combine(ByteName(version))
        }
    }

    /// The app.
    public let app: Identity
    /// The network system; `signet` and its own version unless the program sets them.
    public let system: Identity

    /// Binds to an app and a network system.
    public init(app: Identity, system: Identity) {
        self.app = app
        self.system = system
    }

    /// Binds to an app's version and, unless given, to this network system's own.
    ///
    /// - Parameters:
    ///   - app: The app's id, such as `com.example.shop`.
    ///   - version: The app's version, such as `1.4.2`.
    ///   - systemVersion: The network system's version (not the operating system's).
    public init(app: String, version: String, systemVersion: String = SignetVersion.current) {
        self.init(
            app: Identity(app, version),
            system: Identity(SignetVersion.systemID, systemVersion))
    }

    /// - Throws: `malformed-input` where a part is empty, too long or holds control characters.
    func requireUsable() throws(VaultError) {
        for (name, text) in [
            ("the app's id", app.id), ("the app's version", app.version),
            ("the system's id", system.id), ("the system's version", system.version),
        ] {
            if let problem = Self.problem(with: text) {
                throw VaultError(.malformedInput, "\(name) \(problem)")
            }
        }
    }

    /// What makes a part of a binding or a key's id unusable, or nil.
    static func problem(with text: String) -> String? {
        if text.isEmpty { return "is empty" }
        if text.utf8.count > 255 { return "is longer than 255 bytes" }
        var last: UInt8 = 0
        for byte in text.utf8 {
            // U+0080 to U+009F are C2 80 to C2 9F.
            if byte < 0x20 || byte == 0x7f || (last == 0xc2 && byte < 0xa0) {
                return "holds a control character"
            }
            last = byte
        }
        return nil
    }
}

/// How a version stands to another.
enum VersionOrder: Equatable {
    case same, newer, older, unordered

    /// How `version` stands to `other`: the same bytes, dotted numbers number by number (a missing
    /// one counts as zero), and anything else without order. Two spellings of one number sequence
    /// (1.0 and 1.0.0) have none either.
    static func of(_ version: String, against other: String) -> VersionOrder {
        if sameBytes(version, other) { return .same }
        guard let left = numbers(version), let right = numbers(other) else { return .unordered }
        for index in 0..<max(left.count, right.count) {
            let one = index < left.count ? left[index] : []
            let two = index < right.count ? right[index] : []
            if one.count != two.count { return one.count > two.count ? .newer : .older }
            if one != two { return two.lexicographicallyPrecedes(one) ? .newer : .older }
        }
        return .unordered
    }

    /// Each number's digits without leading zeros, so that no number is too long to compare.
    private static func numbers(_ version: String) -> [[UInt8]]? {
        var result: [[UInt8]] = []
        for part in version.utf8.split(
            separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        {
            guard !part.isEmpty, part.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
            result.append(Array(part.drop { $0 == 0x30 }))
        }
        return result
    }
}
