#if Redis
import SignetBase
public import SignetSigning

extension RedisNonceStore {
    /// The address of a Redis, and how to connect to it.
    ///
    /// Passwords are not options; they go to ``RedisNonceStore/init(_:password:)``.
    public struct Options: Sendable, Hashable {
        /// TLS settings. Connections use TLS 1.2 or later.
        public struct TLS: Sendable, Hashable {
            /// A PEM file of the trusted authorities; nil trusts the system's.
            public var authorityFile: String?
            /// A PEM file of the client certificate, for a server that requires one. Needs
            /// `keyFile`.
            public var certificateFile: String?
            /// A PEM file of the client certificate's key, without a passphrase.
            public var keyFile: String?
            /// The name that the server's certificate must have; nil means the host.
            public var name: String?

            /// Creates settings that trust the system's authorities and expect the host's name.
            public init() {}
        }

        let address: RedisAddress
        /// The TLS settings; nil, the default, connects without TLS.
        public var tls: TLS?
        /// A user of Redis's access control list; nil is its default user.
        public var username: String?
        /// The number of the database; the default is 0.
        public var database = 0
        /// The start of each key, before 43 bytes of base64url: at most 200 bytes of visible
        /// ASCII.
        ///
        /// Stores that share nonces need the same prefix.
        public var prefix = "signet:nonce:"
        /// The maximum number of connections, 1 to 64. Each uses a thread while it is busy.
        public var connections = 4
        /// The time limit for connecting, with TLS and password: 1 ms to 60 s.
        public var connectTimeout: Duration = .seconds(1)
        /// The time limit for a response of Redis: 1 ms to 60 s.
        public var commandTimeout: Duration = .milliseconds(500)
        /// The maximum number of calls that wait for a connection, 1 to 1,000,000. The store
        /// refuses further calls.
        public var waitingLimit = 4096
        /// Whether to use a Redis that may drop keys early (a `maxmemory-policy` other than
        /// `noeviction`), or that doesn't show its policy. A dropped nonce can be replayed.
        public var allowsEviction = false

        private init(_ address: RedisAddress) { self.address = address }

        /// Returns options for a Redis on a host, which is a name or an IP address.
        public static func host(_ host: String, port: Int = 6379) -> Options {
            Options(.host(host, port: port))
        }

        /// Returns options for a Redis on a local socket; the path has 1 to 107 bytes.
        public static func socket(_ path: String) -> Options { Options(.socket(path)) }

        /// Creates options from `redis://HOST[:PORT][/DATABASE]`, `rediss://…` (TLS), or
        /// `unix:PATH`.
        ///
        /// - Throws: `SigningError` with `invalid-value` if the URL has another form, or holds
        ///   a user or a password. The message doesn't repeat the URL.
        public init(url: String) throws(SigningError) {
            if url.utf8.starts(with: "unix:".utf8) {
                self.init(.socket(String(url.dropFirst("unix:".count))))
            } else if url.utf8.starts(with: "redis://".utf8) {
                self = try Self.read(url.dropFirst("redis://".count))
            } else if url.utf8.starts(with: "rediss://".utf8) {
                self = try Self.read(url.dropFirst("rediss://".count))
                tls = TLS()
            } else {
                throw Self.invalid("expected redis://, rediss:// or unix:")
            }
            try check()
        }

        private static func read(_ text: Substring) throws(SigningError) -> Options {
            guard !text.utf8.contains(UInt8(ascii: "@")) else {
                throw invalid("found a user or a password, expected a URL without them")
            }
            let parts = text.split(
                separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
            var host = parts[0]
            var port: Substring?
            if host.startsWithBytes(of: "[") {
                guard let end = host.firstIndex(of: "]") else {
                    throw invalid("expected \"]\" after an address in brackets")
                }
                let rest = host[host.index(after: end)...]
                guard rest.isEmpty || rest.startsWithBytes(of: ":") else {
                    throw invalid("expected \":\" and a port after \"]\"")
                }
                port = rest.isEmpty ? nil : rest.dropFirst()
                host = host[host.index(after: host.startIndex)..<end]
            } else if let colon = host.firstIndex(of: ":") {
                port = host[host.index(after: colon)...]
                host = host[..<colon]
            }
            var options = Options(
                .host(String(host), port: try number(port, of: "the port") ?? 6379))
            let database = parts.count > 1 && !parts[1].isEmpty ? parts[1] : nil
            options.database = try number(database, of: "the database") ?? 0
            return options
        }

        private static func number(
            _ text: Substring?, of part: String
        ) throws(SigningError) -> Int? {
            guard let text else { return nil }
            guard text.utf8.allSatisfy(\.isDigit), let value = Int(text)
            else { throw invalid("\(part) is not a number") }
            return value
        }

        /// Checks that every option is in its range.
        ///
        /// - Throws: `SigningError` with `invalid-value`.
        func check() throws(SigningError) {
            func require(_ isValid: Bool, or problem: String) throws(SigningError) {
                guard isValid else { throw Self.invalid(problem) }
            }
            switch address {
            case .host(let host, let port):
                try require(!host.isEmpty, or: "the host is empty")
                try require(
                    host.utf8.allSatisfy(Self.hostBytes.contains),
                    or: "the host is not a name or an address")
                try require((1...65_535).contains(port), or: "the port is not in 1...65535")
            case .socket(let path):
                // The kernel's limit for the path of a socket.
                try require(
                    (1...107).contains(path.utf8.count),
                    or: "the socket's path does not have 1 to 107 bytes")
                try require(
                    tls == nil || tls?.name != nil, or: "TLS on a socket requires tls.name")
            }
            let texts = [
                address.host, address.socketPath, username, tls?.name, tls?.authorityFile,
                tls?.certificateFile, tls?.keyFile,
            ]
            try require(
                texts.allSatisfy { $0?.utf8.allSatisfy { $0 > 0x1F && $0 != 0x7F } ?? true },
                or: "a value holds a control character")
            try require(database >= 0, or: "the database is negative")
            try require((1...64).contains(connections), or: "connections is not in 1...64")
            try require(
                (1...1_000_000).contains(waitingLimit), or: "waitingLimit is not in 1...1000000"
            )
            try require(
                prefix.utf8.count <= 200 && prefix.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F },
                or: "the prefix is not visible ASCII of at most 200 bytes")
            for timeout in [connectTimeout, commandTimeout] {
                try require(
                    timeout >= .milliseconds(1) && timeout <= .seconds(60),
                    or: "a timeout is not in 1 ms...60 s")
            }
        }

        /// The colon and the percent sign are for IPv6 and its zones.
        private static let hostBytes = ASCIISet(lettersDigitsAnd: ".-_:%")

        private static func invalid(_ problem: String) -> SigningError {
            SigningError(.invalidValue, "Redis options: \(problem)")
        }
    }
}

/// The address at which Redis listens.
enum RedisAddress: Sendable, Hashable {
    case host(String, port: Int)
    case socket(String)

    var host: String? {
        if case .host(let host, _) = self { host } else { nil }
    }

    var port: Int {
        if case .host(_, let port) = self { port } else { 0 }
    }

    var socketPath: String? {
        if case .socket(let path) = self { path } else { nil }
    }
}
#endif
