import SignetBase
import SignetJSON

/// The version of Signet's network system. A sealed dump is bound to it and to the app's version.
public enum SignetVersion {
    /// The id of the network system in a dump.
    public static let systemID = "signet"
    /// The version of this network system, in dotted numbers.
    public static let current = "0.1.0"
}

/// The app and the network system that a sealed dump is bound to, each with its version.
///
/// Ids and versions are compared as UTF-8 bytes; they are not trimmed or normalised.
public struct VersionBinding: Sendable, Hashable {
    /// An id and a version, each of 1 to 255 bytes and without control characters.
    public struct Identity: Sendable, Hashable {
        /// The id; for an app a reverse domain name, such as `com.example.shop`.
        public let id: String
        /// The version. Dotted numbers have an order (1.10.0 is newer than 1.9.0); other texts
        /// don't.
        public let version: String

        /// Creates an identity. Sealing and opening refuse an invalid id or version.
        public init(id: String, version: String) {
            self.id = id
            self.version = version
        }

        /// The object with the id and the version, as in a dump's plaintext.
        var json: JSONValue { ["id": .string(id), "version": .string(version)] }

        /// Returns whether ids and versions have the same bytes.
        public static func == (left: Identity, right: Identity) -> Bool {
            sameBytes(left.id, right.id) && sameBytes(left.version, right.version)
        }

        /// Hashes the bytes of the id and the version.
        public func hash(into hasher: inout Hasher) {
            hasher.combine(ByteName(id))
            hasher.combine(ByteName(version))
        }
    }

    /// The app.
    public let app: Identity
    /// The network system; by default `signet` and ``SignetVersion/current``.
    public let system: Identity

    /// Creates a binding to an app and a network system.
    public init(app: Identity, system: Identity) {
        self.app = app
        self.system = system
    }

    /// Creates a binding to an app's version and to Signet's network system.
    ///
    /// - Parameters:
    ///   - app: The app's id, such as `com.example.shop`.
    ///   - version: The app's version, such as `1.4.2`.
    ///   - systemVersion: The network system's version (not the operating system's).
    public init(app: String, version: String, systemVersion: String = SignetVersion.current) {
        self.init(
            app: Identity(id: app, version: version),
            system: Identity(id: SignetVersion.systemID, version: systemVersion))
    }

    /// The ids and versions in the order in which a dump's header and its keys' derivation have
    /// them.
    var parts: [String] { [app.id, app.version, system.id, system.version] }

    /// The names of `parts`, for messages.
    static let partNames = [
        "the app's id", "the app's version", "the system's id", "the system's version",
    ]

    /// - Throws: `malformed-input` if a part is empty, too long or contains control characters.
    func requireUsable() throws(VaultError) {
        for (name, text) in zip(Self.partNames, parts) {
            if let problem = Self.problem(with: text) {
                throw VaultError(.malformedInput, "\(name) \(problem)")
            }
        }
    }

    /// Returns the reason that a part of a binding or a key's id is invalid, or nil.
    static func problem(with text: String) -> String? {
        if text.isEmpty { return "is empty" }
        if text.utf8.count > 255 { return "is longer than 255 bytes" }
        var last: UInt8 = 0
        for byte in text.utf8 {
            // U+0080 to U+009F are C2 80 to C2 9F.
            if byte < 0x20 || byte == 0x7f || (last == 0xc2 && byte < 0xa0) {
                return "contains a control character"
            }
            last = byte
        }
        return nil
    }
}

/// The order of two versions.
enum VersionOrder: Equatable {
    case same, newer, older, unordered

    /// Compares two versions. Versions with the same bytes are the same. Dotted numbers are
    /// compared number by number, with zero for a missing one. All other texts have no order, nor
    /// do two spellings of the same numbers (1.0 and 1.0.0).
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

    /// Returns each number's digits without leading zeros, so that numbers of any length can be
    /// compared.
    private static func numbers(_ version: String) -> [[UInt8]]? {
        var result: [[UInt8]] = []
        for part in version.utf8.split(
            separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        {
            guard !part.isEmpty, part.allSatisfy(\.isDigit) else { return nil }
            result.append(Array(part.drop { $0 == 0x30 }))
        }
        return result
    }
}
